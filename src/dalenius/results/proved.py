"""Base of every answer: an interval, its quantity, its proof; and how that is printed, beside all there is to know."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.alternation import Alternation
from dalenius.errors import GapNotReachedError, InputError, brief
from dalenius.evidence import Certificate, exact_fraction_above
from dalenius.exact import fraction_text
from dalenius.intervals import ends_text, gap_text, text_above, text_below
from dalenius.model import EntropyAtLeast, Problem, Records
from dalenius.notebook import table
from dalenius.outcome import Status, Termination
from dalenius.search import Progress, need_gap
from dalenius.units import Quantity, amount_text, is_at_least_log, log_above, lower_in, upper_in

DIGITS = 4  # of what is possible, and of the one number that people take away
ALL = ": all there is to know"

Number = float | Fraction


def most_of(values: int, units: str) -> float:
    """All there is to know about one of so many values, in `units`, rounded upward; exact where it is a whole number of bits.

    >>> most_of(2, "bits"), most_of(1, "nats"), 1.58496 < most_of(3, "bits") < 1.58497
    (1.0, 0.0, True)
    """
    whole = values.bit_length() - 1
    return float(whole) if units == "bits" and values == 1 << whole else upper_in(log_above(Fraction(values)), units)


def is_all(upper: Number, units: str, values: int) -> bool:
    """True if an upper bound says no more than that there is nothing else to know: that it is at least the logarithm of the values.

    >>> is_all(1.0, "bits", 2), is_all(0.6931471805599454, "nats", 2), is_all(0.6931471805599453, "nats", 2)
    (True, True, False)
    """
    return is_at_least_log(upper, units, values)


def possible_text(values: int, units: str) -> str:
    """All there is to know, in words.

    >>> possible_text(2, "bits"), possible_text(3, "bits"), possible_text(2, "nats")
    ('of 1 bit possible', 'of 1.585 bits possible', 'of 0.6932 nats possible')
    """
    return f"of {amount_text(text_above(most_of(values, units), DIGITS), units)} possible"


def told_text(lower: Number, upper: Number, units: str, values: int | None, *, places: int | None = None) -> str:
    """An interval for people: ends as in `ends_text`, the unit, and what is possible; a bound that is all there is says so.

    Of what is no information about one of some values (`values` is None) the interval and its unit.

    >>> told_text(0.459, 0.5, "bits", 2), told_text(0.5, 0.75, "distortion", None)
    ('0.459 .. 0.5 bits of 1 bit possible', '0.5 .. 0.75 distortion')
    >>> told_text(0.0, 0.7, "nats", 2)
    '0 .. 0.6932 nats of 0.6932 nats possible: all there is to know'
    """
    if values is None:
        return f"{' .. '.join(ends_text(lower, upper, places=places))} {units}"
    low, high = ends_text(lower, upper, places=places)
    whole = is_all(upper, units, values)
    high = text_above(most_of(values, units), DIGITS) if whole else high
    return f"{low} .. {high} {units} {possible_text(values, units)}{ALL if whole else ''}"


def at_most_text(upper: Number, units: str, values: int | None, digits: int = DIGITS) -> str:
    """An upper end for people, rounded upward, with its unit and what is possible.

    >>> at_most_text(0.25, "bits", 2), at_most_text(0.7, "nats", 2)
    ('0.25 bits of 1 bit possible', '0.6932 nats of 0.6932 nats possible: all there is to know')
    """
    if values is None:
        return amount_text(text_above(upper, digits), units)
    if is_all(upper, units, values):
        return f"{amount_text(text_above(most_of(values, units), DIGITS), units)} {possible_text(values, units)}{ALL}"
    return f"{amount_text(text_above(upper, digits), units)} {possible_text(values, units)}"


def nats_and_bits(upper: float, values: int | None, digits: int = DIGITS) -> str:
    """An upper end in nats as people take it away: rounded upward, in both units, beside what is possible.

    >>> nats_and_bits(0.25, 2), nats_and_bits(0.7, 2)
    ('0.3607 bits (0.25 nats) of 1 bit possible', '1 bit (0.6932 nats) of 1 bit possible: all there is to know')
    """
    told = at_most_text(upper_in(upper, "bits"), "bits", values, digits)
    number, unit, rest = (*told.split(" ", 2), "")[:3]
    nats = at_most_text(upper, "nats", values, digits).partition(" of ")[0]
    return f"{number} {unit} ({nats}) {rest}".rstrip()


def budget_text(amount: Fraction, units: str, values: int | None) -> str:
    """A limit on a leakage as it is written, and what it is in bits, rounded upward, of what is possible.

    >>> budget_text(Fraction(3, 10), "nats", 2), budget_text(Fraction(1, 10), "bits", 2), budget_text(Fraction(1), "nats", None)
    ('0.3 nats = 0.4329 bits of 1 bit possible', '0.1 bits of 1 bit possible', '1 nat = 1.443 bits')
    """
    told = amount_text(fraction_text(amount), units)
    if units == "nats":
        told += f" = {amount_text(text_above(upper_in(exact_fraction_above(amount), 'bits'), DIGITS), 'bits')}"
    return told if values is None else f"{told} {possible_text(values, 'bits')}"


def against_text(problem: Problem) -> str:
    """A problem's adversary in words, an entropy in bits beside the largest one there is.

    >>> import dalenius as dl
    >>> against_text(dl.WorstCaseLeakage(records=dl.Records(8, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1),
    ...     adversary=dl.EntropyAtLeast("5 nats")))
    'any adversary whose prior on the datasets has an entropy of at least 5 nats = 7.213 bits of 8'
    """
    adversary = problem.adversary
    if adversary is None:
        return "no adversary in particular"
    told = f"any adversary {adversary.of_dataset_in_words() if problem.about_secrets else adversary.in_words()}"
    if adversary.bound is None or not adversary.bound.amount:
        return told
    if adversary.bound.units == "max":
        told += f" = {amount_text(text_below(_least_entropy(adversary.bound, problem.records), DIGITS), 'bits')}"
    return f"{told} of {text_above(_largest_entropy(problem.records), DIGITS)}"


def _largest_entropy(records: Records) -> float:
    """log |X| in bits, rounded upward; exact where every alphabet is a power of two."""
    return exact_fraction_above(
        sum((times * Fraction(most_of(size, "bits")) for size, times in records.runs), Fraction(0))
    )


def _least_entropy(bound: EntropyAtLeast, records: Records) -> Number:
    """A share of log |X| in bits, rounded downward; exact where every alphabet is a power of two."""
    if all(size & (size - 1) == 0 for size, _ in records.runs):
        return bound.amount * Fraction(_largest_entropy(records))
    return lower_in(-exact_fraction_above(-bound.enclosure(records)[0]), "bits")


def relative_gap(lower: float | Fraction, upper: float | Fraction) -> float:
    """(upper - lower) / upper, rounded upward: 1 where nothing but 0 is known from below, 0 where both ends are one number.

    The value of a program can be negative: then it is the larger end's size that is divided by.

    >>> relative_gap(0.75, 1.0), relative_gap(0.0, 1e-13), relative_gap(0.0, 0.0), relative_gap(-2.0, -1.0), relative_gap(0, math.inf)
    (0.25, 1.0, 0.0, 0.5, inf)
    """
    if lower == upper:
        return 0.0
    if math.isinf(lower) or math.isinf(upper):
        return math.inf
    low, high = Fraction(lower), Fraction(upper)
    return exact_fraction_above((high - low) / max(abs(low), abs(high)))


def _ends_in(told: Proved | Progress, units: str) -> dict[str, Any]:
    return {"lower": lower_in(told.lower, units), "upper": upper_in(told.upper, units), "units": units}


class Proved:
    """Base of every result; `of` is its subject, in words."""

    lower: float
    upper: float
    units: str
    termination: Termination
    certificate: Certificate
    trace: tuple[Progress, ...]
    values: int | None
    alternating: tuple[Alternation, ...] = ()
    _what: ClassVar[str]

    def __init_subclass__(cls, of: str = "leakage") -> None:
        cls._what = of

    @property
    def most(self) -> float:
        """All there is to know, the logarithm of `values`, in `units`, rounded upward; infinite where it is no leakage."""
        return math.inf if self._of is None else most_of(self._of, self.units)

    @property
    def status(self) -> Status:
        """Conclusion from the interval; `termination` says why the work stopped."""
        if self.termination is Termination.INFEASIBLE:
            return Status.INFEASIBLE
        if self.termination is Termination.GAP_REACHED:
            return Status.CLOSED
        whole = self._of is not None and is_all(self.exact_ends[1], self.units, self._of)
        return Status.ALL_THERE_IS if whole else Status.OPEN

    @property
    def interval(self) -> str:
        """Both ends for people, with the unit, a leakage beside what is possible: a bound that is all there is to know says so."""
        return told_text(*self.exact_ends, self.units, self._of)

    def told(self, what: str) -> str:
        """The interval around what it is about, as in ``0.1 <= leakage <= 0.2 nats of 0.6932 nats possible``."""
        return f" <= {what} <= ".join(self.interval.split(" .. ", 1))

    @property
    def _of(self) -> int | None:
        return self.values if self.quantity is Quantity.LEAKAGE else None

    @property
    def proved_about(self) -> str:
        """``"model"``; or ``"matrix"``: only about the matrix in the certificate, as a mechanism of your own computed it.

        The checker does not know how that matrix comes from the mechanism's parameters; `dalenius.verify` then needs `resolved=True`.
        """
        return "model" if self.certificate.header.resolved is None else "matrix"

    @property
    def quantity(self) -> Quantity:
        """Quantity of the interval: a leakage, or a distortion."""
        return Quantity.of(self.units)

    @property
    def bounded(self) -> str:
        """The quantity in words."""
        return self.quantity.value

    def to(self, units: str) -> Self:
        """The same result, a design's with its audit, in ``"nats"`` or ``"bits"``, rounded outward.

        Raises
        ------
        InputError
            If the unit is another one, the result is not in nats any more, or it is no leakage, which has no other units.
        """
        if units == self.units:
            return self
        if self.quantity is not Quantity.LEAKAGE:
            counts = {
                Quantity.DISTORTION: "its own table's units",
                Quantity.OBJECTIVE: "weighted nats and distortions",
                Quantity.USEFULNESS: "a measure without unit",
            }[self.quantity]
            raise InputError(
                f"units: {self.quantity.with_article} counts in {counts}, so there is nothing to convert into {brief(units)}; "
                "what the mechanism leaks is in result.audit"
            )
        if self.units != "nats":
            raise InputError(f"convert from the result in nats, this one is in {self.units}")
        return dataclasses.replace(self, **self._in(units))  # type: ignore[type-var]

    def _in(self, units: str) -> dict[str, Any]:
        """Values of a result that have a unit, rounded outward from nats."""
        trace = (dataclasses.replace(moment, **_ends_in(moment, units)) for moment in self.trace)
        found = {**_ends_in(self, units), "trace": tuple(trace)}
        return found | {"alternating": tuple(one.to(units) for one in self.alternating)} if self.alternating else found

    def __str__(self) -> str:
        about = "" if self.proved_about == "model" else ", about the matrix in the certificate only"
        return f"{self.told(self._what)} ({self.termination.value}{about})"

    @property
    def gap(self) -> float:
        """(upper - lower) / upper, rounded upward; 1 where `lower` is 0 and `upper` is not, however small that is."""
        return relative_gap(*self.exact_ends)

    def _repr_html_(self) -> str:
        """For notebooks: the interval, in both units where it is a leakage in nats, and what is said about it."""
        shown = {self.units: self.interval}
        if self.units == "nats" and not math.isinf(self.upper):
            shown["bits"] = told_text(lower_in(self.lower, "bits"), upper_in(self.upper, "bits"), "bits", self._of)
        cells = [(f"{self.bounded} in {units}", text) for units, text in shown.items()]
        about = [
            ("relative gap", f"{gap_text(self.gap)}: {self.status.meaning}"),
            ("why it stopped", f"{self.termination.value}: {self.termination.advice}"),
        ]
        proof = [
            ("proved about", f"the {self.proved_about}, by {self.certificate!r}"),
            ("model", self.certificate.header.model),
        ]
        return table(type(self).__name__, [*cells, *about, *proof])

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as decimals, rounded outward, with as many digits as the width deserves; exact where the claim is short."""
        return ends_text(*self.exact_ends)

    @property
    def exact_ends(self) -> tuple[float | Fraction, float | Fraction]:
        """The ends as the certificate claims them, of which `lower` and `upper` are the next doubles; these in other units."""
        claim = self.certificate.header.claim
        if self.units != self.quantity.units or claim is None:
            return self.lower, self.upper
        below, above = math.nextafter(self.upper, -math.inf), math.nextafter(self.lower, math.inf)
        same = self.lower <= claim[0] < above and below < claim[1] <= self.upper
        return claim if same else (self.lower, self.upper)

    def require(self, *, gap: float) -> Self:
        """This result, if its relative gap is at most `gap`.

        Raises
        ------
        GapNotReachedError
            If the interval is wider.
        InputError
            If `gap` is no finite number of at least 0.
        """
        need_gap(gap)
        if not self.gap <= gap:
            raise GapNotReachedError(
                f"the relative gap is {gap_text(self.gap)}, asked for {gap} ({self.termination.value}: {self.termination.advice})"
            )
        return self
