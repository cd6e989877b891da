"""Constraints on what comes out for an input: errors, bands, bias, order, and outputs that it must never have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Self

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_fraction, as_integer, as_list
from dalenius.model.constraints.base import Entry, MechanismSpace, RowConstraint, Rows, as_entry, nested_distortion
from dalenius.model.distortions import Distortion


@dataclass(frozen=True)
class ErrorCap(RowConstraint):
    """The expected distortion given that the input is in a group is at most a number, for every group.

    sum over x in g of w(x) sum_y d(x,y) Q(x,y) <= at_most, where w(x) = p(x) / p(g), and 1 in a group of one input.

    Parameters
    ----------
    at_most : number
        Exact, in units of the distortion.
    groups : list of lists of inputs, optional
        Left out: each input that some dataset has, by itself, so that no true value fares worse than this.
    distortion : Distortion, optional
        Left out: the model's own.

    Raises
    ------
    InputError
        If a number cannot be read, a group is empty or has an input twice; a design raises it where it has no such input, a group has
        probability 0, or the distortion has another number of outputs.

    >>> ErrorCap(1.5, groups=[[0, 1], [2]]).groups
    ((0, 1), (2,))
    """

    kind: ClassVar[str] = "error"
    at_most: Number
    groups: tuple[tuple[int, ...], ...] | None = None
    distortion: Distortion | None = None

    def __init__(
        self,
        at_most: Number,
        groups: Sequence[Sequence[Integer]] | None = None,
        distortion: Distortion | None = None,
    ) -> None:
        what = f"constraints: {self.kind}"
        object.__setattr__(self, "at_most", as_fraction(at_most, f"{what}: at_most"))
        listed = None if groups is None else tuple(self._group(g) for g in as_list(groups, f"{what}: groups"))
        if distortion is not None and not isinstance(distortion, Distortion):
            raise InputError(f"{what}: distortion: expected a Distortion, got {brief(distortion)}")
        object.__setattr__(self, "groups", listed)
        object.__setattr__(self, "distortion", distortion)

    def _group(self, given: Any) -> tuple[int, ...]:
        what = f"constraints: {self.kind}: groups"
        group = tuple(as_integer(x, what, at_least=0) for x in as_list(given, what))
        if not group or len(set(group)) < len(group):
            raise InputError(f"{what}: expected lists of different inputs, none empty, got {brief(given)}")
        return group

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        return super().from_table(nested_distortion(table, where), where)

    def to_table(self) -> dict[str, Any]:
        distortion = None if self.distortion is None else self.distortion.described()
        return {**super().to_table(), "distortion": distortion}

    def _listed(self, space: MechanismSpace) -> tuple[tuple[int, ...], ...]:
        return tuple((x,) for x in space.possible) if self.groups is None else self.groups

    def check_parts(self, space: MechanismSpace) -> None:
        what = f"constraints: {self.kind}"
        for group in self.groups or ():
            for x in group:
                space.check_entry(x, 0, f"{what}: groups")
            if len(group) > 1 and not any(space.law[x] for x in group):
                raise InputError(
                    f"{what}: the law of the data gives the group {brief(list(group))} probability 0; leave it out"
                )
        if self.distortion is not None:
            space.check_distortion(self.distortion, what)

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        groups = self._listed(space)
        return len(groups), sum(map(len, groups)) * space.outputs

    def rows(self, space: MechanismSpace) -> Rows:
        assert isinstance(self.at_most, Fraction)
        cost = space.costs(self.distortion or space.distortion).exact_cost()
        groups = self._listed(space)
        terms = tuple(
            tuple((x, y, w * d) for x, w in self._weights(space, group) for y, d in enumerate(cost[x]))
            for group in groups
        )
        return Rows((self.at_most,) * len(groups), False, terms)

    @staticmethod
    def _weights(space: MechanismSpace, group: tuple[int, ...]) -> Iterator[tuple[int, Fraction]]:
        """The inputs of a group with w(x)."""
        total = sum((space.law[x] for x in group), Fraction(0))
        for x in group:
            yield x, Fraction(1) if len(group) == 1 else space.law[x] / total


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
        width = as_fraction(self.width, f"constraints: {self.kind}: width")
        if width < 0:
            raise InputError(f"constraints: {self.kind}: width must be at least 0, got {brief(self.width)}")
        object.__setattr__(self, "width", width)

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
        tolerance = as_fraction(self.tolerance, f"constraints: {self.kind}: tolerance")
        if tolerance < 0:
            raise InputError(f"constraints: {self.kind}: tolerance must be at least 0, got {brief(self.tolerance)}")
        object.__setattr__(self, "tolerance", tolerance)

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
