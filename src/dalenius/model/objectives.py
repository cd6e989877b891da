"""Objectives of a design besides its own leakage or distortion: terms, and how they are combined."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from dalenius.errors import InputError, brief, hint
from dalenius.exact import Number, as_fraction, as_list
from dalenius.model.adversaries import Adversary
from dalenius.model.constraints.base import MechanismSpace
from dalenius.model.distortions import Distortion
from dalenius.model.fields import Exact, Given, declared, part
from dalenius.model.shelf import Shelved, check_keys, read_shelved


def as_weight(value: Number, what: str) -> Fraction:
    """A weight, exactly.

    >>> as_weight("1/10", "weight")
    Fraction(1, 10)
    """
    weight = as_fraction(value, what)
    if weight <= 0:
        raise InputError(f"{what}: expected a number more than 0, got {brief(value)}; leave the term out instead")
    return weight


@declared
class Term(Shelved):
    """A leakage or a distortion T_j >= 0 of a mechanism, with its weight w_j > 0, exact."""

    room: ClassVar[str] = "objective: {0.kind}"
    weight: Exact = Given(as_weight, default=1, kw_only=True)

    @property
    def leaks_to(self) -> Adversary | None:
        """The adversary whom it is about."""
        return None

    @abstractmethod
    def check(self, space: MechanismSpace, what: str) -> None:
        """Raise `InputError` if the term does not fit these mechanisms."""


@declared
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
    distortion: Given[Distortion, Distortion] = Given(part(Distortion), tables=Distortion.of_kind)

    def check(self, space: MechanismSpace, what: str) -> None:
        space.check_distortion(self.distortion, what)


@declared
class LeakageTerm(Term):
    """Leakage of a mechanism about any record to a further adversary, in nats.

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
    adversary: Given[Adversary, Adversary] = Given(part(Adversary), tables=Adversary.of_kind)

    @property
    def leaks_to(self) -> Adversary:
        return self.adversary

    def check(self, space: MechanismSpace, what: str) -> None:
        self.adversary.check_further(space.records)


MAX_TERMS = 100
SMALLEST, NEGLIGIBLE = Fraction(1, 10**100), Fraction(1, 10**15)  # weights, absolutely and beside one another
TERMS: dict[str, type[Term]] = {term.kind: term for term in (LeakageTerm, DistortionTerm)}


def _as_terms(value: Sequence[Term], what: str) -> tuple[Term, ...]:
    terms = tuple(as_list(value, what))
    for j, term in enumerate(terms, start=1):
        if not isinstance(term, Term):
            raise InputError(f"objective: term {j}: expected a LeakageTerm or a DistortionTerm, got {brief(term)}")
    if not 1 <= len(terms) <= MAX_TERMS:
        raise InputError(
            f"objective: expected 1 to {MAX_TERMS} terms besides the problem's own, got {len(terms)}; a design with its own term "
            "alone has no objective"
        )
    return terms


