"""Laws in a box."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import Numbers, as_nonnegative, exact_sum
from dalenius.information.measures import PriorBox, PriorClass
from dalenius.model.adversaries.base import LawClass, exactly

__all__ = ["BoxPriors"]


@dataclass(frozen=True)
class BoxPriors(LawClass):
    """Laws between two ends: low(a) <= p(a) <= high(a) for every letter a.

    Parameters
    ----------
    low, high : sequences of numbers, one a letter
        Nonnegative; `low` sums to at most 1, `high` to at least 1.

    Raises
    ------
    InputError
        If the lists differ in length, an end is negative or no number, or no law lies between them.

    >>> BoxPriors([0.2, 0.3], [0.7, 0.8]).letters
    2
    """

    kind: ClassVar[str] = "box_priors"
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    def __init__(self, low: Numbers, high: Numbers) -> None:
        ends = as_nonnegative(low, "adversary: low"), as_nonnegative(high, "adversary: high")
        if not ends[0] or len(ends[0]) != len(ends[1]):
            raise InputError(
                f"adversary: low and high must have a number for each letter, got {len(ends[0])} and {len(ends[1])}"
            )
        for a, (least, most) in enumerate(zip(*ends, strict=True)):
            if least > most:
                raise InputError(f"adversary: low[{a}] is {least}, above high[{a}], {most}")
        if exact_sum(ends[0], "adversary: low") > 1 or exact_sum(ends[1], "adversary: high") < 1:
            raise InputError("adversary: no law lies in the box; low must sum to at most 1, and high to at least 1")
        object.__setattr__(self, "low", ends[0])
        object.__setattr__(self, "high", ends[1])

    @property
    def letters(self) -> int:
        return len(self.low)

    @cached_property
    def priors(self) -> PriorClass:
        return PriorBox(exactly(self.low), exactly(self.high))

    _words = "a box"
