"""A budget of a second distortion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction
from dalenius.model.constraints.base import MechanismSpace, RowConstraint, Rows, nested_distortion
from dalenius.model.distortions import Distortion

__all__ = ["DistortionBudget"]


@dataclass(frozen=True)
class DistortionBudget(RowConstraint):
    """sum_x p(x) sum_y d(x,y) Q(x,y) is at most a number, for a distortion d besides the model's own.

    Parameters
    ----------
    distortion : Distortion
        With as many outputs as the model's own.
    at_most : number
        Exact, in units of this distortion.

    Raises
    ------
    InputError
        If it is no distortion or no number; a design raises it where the distortion does not fit.

    >>> from dalenius.model.distortions import Squared
    >>> DistortionBudget(Squared(), at_most="3/2").at_most
    Fraction(3, 2)
    """

    kind: ClassVar[str] = "distortion"
    distortion: Distortion
    at_most: Number

    def __post_init__(self) -> None:
        what = f"constraints: {self.kind}"
        if not isinstance(self.distortion, Distortion):
            raise InputError(f"{what}: distortion: expected a Distortion, got {brief(self.distortion)}")
        object.__setattr__(self, "at_most", as_fraction(self.at_most, f"{what}: at_most"))

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        return super().from_table(nested_distortion(table, where), where)

    def to_table(self) -> dict[str, Any]:
        return {**super().to_table(), "distortion": self.distortion.described()}

    def check_parts(self, space: MechanismSpace) -> None:
        space.check_distortion(self.distortion, f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        return 1, space.inputs * space.outputs

    def rows(self, space: MechanismSpace) -> Rows:
        assert isinstance(self.at_most, Fraction)
        cost = space.costs(self.distortion).exact_cost()
        terms = tuple((x, y, p * d) for x, p in enumerate(space.law) for y, d in enumerate(cost[x]))
        return Rows((self.at_most,), False, (terms,))