@declared
class Objective:
    """Several leakages and distortions T_j as one number to be minimised; `WeightedSum` and `WeightedMaximum` say how.

    T_0 is what the design would minimise without: its leakage (`MinLeakage`), or its expected distortion (`MinDistortion`).

    Parameters
    ----------
    terms : sequence of LeakageTerm and DistortionTerm
        T_1, T_2, ...; at least one, at most 100.
    weight : number, optional
        w_0, more than 0; exact. By default 1.

    Raises
    ------
    InputError
        If there is no term, or too many, or a weight is no such number.
    """

    combine: ClassVar[str]
    room: ClassVar[str] = "objective"
    terms: Given[Sequence[Term], tuple[Term, ...]] = Given(_as_terms)
    weight: Exact = Given(as_weight, default=1)

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """w_0, w_1, ..., exactly."""
        return (self.weight, *(term.weight for term in self.terms))

    @abstractmethod
    def of(self, values: Sequence[Fraction]) -> Fraction:
        """The objective where the terms have these values, exactly."""

    @property
    def is_linear(self) -> bool:
        """True if it is a sum of distortions, beside the problem's own term."""
        return self.combine == "sum" and all(term.leaks_to is None for term in self.terms)

    def need_workable(self) -> None:
        """Raise `InputError` if the weights are beyond what doubles can work with."""
        least, largest = min(self.weights), max(self.weights)
        if not SMALLEST < largest < 1 / SMALLEST or least < NEGLIGIBLE * largest:
            raise InputError(
                "objective: weights should be between 1e-100 and 1e100, and none less than 1e-15 of another; leave out what weighs so "
                "little, or measure in another unit"
            )

    def check(self, space: MechanismSpace) -> None:
        """Raise `InputError` if a term does not fit these mechanisms."""
        for j, term in enumerate(self.terms, start=1):
            try:
                term.check(space, f"objective: term {j}")
            except InputError as error:
                text = str(error)
                raise InputError(text if text.startswith("objective") else f"objective: term {j}: {text}") from None

    # ------------------------------------------------------------ model files

    def to_model(self) -> dict[str, Any]:
        """The table of a model file."""
        return self._table([term.to_model() for term in self.terms])

    def normal_form(self) -> dict[str, Any]:
        """The table of the normal form (docs/model-format.md); numbers may still be numbers."""
        return self._table([term.normal_form() for term in self.terms])

    def _table(self, terms: list[dict[str, Any]]) -> dict[str, Any]:
        return {"combine": self.combine, "weight": self.weight, "terms": terms}


@declared
class WeightedSum(Objective):
    """w_0 T_0 + w_1 T_1 + ...: every term counts. As `Objective`.

    >>> from dalenius.model.distortions import Squared
    >>> both = WeightedSum([DistortionTerm(Squared(), weight="1/10")], weight=2)
    >>> both.weights, both.of([Fraction(1, 3), Fraction(5)])
    ((Fraction(2, 1), Fraction(1, 10)), Fraction(7, 6))
    """

    combine: ClassVar[str] = "sum"

    def of(self, values: Sequence[Fraction]) -> Fraction:
        return sum((w * value for w, value in zip(self.weights, values, strict=True)), Fraction(0))


@declared
class WeightedMaximum(Objective):
    """The largest of w_0 T_0, w_1 T_1, ...: the worst term counts. As `Objective`.

    >>> from dalenius.model.adversaries import ProductPriors
    >>> WeightedMaximum([LeakageTerm(ProductPriors(), weight=3)]).of([Fraction(1, 2), Fraction(1, 4)])
    Fraction(3, 4)
    """

    combine: ClassVar[str] = "max"

    def of(self, values: Sequence[Fraction]) -> Fraction:
        return max(w * value for w, value in zip(self.weights, values, strict=True))


OBJECTIVES: dict[str, type[Objective]] = {kind.combine: kind for kind in (WeightedSum, WeightedMaximum)}


def read_objective(table: Any, where: str = "[objective]") -> Objective:
    """The objective that a model file's table describes.

    >>> read_objective({"combine": "sum", "terms": [{"kind": "distortion", "distortion": {"kind": "hamming"}}]}).weights
    (Fraction(1, 1), Fraction(1, 1))
    """
    if not isinstance(table, Mapping):
        raise InputError(f"model: expected a table {where}, got {brief(table)}")
    check_keys(table, ("combine", "weight", "terms"), where)
    combine, terms = table.get("combine"), table.get("terms", [])
    if not isinstance(combine, str) or combine not in OBJECTIVES:
        raise InputError(
            f"{where}: combine must be one of {', '.join(OBJECTIVES)}; got {brief(combine)}{hint(combine, OBJECTIVES)}"
        )
    if not isinstance(terms, list):
        raise InputError(f"{where}: terms are tables [[objective.terms]], one for each; got {brief(terms)}")
    read = [read_shelved(TERMS, term, f"objective.terms[{j}]") for j, term in enumerate(terms, start=1)]
    return OBJECTIVES[combine](read, **({"weight": table["weight"]} if "weight" in table else {}))
