"""What an audit found: two numbers, and the certificate lines that prove them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dalenius.search.clock import Clock

__all__ = ["Audit", "Finding", "Part"]

Line = list[Any]


@dataclass(frozen=True)
class Part:
    """How the upper bound was proved for `times` records, of which `record` is the first."""

    record: int
    times: int
    method: str
    leaves: int


@dataclass(frozen=True)
class Finding:
    """`leakage` <= L <= `upper` in nats, before outward rounding, with the lines that prove it.

    Attributes
    ----------
    record : int or None
        Who leaks the most (None if no record can leak anything).
    masses : (letters, channel inputs), optional
        The witness on (letter of the record, channel input); None where there is none.
    prior : int or None
        Its index among the listed priors, where priors are listed.
    witness : the witness line
    sections : the lines that prove `upper`
    """

    leakage: float
    upper: float
    record: int | None
    masses: NDArray[np.float64] | None
    prior: int | None
    witness: Line
    sections: list[Line]
    parts: list[Part]


class Audit(Protocol):
    """A running audit. Its bounds are valid (up to rounding, which the checker settles) whenever `run` returns."""

    gap: float
    clock: Clock
    out_of_time: bool
    out_of_room: bool

    @property
    def lower(self) -> float:
        """In nats."""

    @property
    def upper(self) -> float:
        """In nats, for every adversary of the problem."""

    def run(self) -> None:
        """Search and bound until the gap is reached or the clock expires."""

    def finding(self, margin: float, *, witnessed: bool = True) -> Finding:
        """What was found; a witness only if its leakage is above the rounding `margin`, and if it is wanted."""

    def retreat(self) -> None:
        """Forget everything but what needs no search."""
