"""A linear inequality or equation of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction
from dalenius.model.constraints.base import MechanismSpace, RowConstraint, Rows, Terms, WrittenTerms, as_terms

__all__ = ["Linear"]


@dataclass(frozen=True)
class Linear(RowConstraint):
    """sum of c Q(x,y) over the terms [x, y, c] is at most, or equals, a number.

    Parameters
    ----------
    terms : list of (input, output, factor)
        At least one; factors are exact and of any sign. Where an entry comes again its factors are added.
    at_most, equals : number
        One of them: the right-hand side.

    Raises
    ------
    InputError
        If there is no term, a number cannot be read, or not exactly one of `at_most` and `equals` is given; a design raises it
        where it has no such input or output.

    Of three values the first is to be told from the second at least as often as the third is from it:

    >>> Linear([(1, 0, 1), (1, 2, -1)], at_most=0).terms[1]
    (1, 2, Fraction(-1, 1))
    """

    kind: ClassVar[str] = "linear"
    terms: Terms
    at_most: Number | None = None
    equals: Number | None = None

    def __init__(self, terms: WrittenTerms, at_most: Number | None = None, equals: Number | None = None) -> None:
        what = f"constraints: {self.kind}"
        object.__setattr__(self, "terms", as_terms(terms, f"{what}: terms"))
        if not self.terms:
            raise InputError(f"{what}: expected at least one term [input, output, factor], got none")
        if (at_most is None) == (equals is None):
            raise InputError(
                f"{what}: expected one of at_most and equals, got {'neither' if at_most is None else 'both'}"
            )
        for name, value in (("at_most", at_most), ("equals", equals)):
            object.__setattr__(self, name, None if value is None else as_fraction(value, f"{what}: {name}"))

    def check_parts(self, space: MechanismSpace) -> None:
        for x, y, _ in self.terms:
            space.check_entry(x, y, f"constraints: {self.kind}: terms")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        return 1, len(self.terms)

    def rows(self, space: MechanismSpace) -> Rows:
        end = self.equals if self.at_most is None else self.at_most
        assert isinstance(end, Fraction)
        return Rows((end,), self.at_most is None, (self.terms,))
