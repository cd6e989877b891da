"""Outputs that are never far from the true value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction
from dalenius.model.constraints.base import Entry, MechanismSpace, RowConstraint, Rows

__all__ = ["Band"]

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Band(RowConstraint):
    """Q(x,y) = 0 wherever the number o_y that the output stands for is farther than `width` from the true value v(x).

    Parameters
    ----------
    width : number
        At least 0, exact, in units of the query's values.

    Raises
    ------
    InputError
        If the width is negative or no number; a design raises it where its outputs stand for no numbers.

    >>> Band(2).width
    Fraction(2, 1)
    """

    kind: ClassVar[str] = "band"
    width: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", as_fraction(self.width, f"constraints: {self.kind}: width"))
        if self._width < 0:
            raise InputError(f"constraints: {self.kind}: width must be at least 0, got {brief(self.width)}")

    @property
    def _width(self) -> Fraction:
        assert isinstance(self.width, Fraction)
        return self.width

    def _entries(self, space: MechanismSpace) -> list[Entry]:
        numbers = space.need_numbers(f"constraints: {self.kind}")
        return [(x, y) for x in space.possible for y, o in enumerate(numbers) if abs(space.values[x] - o) > self._width]

    def check_parts(self, space: MechanismSpace) -> None:
        space.need_numbers(f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        entries = len(self._entries(space))
        return entries, entries

    def rows(self, space: MechanismSpace) -> Rows:
        entries = self._entries(space)
        return Rows((ZERO,) * len(entries), True, tuple(((x, y, ONE),) for x, y in entries))
