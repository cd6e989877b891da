"""A limit on what the mechanism tells about a function of the data, under whatever law the data have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_quantity, fraction_text
from dalenius.model.constraints.base import Constraint, MechanismSpace
from dalenius.model.secret import Secret
from dalenius.model.shelf import check_keys
from dalenius.units import UNITS, unit_size

__all__ = ["SecretLeakageLimit"]


@dataclass(frozen=True)
class SecretLeakageLimit(Constraint):
    """Under *every* law of the dataset X the output tells at most so much about a secret: I( g(X); Y | w(X) ) <= at_most.

    For listed laws there is `MutualInformation`, with `Secret.joint`; for records `LeakageLimit`. *Convex because* the worst law sits
    on one dataset for each value of the secret, where one value of w is given, so that this is a limit of the Shannon capacity of the
    rows of each such selection; a capacity is the largest of convex functions.

    Parameters
    ----------
    secret : Secret
        The function g of the data, and another one, w, that is known.
    at_most : number or str
        Above 0: nats, or a text of a number and a unit, ``"0.05 bits"``; exact. Kept as such a text.

    Raises
    ------
    InputError
        If the secret is none or does not fit the records (a design says so), or the amount cannot be read or is not above 0.

    Notes
    -----
    Source: Nuradha and Goldfeld, definition 5, as a constraint; the selections: docs/theory.md.

    >>> from dalenius.model.queries import Threshold
    >>> SecretLeakageLimit(Secret(Threshold(2)), "0.1 bits").limit
    (Fraction(1, 10), 'bits')
    """

    kind: ClassVar[str] = "secret_leakage"
    secret: Secret
    at_most: Number

    def __post_init__(self) -> None:
        what = f"constraints: {self.kind}"
        if not isinstance(self.secret, Secret):
            raise InputError(f"{what}: secret: expected a Secret(of, given=...), got {brief(self.secret)}")
        amount, units = as_quantity(self.at_most, f"{what}: at_most", known=UNITS)
        if amount <= 0:
            raise InputError(
                f"{what}: at_most must be above 0, got {brief(self.at_most)}; a mechanism that tells nothing of it meets "
                "local_dp (dl.LocalDPBetween) with epsilon 0 and the pairs of inputs that must look alike"
            )
        object.__setattr__(self, "at_most", f"{fraction_text(amount)} {units}")

    @property
    def limit(self) -> tuple[Fraction, str]:
        """The number in `at_most`, and its unit."""
        return as_quantity(self.at_most, f"constraints: {self.kind}: at_most", known=UNITS)

    @property
    def nats(self) -> float:
        """The limit in nats, as a double."""
        amount, units = self.limit
        return float(amount) * unit_size(units)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        check_keys(table, ("of", "given", "at_most"), where)
        if "at_most" not in table:
            raise InputError(f'{where}: missing at_most, a number of nats or a text such as "0.05 bits"')
        given = {key: value for key, value in table.items() if key != "at_most"}
        return cls(Secret.from_table(given, where), table["at_most"])

    def to_table(self) -> dict[str, Any]:
        return {**self.secret.to_table(), "at_most": self.at_most}

    def normal_table(self) -> dict[str, Any]:
        amount, units = self.limit
        return {**super().normal_table(), "at_most": f"{amount} {units}"}

    def check(self, space: MechanismSpace) -> None:
        try:
            self.secret.check(space.records)
        except InputError as error:
            raise InputError(f"constraints: {self.kind}: {error}") from None
