"""A further leakage to be minimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.model.adversaries import Adversary
from dalenius.model.constraints.base import MechanismSpace, nested_adversary
from dalenius.model.objectives.base import Term

__all__ = ["LeakageTerm"]


@dataclass(frozen=True)
class LeakageTerm(Term):
    """What a mechanism leaks about any record to a further adversary, in nats.

    Parameters
    ----------
    adversary : EntropyAtLeast, ProductPriors, PriorSet or a class of laws (KLBallPriors, ...)
    weight : number, optional
        More than 0; exact. By default 1.

    Raises
    ------
    InputError
        If it is no adversary, or no such number; a design raises it where the adversary does not fit its records.

    >>> from dalenius.model.adversaries import ProductPriors
    >>> LeakageTerm(ProductPriors(), weight="1/3")
    LeakageTerm(weight=Fraction(1, 3), adversary=ProductPriors())
    """

    kind: ClassVar[str] = "leakage"
    adversary: Adversary

    def __post_init__(self) -> None:
        if not isinstance(self.adversary, Adversary):
            raise InputError(f"objective: {self.kind}: adversary: expected an Adversary, got {brief(self.adversary)}")
        super().__post_init__()

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        return super().from_table(nested_adversary(table, where), where)

    def to_table(self) -> dict[str, Any]:
        return {**super().to_table(), "adversary": self.adversary.to_model()}

    def normal_table(self) -> dict[str, Any]:
        return {**super().normal_table(), "adversary": self.adversary.normal_form()}

    def check(self, space: MechanismSpace, what: str) -> None:
        self.adversary.check_further(space.records)
