"""A limit on what the mechanism leaks to a further adversary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_quantity, fraction_text
from dalenius.model.adversaries import Adversary
from dalenius.model.constraints.base import Constraint, MechanismSpace, nested_adversary
from dalenius.units import UNITS, unit_size

__all__ = ["LeakageLimit"]

LARGEST_IN_DOUBLES = Fraction(10**300)


@dataclass(frozen=True)
class LeakageLimit(Constraint):
    """The mechanism leaks at most so much about any record to this adversary, too.

    Parameters
    ----------
    adversary : EntropyAtLeast, ProductPriors, PriorSet or a class of laws (KLBallPriors, ...)
    at_most : number or str
        Nats; or a text of a number and a unit, ``"0.05 nats"``, ``"0.05 bits"``; exact. Kept as such a text. A negative one makes a
        design infeasible.

    Raises
    ------
    InputError
        If it is no adversary or no amount; a design raises it where the adversary does not fit its records.

    >>> from dalenius.model.adversaries import ProductPriors
    >>> LeakageLimit(ProductPriors(), "0.1 bits").budget
    Fraction(1, 10)
    """

    kind: ClassVar[str] = "leakage"
    adversary: Adversary
    at_most: Number

    def __post_init__(self) -> None:
        what = f"constraints: {self.kind}"
        if not isinstance(self.adversary, Adversary):
            raise InputError(f"{what}: adversary: expected an Adversary, got {brief(self.adversary)}")
        amount, units = as_quantity(self.at_most, f"{what}: at_most", known=UNITS)
        object.__setattr__(self, "at_most", f"{fraction_text(amount)} {units}")

    @property
    def _amount(self) -> tuple[Fraction, str]:
        return as_quantity(self.at_most, f"constraints: {self.kind}: at_most", known=UNITS)

    @property
    def budget(self) -> Fraction:
        """The number in `at_most`."""
        return self._amount[0]

    @property
    def nats(self) -> float:
        """The limit in nats, as a double."""
        amount, units = self._amount
        return float(max(min(amount, LARGEST_IN_DOUBLES), -LARGEST_IN_DOUBLES)) * unit_size(units)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        return super().from_table(nested_adversary(table, where), where)

    def to_table(self) -> dict[str, Any]:
        return {**super().to_table(), "adversary": self.adversary.to_model()}

    def normal_table(self) -> dict[str, Any]:
        amount, units = self._amount
        return {
            **super().normal_table(),
            "adversary": self.adversary.normal_form(),
            "at_most": f"{amount} {units}",
        }

    def check(self, space: MechanismSpace) -> None:
        self.adversary.check_further(space.records)
