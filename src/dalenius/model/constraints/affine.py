"""Constraints of one's own: linear inequalities and equations, and second-order cones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction, as_list
from dalenius.model.constraints.base import (
    Constraint,
    Entry,
    MechanismSpace,
    RowConstraint,
    Rows,
    Terms,
    WrittenTerms,
    as_terms,
)
from dalenius.model.shelf import check_keys


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


@dataclass(frozen=True)
class Affine:
    """F Q + f: the sum of c Q(x,y) over terms [x, y, c], and a constant.

    >>> Affine([(0, 1, 2)], constant=-1)
    Affine(terms=((0, 1, Fraction(2, 1)),), constant=Fraction(-1, 1))
    """

    terms: Terms
    constant: Number = 0

    def __init__(self, terms: WrittenTerms, constant: Number = 0) -> None:
        object.__setattr__(self, "terms", as_terms(terms, "constraints: cone: terms"))
        object.__setattr__(self, "constant", as_fraction(constant, "constraints: cone: constant"))

    @property
    def offset(self) -> Fraction:
        """The constant."""
        assert isinstance(self.constant, Fraction)
        return self.constant

    @property
    def summed(self) -> dict[Entry, Fraction]:
        """The factor of every entry, where one comes again the sum."""
        found = dict[Entry, Fraction]()
        for x, y, c in self.terms:
            found[x, y] = found.get((x, y), Fraction(0)) + c
        return found

    def to_table(self) -> dict[str, Any]:
        return {"terms": self.terms, "constant": self.constant}


@dataclass(frozen=True)
class SecondOrderCone(Constraint):
    """The Euclidean norm of numbers F_k Q + f_k is at most F Q + f.

    Parameters
    ----------
    norm : list of Affine
        At least one.
    terms, constant : the bound F Q + f
        By default no terms, and 0.

    Raises
    ------
    InputError
        If `norm` is empty or a number cannot be read; a design raises it where it has no such input or output.

    The probabilities of two errors lie in a disc around (0, 0):

    >>> SecondOrderCone([Affine([(0, 1, 1)]), Affine([(1, 0, 1)])], constant=0.2).norm[1].terms
    ((1, 0, Fraction(1, 1)),)
    """

    kind: ClassVar[str] = "cone"
    norm: tuple[Affine, ...]
    terms: Terms = ()
    constant: Number = 0

    def __init__(self, norm: Sequence[Affine], terms: WrittenTerms = (), constant: Number = 0) -> None:
        what = f"constraints: {self.kind}"
        members = tuple(as_list(norm, f"{what}: norm"))
        if not members or not all(isinstance(member, Affine) for member in members):
            raise InputError(f"{what}: norm: expected a list of at least one Affine, got {brief(norm)}")
        bound = Affine(terms, constant)
        object.__setattr__(self, "norm", members)
        object.__setattr__(self, "terms", bound.terms)
        object.__setattr__(self, "constant", bound.constant)

    @property
    def bound(self) -> Affine:
        """F Q + f."""
        return Affine(self.terms, self.constant)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        members = []
        for k, member in enumerate(as_list(table.get("norm", ()), f"{where}: norm")):
            if not isinstance(member, Mapping) or "terms" not in member:
                raise InputError(
                    f"{where}: norm[{k}]: expected a table with terms, and perhaps a constant; got {brief(member)}"
                )
            check_keys(member, ("terms", "constant"), f"{where}: norm[{k}]")
            members.append(Affine(**member))
        return super().from_table({**table, "norm": members} if "norm" in table else table, where)

    def to_table(self) -> dict[str, Any]:
        return {**super().to_table(), "norm": [member.to_table() for member in self.norm]}

    def check(self, space: MechanismSpace) -> None:
        for x, y, _ in (*self.terms, *(term for member in self.norm for term in member.terms)):
            space.check_entry(x, y, f"constraints: {self.kind}: terms")
