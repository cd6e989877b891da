"""Answers: how much leaks about a record or secret, and which priors attain it; mechanisms, and how far they are from the best."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dalenius.alternation import Alternation
from dalenius.evidence import Certificate
from dalenius.intervals import text_below
from dalenius.model.mechanisms.designed import DesignedMechanism
from dalenius.notebook import in_brief
from dalenius.outcome import ConstraintPrice, Refusal, Scope, SolverUse, Status, Termination, TermValue
from dalenius.results.proved import Proved, relative_gap
from dalenius.search import Progress
from dalenius.units import Quantity, lower_in, unit_size, upper_in


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
        return self.masses.sum(axis=1)


@dataclass(frozen=True)
class RecordProof:
    """Proof of the upper bound for one kind of record: `times` records, of which `record` is the first.

    `method` is ``letters`` (the entropy of the record), ``capacity`` (of the whole channel), ``informed`` (what is revealed to
    whoever is told all other records), ``dual``, ``vertices``, ``posterior``, ``dual tree``, ``ends`` (of a wide count: its two
    farthest values), ``rounded`` (an audit of it on a grid), ``uniform`` (the one prior there is) or ``earlier`` (the proof of the
    result given as `known`); `leaves` counts the leaves. Against `ProductPriors` it is ``selections``, and `leaves` counts output
    laws; against a `PriorSet` ``evaluated``, which takes no leaves.
    """

    record: int
    times: int
    method: str
    leaves: int


@final
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
        The largest number of values of a record: nothing reveals more than its logarithm, `most`.
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
    """Proof of the upper bound for one secret.

    `method` is ``selections`` (of one dataset in each cell: a bound for all laws), ``laws`` (output laws, and the class's largest mean
    of the divergences from them), ``evaluated`` (listed priors) or ``nothing`` (one value, or one row: nothing can be revealed).
    `leaves` counts output laws. `exact` says whether the bound and the search from below can meet: not where datasets of one cell have
    different channel inputs, and the laws are neither all nor listed, nor under all products, but where the letters of all records but
    one are given. What is revealed is no concave function of the law then, and the interval may stay open.
    """

    secret: int
    method: str
    leaves: int
    exact: bool


@final
@dataclass(frozen=True)
class SecretResult(Proved, of="information about a secret"):
    """A certified interval for the largest information about a secret: the answer to a `SecretLeakage`.

    Attributes
    ----------
    lower, upper : float
        ``lower <= L <= upper`` in `units`; proved by `certificate`.
    secret : int or None
        The number of the secret that the witness is about (None if nothing can be revealed about any).
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


@dataclass(frozen=True)
class LeastFavourablePrior:
    """A prior that the proof of a design's lower end needs: against it, and the others, no mechanism does better.

    Attributes
    ----------
    against : str
        Whose prior it is: of the ``"adversary"``, of a further one, ``"constraints[2]"``, or of a term, ``"objective[1]"``.
    record : int
    masses : (letters, inputs)
        P(X_record = letter, input of the mechanism); of an adversary who knows the others' total, on the inputs that leaves.
    weight : float
        Its share in the proof, of those of the same adversary.
    """

    __repr__ = in_brief

    against: str
    record: int
    masses: NDArray[np.float64] = field(repr=False)
    weight: float

    def __str__(self) -> str:
        masses = np.array2string(self.masses, precision=3, suppress_small=True, threshold=40, max_line_width=1000)
        return f"{self.against}, record {self.record}, weight {self.weight:.3f}, masses {' '.join(masses.split())}"


NOT_FOUND = "no mechanism was found that keeps everything, nor a proof that there is none"


