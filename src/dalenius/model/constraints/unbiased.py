"""Outputs that are right on average."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction
from dalenius.model.constraints.base import MechanismSpace, RowConstraint, Rows

__all__ = ["Unbiased"]


@dataclass(frozen=True)
class Unbiased(RowConstraint):
    """E[Y | x] = sum_y o_y Q(x,y) is the true value v(x), or at most `tolerance` away from it, for every input that some dataset has.

    Where no output stands for less than the least value, or for more than the largest one, these two values must be told as they are:
    give the distortion `outputs` beyond them.

    Parameters
    ----------
    tolerance : number
        At least 0, exact, in units of the query's values; by default 0.

    Raises
    ------
    InputError
        If the tolerance is negative or no number; a design raises it where its outputs stand for no numbers.

    >>> Unbiased(tolerance=0.1).tolerance
    Fraction(1, 10)
    """

    kind: ClassVar[str] = "unbiased"
    tolerance: Number = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", as_fraction(self.tolerance, f"constraints: {self.kind}: tolerance"))
        if self._tolerance < 0:
            raise InputError(f"constraints: {self.kind}: tolerance must be at least 0, got {brief(self.tolerance)}")

    @property
    def _tolerance(self) -> Fraction:
        assert isinstance(self.tolerance, Fraction)
        return self.tolerance

    def check_parts(self, space: MechanismSpace) -> None:
        space.need_numbers(f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        rows = len(space.possible) * (2 if self._tolerance else 1)
        return rows, rows * space.outputs

    def rows(self, space: MechanismSpace) -> Rows:
        numbers, far = space.need_numbers(f"constraints: {self.kind}"), self._tolerance
        ends, terms = list[Fraction](), []
        for x in space.possible:
            v = Fraction(space.values[x])
            ends += [v + far, far - v] if far else [v]
            terms += [tuple((x, y, sign * o) for y, o in enumerate(numbers)) for sign in ((1, -1) if far else (1,))]
        return Rows(tuple(ends), not far, tuple(terms))
