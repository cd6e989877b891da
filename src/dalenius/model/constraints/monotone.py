"""Larger values are reported as larger ones."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from dalenius.model.constraints.base import MechanismSpace, RowConstraint, Rows

__all__ = ["Monotone"]


@dataclass(frozen=True)
class Monotone(RowConstraint):
    """Outputs grow with the input, stochastically: P(Y <= y | x') <= P(Y <= y | x) for all y and neighbouring inputs x < x'.

    Inputs and outputs are compared by index; inputs that no dataset has are passed over.

    >>> Monotone().to_table()
    {}
    """

    kind: ClassVar[str] = "monotone"

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        pairs, last = max(len(space.possible) - 1, 0), space.outputs - 1
        return pairs * last, pairs * last * (last + 1)

    def rows(self, space: MechanismSpace) -> Rows:
        terms = [
            (*((after, z, Fraction(1)) for z in range(y + 1)), *((before, z, Fraction(-1)) for z in range(y + 1)))
            for before, after in pairwise(space.possible)
            for y in range(space.outputs - 1)
        ]
        return Rows((Fraction(0),) * len(terms), False, tuple(terms))
