"""What every answer can be asked: an interval, what it measures and what proves it."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Self, TypedDict

from dalenius.errors import GapNotReachedError, InputError, brief
from dalenius.evidence import Certificate, exact_fraction_above
from dalenius.intervals import ends_text, gap_text
from dalenius.notebook import table
from dalenius.outcome import Status, Termination
from dalenius.results.possible import is_all, most_of, told_text
from dalenius.search import Progress, need_gap
from dalenius.units import Quantity, lower_in, upper_in


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


class _Bounds(TypedDict):
    """What of a result has a unit."""

    lower: float
    upper: float
    units: str
    trace: tuple[Progress, ...]


class Proved:
    """What every result can be asked."""

    lower: float
    upper: float
    units: str
    termination: Termination
    certificate: Certificate
    trace: tuple[Progress, ...]
    values: int | None

    @property
    def most(self) -> float:
        """All there is to know, the logarithm of `values`, in `units`, rounded upward; infinite where it is no leakage."""
        return math.inf if self._of is None else most_of(self._of, self.units)

    @property
    def status(self) -> Status:
        """What the interval comes to; `termination` says why the work stopped."""
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
        """What the interval measures: a leakage, or a distortion."""
        return Quantity.of(self.units)

    def need_leakage_in_nats(self, units: str) -> None:
        if self.quantity is not Quantity.LEAKAGE:
            counts = (
                "its own table's units" if self.quantity is Quantity.DISTORTION else "weighted nats and distortions"
            )
            raise InputError(
                f"units: {self.quantity.with_article} counts in {counts}, so there is nothing to convert into {brief(units)}; "
                "what the mechanism leaks is in result.audit"
            )
        if self.units != "nats":
            raise InputError(f"convert from the result in nats, this one is in {self.units}")

    def bounds_in(self, units: str) -> _Bounds:
        """Both ends and the trace, rounded outward from nats."""
        trace = (
            dataclasses.replace(
                moment, lower=lower_in(moment.lower, units), upper=upper_in(moment.upper, units), units=units
            )
            for moment in self.trace
        )
        return {
            "lower": lower_in(self.lower, units),
            "upper": upper_in(self.upper, units),
            "units": units,
            "trace": tuple(trace),
        }

    @property
    def gap(self) -> float:
        """(upper - lower) / upper, rounded upward; 1 where `lower` is 0 and `upper` is not, however small that is."""
        return relative_gap(*self.exact_ends)

    def _repr_html_(self) -> str:
        """For notebooks: the interval, in both units where it is a leakage in nats, and what is said about it."""
        shown = {self.units: self.interval}
        if self.units == "nats" and not math.isinf(self.upper):
            shown["bits"] = told_text(lower_in(self.lower, "bits"), upper_in(self.upper, "bits"), "bits", self._of)
        cells = [(f"{self.quantity.value} in {units}", text) for units, text in shown.items()]
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
