"""Outputs that some inputs must never have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dalenius.errors import InputError
from dalenius.exact import Integer, as_list, brief
from dalenius.model.constraints.base import Entry, MechanismSpace, RowConstraint, Rows, as_entry

__all__ = ["ZeroEntries"]

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class ZeroEntries(RowConstraint):
    """Q(x,y) = 0 for the listed inputs x and outputs y.

    Parameters
    ----------
    entries : list of (input, output)
        At least one, no two alike.

    Raises
    ------
    InputError
        If there is none, one comes twice, or is no pair of indices; a design raises it where it has no such input or output.

    >>> ZeroEntries([(0, 2), (2, 0)]).entries
    ((0, 2), (2, 0))
    """

    kind: ClassVar[str] = "zero"
    entries: tuple[Entry, ...]

    def __init__(self, entries: Sequence[tuple[Integer, Integer]] | Sequence[Sequence[Any]]) -> None:
        what = f"constraints: {self.kind}: entries"
        found = tuple(as_entry(entry, f"{what}[{j}]") for j, entry in enumerate(as_list(entries, what)))
        if not found:
            raise InputError(f"{what}: expected at least one [input, output], got none")
        if len(set(found)) < len(found):
            again = next(entry for entry in found if found.count(entry) > 1)
            raise InputError(f"{what}: {brief(list(again))} comes twice; list it once")
        object.__setattr__(self, "entries", found)

    def check_parts(self, space: MechanismSpace) -> None:
        for x, y in self.entries:
            space.check_entry(x, y, f"constraints: {self.kind}: entries")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        return len(self.entries), len(self.entries)

    def rows(self, space: MechanismSpace) -> Rows:
        return Rows((ZERO,) * len(self.entries), True, tuple(((x, y, ONE),) for x, y in self.entries))
