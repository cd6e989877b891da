"""Laws above a floor."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import Number
from dalenius.information.measures import PriorClass, PriorFloor
from dalenius.model.adversaries.base import LawClass, exact, nonnegative
from dalenius.model.records import Records

__all__ = ["FloorPriors"]


@dataclass(frozen=True)
class FloorPriors(LawClass):
    """Laws of which no letter is rarer than `floor`: p(a) >= floor for every letter a.

    Parameters
    ----------
    floor : number
        At least 0, and at most 1 over the number of letters.

    Raises
    ------
    InputError
        If `floor` is negative or no number; `check` raises it where it is too large for the records.

    >>> FloorPriors(0.1)
    FloorPriors(floor=Fraction(1, 10))
    """

    kind: ClassVar[str] = "floor_priors"
    floor: Fraction

    def __init__(self, floor: Number) -> None:
        object.__setattr__(self, "floor", nonnegative(floor, "floor"))

    @property
    def letters(self) -> None:
        return None

    @property
    def priors(self) -> PriorClass:
        return PriorFloor(exact(self.floor))

    def fits(self, letters: int) -> bool:
        return letters * self.floor <= 1

    def check(self, records: Records) -> None:
        most = max(size for size, _ in records.runs)
        if not self.fits(most):
            raise InputError(
                f"adversary: {most} letters cannot all have a probability of at least {self.floor}; lower floor"
            )

    _words = "the laws above a floor"
