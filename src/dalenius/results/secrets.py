"""What an audit of secrets answers: how much can be told about one, and the law of the data that attains it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dalenius.evidence import Certificate
from dalenius.outcome import Refusal, Scope, Termination
from dalenius.results.proved import Proved
from dalenius.search import Progress

__all__ = ["SecretProof", "SecretResult", "SecretWitness"]


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
    """

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
        low, high = self.ends
        about = "" if self.proved_about == "model" else ", about the matrix in the certificate only"
        return f"{low} <= information about a secret <= {high} {self.units} ({self.termination.value}{about})"
