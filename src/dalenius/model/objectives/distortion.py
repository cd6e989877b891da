"""A further distortion to be minimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.model.constraints.base import MechanismSpace, nested_distortion
from dalenius.model.distortions import Distortion
from dalenius.model.objectives.base import Term

__all__ = ["DistortionTerm"]


@dataclass(frozen=True)
class DistortionTerm(Term):
    """sum_x p(x) sum_y d(x,y) Q(x,y), the expected distortion of a mechanism Q under a distortion d, in units of d.

    Parameters
    ----------
    distortion : Distortion
        With as many outputs as the model's own.
    weight : number, optional
        More than 0; exact. By default 1.

    Raises
    ------
    InputError
        If it is no distortion, or no such number; a design raises it where the distortion does not fit.

    >>> from dalenius.model.distortions import Squared
    >>> DistortionTerm(Squared(), weight="1/10").weight
    Fraction(1, 10)
    """

    kind: ClassVar[str] = "distortion"
    distortion: Distortion

    def __post_init__(self) -> None:
        if not isinstance(self.distortion, Distortion):
            raise InputError(f"objective: {self.kind}: distortion: expected a Distortion, got {brief(self.distortion)}")
        super().__post_init__()

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        return super().from_table(nested_distortion(table, where), where)

    def to_table(self) -> dict[str, Any]:
        return {**super().to_table(), "distortion": self.distortion.described()}

    def check(self, space: MechanismSpace, what: str) -> None:
        space.check_distortion(self.distortion, what)