@final
@dataclass(frozen=True)
class DesignResult(Proved):
    """A mechanism, and a certified interval for the best there is.

    Attributes
    ----------
    lower, upper : float
        ``lower <= V <= upper`` in `units`, V the least leakage (`MinLeakage`), the least expected distortion (`MinDistortion`), or the
        least objective of several terms, of the mechanisms of the class that meet the budget; proved by `certificate`. Both are
        infinite where no mechanism meets it, which is proved; `upper` alone where none was found, nor a proof that there is none.
    mechanism : DesignedMechanism or None
        It meets the budget exactly, and attains `upper`. None where there is none, or none was found.
    audit : Result or None
        The audit of this very mechanism, with a certificate of its own. None for a design under a privacy notion.
    distortion : Fraction or None
        Its expected distortion, exactly.
    exp_epsilon : Fraction or None
        For a design under a privacy notion: the least e^epsilon for which the mechanism is private, exactly.
    termination : Termination
    scope : Scope
        GLOBAL: the interval is about all mechanisms of the class, and all adversaries of the problem.
    certificate : Certificate
        Of the design, to be checked with `dalenius.verify` or ``python -m dalenius_check``.
    seconds : float
    rounds : int
        Master programs solved.
    units : str
        Of the interval and the trace: ``"nats"``, ``"bits"``, ``"distortion"`` (as the costs are), ``"objective"`` (several terms), or
        ``"usefulness"`` (a measure without unit). The audit has its own.
    prices : tuple of ConstraintPrice
        What the budget costs, if it binds, and each constraint: price, slope and units, and what room the mechanism leaves; where
        nothing is feasible (proved) those in conflict.
    priors : tuple of LeastFavourablePrior
        The adversary's priors in the proof of `lower`, with their weights.
    objective : tuple of TermValue
        Of a design with an objective of several terms: what each comes to for the mechanism, and what it weighs in the proof.
    refusals : tuple of Refusal
        As of a `Result`; those of the mechanism's audit are its own.
    alternating : tuple of Alternation
        With ``method="alternating"``: the scheme's sweeps, its cycle if it ran into one, and what each block could gain in the end.
    solvers : tuple of SolverUse
        Which solver solved how many master programs, and which end of the interval rests on its answers.
    trace : tuple of Progress
        How the bounds moved with time, before they were proved; the upper one as the search saw it.
    largest : bool
        Of a `MaxInformation`: V is the largest information or usefulness, and the mechanism attains `lower`.
    values : int or None
        As of a `Result`; of a `MaxInformation` those of the useful variable.
    """

    __repr__ = in_brief

    lower: float
    upper: float
    mechanism: DesignedMechanism | None
    audit: Result | None
    distortion: Fraction | None
    termination: Termination
    scope: Scope
    certificate: Certificate
    seconds: float
    rounds: int = 0
    units: str = "nats"
    exp_epsilon: Fraction | None = None
    prices: tuple[ConstraintPrice, ...] = ()
    priors: tuple[LeastFavourablePrior, ...] = field(default=(), repr=False)
    objective: tuple[TermValue, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    alternating: tuple[Alternation, ...] = ()
    solvers: tuple[SolverUse, ...] = ()
    explanation: tuple[str, ...] = field(default=(), repr=False)
    trace: tuple[Progress, ...] = field(default=(), repr=False)
    largest: bool = False
    values: int | None = None

    @property
    def constraints(self) -> tuple[ConstraintPrice, ...]:
        """`prices` of a design with constraints, or of those in conflict; none of a budget alone, which the answer is about."""
        return self.prices if any(price.number is not None or not price.slope for price in self.prices) else ()

    @property
    def feasible(self) -> bool:
        """True if some mechanism is known to meet the budget; `status` says whether it is proved that none does."""
        return self.mechanism is not None

    @property
    def status(self) -> Status:
        """As of a `Result`; open where neither a mechanism was found nor a proof that there is none."""
        return Status.OPEN if math.isinf(self.upper) and not math.isinf(self.lower) else super().status

    @property
    def gap(self) -> float:
        """(upper - lower) / upper, rounded upward; 0 where nothing meets the budget (proved), 1 where there is no upper end."""
        return 1.0 if self.status is Status.OPEN and math.isinf(self.upper) else relative_gap(*self.exact_ends)

    @property
    def leakage(self) -> tuple[float, float] | None:
        """Leakage of the mechanism to the problem's adversary: a proved interval in the audit's units, exactly 0 if it is constant.

        None without a mechanism, or without an adversary.
        """
        if self.audit is None or self.mechanism is None:
            return None
        constant = all(row == self.mechanism.rows[0] for row in self.mechanism.rows)
        return (0.0, 0.0) if constant else (self.audit.lower, self.audit.upper)

    def _in(self, units: str) -> dict[str, Any]:
        prices = tuple(_price_in(price, units) for price in self.prices)
        return {**super()._in(units), "audit": self.audit and self.audit.to(units), "prices": prices}

    def with_leakages_in(self, units: str) -> DesignResult:
        """The same result with every leakage in it in ``"nats"`` or ``"bits"``; a distortion stays as it is.

        Raises
        ------
        InputError
            If the unit is another one, or the result is not in nats any more.
        """
        if self.quantity is Quantity.LEAKAGE:
            return self.to(units)
        unit_size(units)
        objective = tuple(_in(term, units) for term in self.objective)
        return dataclasses.replace(self, audit=self.audit and self.audit.to(units), objective=objective)

    def explain(self) -> str:
        """Explain the symmetries of the instance that were used, and why they lose nothing."""
        return "\n".join(self.explanation)

    def __str__(self) -> str:
        if self.status is Status.INFEASIBLE:
            met = " and ".join(price.name for price in self.constraints) or "the budget"
            return f"no mechanism meets {met} (proved)"
        if not self.feasible:
            return f"{NOT_FOUND}; the {self.optimum} is at least {text_below(self.exact_ends[0])} ({self.termination.value})"
        return f"{self.told(self.optimum)} ({self.termination.value})"

    @property
    def bounded(self) -> str:
        return self.quantity.largest if self.largest else super().bounded

    @property
    def optimum(self) -> str:
        """Meaning of V, in words."""
        return self.quantity.largest if self.largest else f"least {self.quantity.value}"


def _price_in(price: ConstraintPrice, units: str) -> ConstraintPrice:
    """The same of an optimum that is counted in these units instead of nats."""
    if not price.units.startswith("nats "):
        return price
    size, counted = unit_size(units), price.units.replace("nats", units, 1)
    rows = tuple((row, p / size) for row, p in price.rows)
    return dataclasses.replace(price, price=price.price / size, slope=price.slope / size, rows=rows, units=counted)


def _in(term: TermValue, units: str) -> TermValue:
    """The same with a leakage in these units, rounded outward from nats."""
    if term.units != "nats":
        return term
    lower, upper = lower_in(float(term.lower), units), upper_in(float(term.upper), units)
    return dataclasses.replace(term, lower=lower, upper=upper, units=units)
