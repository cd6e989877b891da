"""Constraints on what comes out for an input: errors, bands, bias, order, and outputs that it must never have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.model.constraints.base import (
    Entry,
    MechanismSpace,
    RowConstraint,
    Rows,
    WrittenEntries,
    as_entry,
)
from dalenius.model.distortions import Distortion
from dalenius.model.fields import Exact, Given, declared, number, part


def _as_groups(value: Sequence[Sequence[Integer]], what: str) -> tuple[tuple[int, ...], ...]:
    groups = list[tuple[int, ...]]()
    for given in as_list(value, what):
        group = tuple(as_integer(x, what, at_least=0) for x in as_list(given, what))
        if not group or len(set(group)) < len(group):
            raise InputError(f"{what}: expected lists of different inputs, none empty, got {brief(given)}")
        groups.append(group)
    return tuple(groups)


@declared
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
    at_most: Exact = Given(number())
    groups: Given[Sequence[Sequence[Integer]] | None, tuple[tuple[int, ...], ...] | None] = Given(
        _as_groups, default=None
    )
    distortion: Given[Distortion | None, Distortion | None] = Given(
        part(Distortion), default=None, tables=Distortion.of_kind
    )

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


class Zeros(RowConstraint):
    """Some entries are 0."""

    per: ClassVar[str] = "unit of probability in every entry"

    @abstractmethod
    def listed(self, space: MechanismSpace) -> Sequence[Entry]:
        """Those that are."""

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        entries = len(self.listed(space))
        return entries, entries

    def rows(self, space: MechanismSpace) -> Rows:
        entries = self.listed(space)
        return Rows((ZERO,) * len(entries), True, tuple(((x, y, ONE),) for x, y in entries))


@declared
class Band(Zeros):
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
    width: Exact = Given(number(at_least=0))

    def listed(self, space: MechanismSpace) -> Sequence[Entry]:
        numbers = space.need_numbers(f"constraints: {self.kind}")
        return [(x, y) for x in space.possible for y, o in enumerate(numbers) if abs(space.values[x] - o) > self.width]

    def check_parts(self, space: MechanismSpace) -> None:
        space.need_numbers(f"constraints: {self.kind}")


@declared
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
    tolerance: Exact = Given(number(at_least=0), default=0)

    def check_parts(self, space: MechanismSpace) -> None:
        space.need_numbers(f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        rows = len(space.possible) * (2 if self.tolerance else 1)
        return rows, rows * space.outputs

    def rows(self, space: MechanismSpace) -> Rows:
        numbers, far = space.need_numbers(f"constraints: {self.kind}"), self.tolerance
        ends, terms = list[Fraction](), []
        for x in space.possible:
            v = Fraction(space.values[x])
            ends += [v + far, far - v] if far else [v]
            terms += [tuple((x, y, sign * o) for y, o in enumerate(numbers)) for sign in ((1, -1) if far else (1,))]
        return Rows(tuple(ends), not far, tuple(terms))


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


def _as_entries(value: WrittenEntries, what: str) -> tuple[Entry, ...]:
    found = tuple(as_entry(entry, f"{what}[{j}]") for j, entry in enumerate(as_list(value, what)))
    if not found:
        raise InputError(f"{what}: expected at least one [input, output], got none")
    if len(set(found)) < len(found):
        again = next(entry for entry in found if found.count(entry) > 1)
        raise InputError(f"{what}: {brief(list(again))} comes twice; list it once")
    return found


@declared
class ZeroEntries(Zeros):
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
    entries: Given[WrittenEntries, tuple[Entry, ...]] = Given(_as_entries)

    def check_parts(self, space: MechanismSpace) -> None:
        for x, y in self.entries:
            space.check_entry(x, y, f"constraints: {self.kind}: entries")

    def listed(self, space: MechanismSpace) -> Sequence[Entry]:
        return self.entries
