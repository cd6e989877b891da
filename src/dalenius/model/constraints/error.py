"""A cap on the expected error of every input, or of groups of inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_fraction, as_integer, as_list
from dalenius.model.constraints.base import MechanismSpace, RowConstraint, Rows, nested_distortion
from dalenius.model.distortions import Distortion

__all__ = ["ErrorCap"]


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
