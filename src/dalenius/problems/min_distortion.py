"""Problem 3: the least distortion within a budget of leakage."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dalenius.exact import as_quantity, fraction_text
from dalenius.problems.design_problem import DesignProblem
from dalenius.units import UNITS, unit_size

__all__ = ["MinDistortion"]

CEILING = Fraction(10**300)


@dataclass(frozen=True, kw_only=True)
class MinDistortion(DesignProblem):
    """min over the mechanisms Q of a class with L(Q) <= max_leakage of E(Q), the expected distortion.

    Parameters
    ----------
    records, query, distortion, law, adversary, mechanism, title, source
        As `DesignProblem` says.
    max_leakage : number or str
        The budget: a number of nats, or a text of a number and a unit, ``"0.05 nats"``, ``"0.05 bits"``; exact. Kept as such a text.
        A negative one makes the problem infeasible.

    Raises
    ------
    InputError
        If the parts do not fit together, or the budget cannot be read.

    >>> import dalenius as dl
    >>> problem = dl.MinDistortion(
    ...     records=dl.Records(4, alphabet=2), query=dl.Count(), distortion=dl.Absolute(), max_leakage="0.05 bits",
    ...     adversary=dl.EntropyAtLeast("0.8 max"))
    >>> problem.budget, round(problem.max_leakage_nats, 6), problem.constant_distortion
    (Fraction(1, 20), 0.034657, Fraction(3, 4))
    """

    kind: ClassVar[str] = "min_distortion"
    budget_key: ClassVar[str] = "max_leakage"
    unit: ClassVar[str] = "distortion"
    max_leakage: Fraction | float | str

    def __post_init__(self) -> None:
        amount, units = as_quantity(self.max_leakage, "max_leakage", known=UNITS)
        object.__setattr__(self, "max_leakage", f"{fraction_text(amount)} {units}")
        super().__post_init__()

    @property
    def budget(self) -> Fraction:
        """The largest leakage allowed, as written: a number of `budget_units`."""
        return self._quantity[0]

    @property
    def budget_units(self) -> str:
        """nats or bits."""
        return self._quantity[1]

    @property
    def max_leakage_nats(self) -> float:
        """The budget in nats, as a double."""
        return float(max(min(self.budget, CEILING), -CEILING)) * unit_size(self.budget_units)

    @property
    def feasible(self) -> bool:
        """Whether some mechanism of the class leaks no more than the budget: a constant one leaks 0."""
        return self.budget >= 0

    @property
    def _quantity(self) -> tuple[Fraction, str]:
        return as_quantity(self.max_leakage, "max_leakage", known=UNITS)

    def normal_tables(self) -> dict[str, Any]:
        return {**self.tables(), self.budget_key: f"{self.budget} {self.budget_units}"}
