"""Budgets besides the design's own: of a second distortion, a further adversary, or a function of the data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.errors import InputError, brief, naming
from dalenius.exact import Number, as_quantity
from dalenius.model.adversaries import Adversary
from dalenius.model.constraints.base import (
    Limit,
    MechanismSpace,
    RowConstraint,
    Rows,
)
from dalenius.model.distortions import Distortion
from dalenius.model.fields import Exact, Given, amount_text, declared, normal_amount, number, part
from dalenius.model.secret import Secret
from dalenius.model.shelf import check_keys
from dalenius.units import UNITS, in_nats


@declared
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
    distortion: Given[Distortion, Distortion] = Given(part(Distortion), tables=Distortion.of_kind)
    at_most: Exact = Given(number())

    def check_parts(self, space: MechanismSpace) -> None:
        space.check_distortion(self.distortion, f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        return 1, space.inputs * space.outputs

    def rows(self, space: MechanismSpace) -> Rows:
        cost = space.costs(self.distortion).exact_cost()
        terms = tuple((x, y, p * d) for x, p in enumerate(space.law) for y, d in enumerate(cost[x]))
        return Rows((self.at_most,), False, (terms,))


class AmountLimit(Limit):
    """A limit that is an amount of information, `at_most`."""

    per: ClassVar[str] = "nat"
    at_most: Given[Number, str]

    @property
    def limit(self) -> tuple[Fraction, str]:
        return as_quantity(self.at_most, f"constraints: {self.kind}: at_most", known=UNITS)

    @property
    def nats(self) -> float:
        """The limit in nats, as a double."""
        return in_nats(*self.limit)


@declared
class LeakageLimit(AmountLimit):
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
    adversary: Given[Adversary, Adversary] = Given(part(Adversary), tables=Adversary.of_kind)
    at_most: Given[Number, str] = Given(amount_text, normal=normal_amount)

    @property
    def leaks_to(self) -> Adversary:
        return self.adversary

    @property
    def budget(self) -> Fraction:
        """The number in `at_most`."""
        return self.limit[0]

    def check(self, space: MechanismSpace) -> None:
        self.adversary.check_further(space.records)


def _as_limit(value: Number, what: str) -> str:
    if as_quantity(value, what, known=UNITS)[0] <= 0:
        raise InputError(
            f"{what} must be above 0, got {brief(value)}; a mechanism that reveals nothing of it meets local_dp "
            "(dl.constraints.LocalDPBetween) with epsilon 0 and the pairs of inputs that must look alike"
        )
    return amount_text(value, what)


@declared
class SecretLeakageLimit(AmountLimit):
    """Under *every* law of the dataset X the output reveals at most so much about a secret: I( g(X); Y | w(X) ) <= at_most.

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
    secret: Given[Secret, Secret] = Given(part(Secret, "a Secret(of, given=...)"))
    at_most: Given[Number, str] = Given(_as_limit, normal=normal_amount)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        check_keys(table, ("of", "given", "at_most"), where)
        if "at_most" not in table:
            raise InputError(f'{where}: missing at_most, a number of nats or a text such as "0.05 bits"')
        given = {key: value for key, value in table.items() if key != "at_most"}
        return cls(Secret.from_table(given, where), table["at_most"])

    def to_table(self) -> dict[str, Any]:
        return {**self.secret.to_model(), "at_most": self.at_most}

    def normal_table(self) -> dict[str, Any]:
        return {**self.secret.to_model(), "at_most": normal_amount(self.at_most, "at_most")}

    def check(self, space: MechanismSpace) -> None:
        with naming(f"constraints: {self.kind}"):
            self.secret.check(space.records)
