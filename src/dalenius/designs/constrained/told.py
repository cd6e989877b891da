"""What every limit on what is told is to a design: a part of its programs, an exact test of a mechanism, lines of a bound."""

from __future__ import annotations

from abc import ABC, abstractmethod

from flint import fmpq_mat

from dalenius.evidence.lower import SelectionLine, TangentLine, Vector
from dalenius.model.constraints import Constraint
from dalenius.programs.secrets import SecretPart

__all__ = ["ToldLaw"]


class ToldLaw(ABC):
    """One of the convex measures that a constraint limits.

    Attributes
    ----------
    number : int
        The constraint's, among the model's.
    limit : Constraint
    """

    number: int
    limit: Constraint

    @property
    @abstractmethod
    def part(self) -> SecretPart:
        """For programs."""

    @property
    @abstractmethod
    def letters(self) -> tuple[int, ...]:
        """Those that parts have rows for."""

    @abstractmethod
    def met_by(self, mechanism: fmpq_mat) -> bool:
        """Whether a mechanism keeps the limit; where logarithms are in it, certainly so."""

    @abstractmethod
    def line(self, i: int, weight: str, hint: Vector) -> TangentLine | SelectionLine:
        """A tangent of the part, as a certificate has it; its weight and its hint are given as texts."""
