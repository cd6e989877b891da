"""Constraints of one's own: linear inequalities and equations, and second-order cones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import as_list
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
from dalenius.model.fields import Exact, ExactOrNone, Given, declared, number
from dalenius.model.shelf import check_keys


@declared
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
    terms: Given[WrittenTerms, Terms] = Given(as_terms)
    at_most: ExactOrNone = Given(number(), default=None)
    equals: ExactOrNone = Given(number(), default=None)

    def __post_init__(self) -> None:
        what = f"constraints: {self.kind}"
        if not self.terms:
            raise InputError(f"{what}: expected at least one term [input, output, factor], got none")
        if (self.at_most is None) == (self.equals is None):
            got = "neither" if self.at_most is None else "both"
            raise InputError(f"{what}: expected one of at_most and equals, got {got}")

    def check_parts(self, space: MechanismSpace) -> None:
        for x, y, _ in self.terms:
            space.check_entry(x, y, f"constraints: {self.kind}: terms")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        return 1, len(self.terms)

    def rows(self, space: MechanismSpace) -> Rows:
        end = self.equals if self.at_most is None else self.at_most
        assert isinstance(end, Fraction)
        return Rows((end,), self.at_most is None, (self.terms,))


@declared
class Affine:
    """F Q + f: the sum of c Q(x,y) over terms [x, y, c], and a constant.

    >>> Affine([(0, 1, 2)], constant=-1)
    Affine(terms=((0, 1, Fraction(2, 1)),), constant=Fraction(-1, 1))
    """

    room: ClassVar[str] = "constraints: cone"
    terms: Given[WrittenTerms, Terms] = Given(as_terms)
    constant: Exact = Given(number(), default=0)

    @property
    def summed(self) -> dict[Entry, Fraction]:
        """The factor of every entry, where one comes again the sum."""
        found = dict[Entry, Fraction]()
        for x, y, c in self.terms:
            found[x, y] = found.get((x, y), Fraction(0)) + c
        return found

    def to_model(self) -> dict[str, Any]:
        """The table of a model file."""
        return {"terms": self.terms, "constant": self.constant}

    normal_form = to_model


def _as_norm(value: Sequence[Affine], what: str) -> tuple[Affine, ...]:
    members = tuple(as_list(value, what))
    if not members or not all(isinstance(member, Affine) for member in members):
        raise InputError(f"{what}: expected a list of at least one Affine, got {brief(value)}")
    return members


def _norm_of_tables(value: Any, where: str) -> list[Affine]:
    members = []
    for k, member in enumerate(as_list(value, where)):
        if not isinstance(member, Mapping) or "terms" not in member:
            raise InputError(f"{where}[{k}]: expected a table with terms, and perhaps a constant; got {brief(member)}")
        check_keys(member, ("terms", "constant"), f"{where}[{k}]")
        members.append(Affine(**member))
    return members


@declared
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
    norm: Given[Sequence[Affine], tuple[Affine, ...]] = Given(_as_norm, tables=_norm_of_tables)
    terms: Given[WrittenTerms, Terms] = Given(as_terms, default=())
    constant: Exact = Given(number(), default=0)

    @property
    def bound(self) -> Affine:
        """F Q + f."""
        return Affine(self.terms, self.constant)

    def check(self, space: MechanismSpace) -> None:
        for x, y, _ in (*self.terms, *(term for member in self.norm for term in member.terms)):
            space.check_entry(x, y, f"constraints: {self.kind}: terms")
