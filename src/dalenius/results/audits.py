"""What audits answer: how much can be told about a record or a secret, and the prior or law of the data that attains it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dalenius.alternation import Alternation
from dalenius.evidence import Certificate
from dalenius.notebook import in_brief
from dalenius.outcome import Refusal, Scope, SolverUse, Termination
from dalenius.results.proved import Proved
from dalenius.search import Progress


@dataclass(frozen=True)
class Witness:
    """An adversary's prior that attains the lower bound.

    Attributes
    ----------
    record : int
    masses : (letters, channel inputs)
        P(X_record = letter, input); inputs are the query's values (or datasets). Against `EntropyAtLeast` the mass of a pair is spread
        evenly over its datasets. Against `ProductPriors` the other records are known, so each letter a has one input k_a, with all its
        mass pi_a. Against a `PriorSet` these are the sums of prior number `prior` over the datasets of each pair.
    inputs : tuple of int
        The query's values (or the dataset indices).
    prior : int or None
        Which of the listed priors it is, counted from 0; None against another adversary than a `PriorSet`.
    """

    __repr__ = in_brief

    record: int
    masses: NDArray[np.float64] = field(repr=False)
    inputs: tuple[int, ...] = field(repr=False)
    prior: int | None = None

    @property
    def letter_law(self) -> NDArray[np.float64]:
        """The prior of the record itself."""
        return np.asarray(self.masses.sum(axis=1))


@dataclass(frozen=True)
class RecordProof:
    """How the upper bound was proved for one kind of record: `times` records, of which `record` is the first.

    `method` is ``letters`` (the entropy of the record), ``capacity`` (of the whole channel), ``informed`` (what is told to
    whoever is told all other records), ``dual``, ``vertices``, ``posterior``, ``dual tree``, ``ends`` (of a wide count: its two
    farthest values), ``uniform`` (the one prior there is) or ``earlier`` (the proof of the result given as `known`); `leaves` counts
    the leaves. Against `ProductPriors` it is ``selections``, and `leaves` counts output laws; against a `PriorSet` ``evaluated``,
    which takes no leaves.
    """

    record: int
    times: int
    method: str
    leaves: int


@dataclass(frozen=True)
class Result(Proved):
    """A certified interval for the worst-case leakage.

    Attributes
    ----------
    lower, upper : float
        ``lower <= L <= upper`` in `units`; proved by `certificate`, which the independent checker accepted before this object
        was returned.
    record : int or None
        The record of the witness (None if no record can leak anything).
    witness : Witness or None
        A prior whose leakage is at least `lower`; None where `lower` is 0 for want of anything better.
    termination : Termination
    scope : Scope
        GLOBAL: the interval holds for every adversary of the problem.
    certificate : Certificate
        Evidence, to be checked with `dalenius.verify` or ``python -m dalenius_check``.
    seconds : float
    records : tuple of RecordProof
    refusals : tuple of Refusal
        Proofs that the checker refused on the way: by rounding, as a rule; any other comes with a `ProofRefusedWarning`.
    alternating : tuple of Alternation
        With ``method="alternating"``: for each kind of record its sweeps, and what no single block could gain where it rested.
    solvers : tuple of SolverUse
        With ``method="alternating"``: which solver solved how many programs of which block, and which end rests on its answers.
    trace : tuple of Progress
        How the bounds, in `units` and before the final rounding, moved with time; `dalenius.report.trace_picture` draws it.
    values : int or None
        The largest number of values of a record: nothing tells more than its logarithm, `most`.
    """

    __repr__ = in_brief

    lower: float
    upper: float
    record: int | None
    witness: Witness | None
    termination: Termination
    scope: Scope
    certificate: Certificate
    seconds: float
    records: tuple[RecordProof, ...] = ()
    units: str = "nats"
    refusals: tuple[Refusal, ...] = ()
    alternating: tuple[Alternation, ...] = ()
    solvers: tuple[SolverUse, ...] = ()
    trace: tuple[Progress, ...] = field(default=(), repr=False)
    values: int | None = None

    def to(self, units: str) -> Result:
        """The same result in ``"nats"`` or ``"bits"``, rounded outward.

        Raises
        ------
        InputError
            If the unit is another one, or the result is not in nats any more.
        """
        if units == self.units:
            return self
        self.need_leakage_in_nats(units)
        return dataclasses.replace(
            self, alternating=tuple(one.to(units) for one in self.alternating), **self.bounds_in(units)
        )

    def __str__(self) -> str:
        about = "" if self.proved_about == "model" else ", about the matrix in the certificate only"
        return f"{self.told('leakage')} ({self.termination.value}{about})"


@dataclass(frozen=True)
class SecretWitness:
    """A law of the data under which the lower bound is told about a secret.

    Attributes
    ----------
    secret : int
        Its number.
    law : (datasets,)
        The probability of each dataset, in lexicographic order.
    prior : int or None
        Which of the listed priors it is, counted from 0; None against another adversary than a `PriorSet`.
    """

    __repr__ = in_brief

    secret: int
    law: NDArray[np.float64] = field(repr=False)
    prior: int | None = None


@dataclass(frozen=True)
class SecretProof:
    """How the upper bound was proved for one secret.

    `method` is ``selections`` (of one dataset in each cell: a bound for all laws), ``laws`` (output laws, and the class's largest mean
    of the divergences from them), ``evaluated`` (listed priors) or ``nothing`` (one value, or one row: nothing can be told).
    `leaves` counts output laws. `exact` says whether the bound and the search from below can meet: not where datasets of one cell have
    different channel inputs, and the laws are neither all nor listed, nor under all products, but where the letters of all records but
    one are given. What is told is no concave function of the law then, and the interval may stay open.
    """

    secret: int
    method: str
    leaves: int
    exact: bool


@dataclass(frozen=True)
class SecretResult(Proved):
    """A certified interval for the largest information about a secret: the answer to a `SecretLeakage`.

    Attributes
    ----------
    lower, upper : float
        ``lower <= L <= upper`` in `units`; proved by `certificate`.
    secret : int or None
        The number of the secret that the witness is about (None if nothing can be told about any).
    witness : SecretWitness or None
    termination : Termination
    scope : Scope
        GLOBAL: the interval holds for every law of the adversary's.
    certificate : Certificate
        Evidence, to be checked with `dalenius.verify` or ``python -m dalenius_check``.
    seconds : float
    secrets : tuple of SecretProof
    refusals : tuple of Refusal
    trace : tuple of Progress
    values : int or None
        The largest number of values of a secret, as of a `Result`.
    """

    __repr__ = in_brief

    lower: float
    upper: float
    secret: int | None
    witness: SecretWitness | None
    termination: Termination
    scope: Scope
    certificate: Certificate
    seconds: float
    secrets: tuple[SecretProof, ...] = ()
    units: str = "nats"
    refusals: tuple[Refusal, ...] = ()
    trace: tuple[Progress, ...] = field(default=(), repr=False)
    values: int | None = None

    def to(self, units: str) -> SecretResult:
        """The same result in ``"nats"`` or ``"bits"``, rounded outward.

        Raises
        ------
        InputError
            If the unit is another one, or the result is not in nats any more.
        """
        if units == self.units:
            return self
        self.need_leakage_in_nats(units)
        return dataclasses.replace(self, **self.bounds_in(units))

    def __str__(self) -> str:
        about = "" if self.proved_about == "model" else ", about the matrix in the certificate only"
        return f"{self.told('information about a secret')} ({self.termination.value}{about})"
