"""What a term of an objective is: a leakage or a distortion that is minimised besides a design's own, with its weight."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, brief
from dalenius.model.constraints.base import MechanismSpace
from dalenius.model.shelf import Shelved

__all__ = ["Term", "as_weight"]


@dataclass(frozen=True)
class Term(Shelved):
    """A leakage or a distortion T_j >= 0 of a mechanism, with its weight w_j > 0, exact."""

    weight: Number = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", as_weight(self.weight, f"objective: {self.kind}: weight"))

    @abstractmethod
    def check(self, space: MechanismSpace, what: str) -> None:
        """Raise `InputError` if the term does not fit these mechanisms."""

    def normal_table(self) -> dict[str, Any]:
        """The table of the normal form (docs/model-format.md); numbers may still be numbers."""
        return {"kind": self.kind, **self.to_table()}


def as_weight(value: Any, what: str) -> Fraction:
    """A weight, exactly.

    >>> as_weight("1/10", "weight")
    Fraction(1, 10)
    """
    weight = as_fraction(value, what)
    if weight <= 0:
        raise InputError(f"{what}: expected a number more than 0, got {brief(value)}; leave the term out instead")
    return weight
