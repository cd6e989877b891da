"""The answers: an interval, what it measures and what proves it, why the work stopped, and what is claimed."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from dalenius.alternation import Alternation
from dalenius.errors import GapNotReachedError, InputError
from dalenius.evidence import Certificate, exact_fraction_above
from dalenius.exact import brief
from dalenius.intervals import ends_text, gap_text
from dalenius.model.mechanisms.designed import DesignedMechanism
from dalenius.notebook import table
from dalenius.outcome import ConstraintPrice, Refusal, Scope, SolverUse, Termination, TermValue
from dalenius.search import Progress, need_gap
from dalenius.units import Quantity, lower_in, unit_size, upper_in

__all__ = ["DesignResult", "RecordProof", "Result", "Witness", "relative_gap"]


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
    alternating: tuple[Alternation, ...]


@dataclass(frozen=True)
class Witness:
    """An adversary's prior that attains the lower bound.

    Attributes
    ----------
    record : int
    masses : (letters, channel inputs)
        P(X_record = letter, input); inputs are the query's values (or datasets). Against `EntropyAtLeast` the mass of a pair is spread
        evenly over its datasets. Against `ProductPriors` the other records are known, so each letter a has one input k_a, with all its
        mass pi_a. Against a `PriorSet` these are the sums of prior number `prior` over the datasets of each pair.
    inputs : tuple of int
        The query's values (or the dataset indices).
    prior : int or None
        Which of the listed priors it is, counted from 0; None against another adversary than a `PriorSet`.
    """

    record: int
    masses: NDArray[np.float64] = field(repr=False)
    inputs: tuple[int, ...] = field(repr=False)
    prior: int | None = None

    @property
    def letter_law(self) -> NDArray[np.float64]:
        """The prior of the record itself."""
        return np.asarray(self.masses.sum(axis=1))


@dataclass(frozen=True)
class RecordProof:
    """How the upper bound was proved for one kind of record: `times` records, of which `record` is the first.

    `method` is ``letters`` (the entropy of the record), ``capacity`` (of the whole channel), ``dual``, ``vertices``, ``posterior``,
    ``dual tree``, ``uniform`` (the one prior there is) or ``earlier`` (the proof of the result given as `known`); `leaves` counts the
    leaves. Against `ProductPriors` it is ``selections``, and `leaves` counts output laws; against a `PriorSet` ``evaluated``, which
    takes no leaves.
    """

    record: int
    times: int
    method: str
    leaves: int


class _Proved:
    """What every result can be asked."""

    lower: float
    upper: float
    units: str
    termination: Termination
    certificate: Certificate
    trace: tuple[Progress, ...]
    alternating: tuple[Alternation, ...]

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

    def _need_leakage_in_nats(self, units: str) -> None:
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

    def _bounds_in(self, units: str) -> _Bounds:
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
            "alternating": tuple(one.to(units) for one in self.alternating),
        }

    @property
    def gap(self) -> float:
        """Of the interval, relative."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """For notebooks: the interval, in both units where it is a leakage in nats, and what is said about it."""
        shown = {self.units: self.ends}
        if self.units == "nats" and not math.isinf(self.upper):
            shown["bits"] = ends_text(lower_in(self.lower, "bits"), upper_in(self.upper, "bits"))
        cells = [(f"{self.quantity.value} in {units}", " .. ".join(ends)) for units, ends in shown.items()]
        about = [
            ("relative gap", gap_text(self.gap)),
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
        return ends_text(*self._exact)

    @property
    def _exact(self) -> tuple[float | Fraction, float | Fraction]:
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


@dataclass(frozen=True)
class Result(_Proved):
    """A certified interval for the worst-case leakage.

    Attributes
    ----------
    lower, upper : float
        ``lower <= L <= upper`` in `units`; proved by `certificate`, which the independent checker accepted before this object
        was returned.
    record : int or None
        The record of the witness (None if no record can leak anything).
    witness : Witness or None
        A prior whose leakage is at least `lower`; None where `lower` is 0 for want of anything better.
    termination : Termination
    scope : Scope
        GLOBAL: the interval holds for every adversary of the problem.
    certificate : Certificate
        Evidence, to be checked with `dalenius.verify` or ``python -m dalenius_check``.
    seconds : float
    records : tuple of RecordProof
    refusals : tuple of Refusal
        Proofs that the checker refused on the way: by rounding, as a rule; any other comes with a `ProofRefusedWarning`.
    alternating : tuple of Alternation
        With ``method="alternating"``: for each kind of record its sweeps, and what no single block could gain where it rested.
    solvers : tuple of SolverUse
        With ``method="alternating"``: which solver solved how many programs of which block, and which end rests on its answers.
    trace : tuple of Progress
        How the bounds, in `units` and before the final rounding, moved with time; `dalenius.report.trace_picture` draws it.
    """

    lower: float
    upper: float
    record: int | None
    witness: Witness | None
    termination: Termination
    scope: Scope
    certificate: Certificate
    seconds: float
    records: tuple[RecordProof, ...] = ()
    units: str = "nats"
    refusals: tuple[Refusal, ...] = ()
    alternating: tuple[Alternation, ...] = ()
    solvers: tuple[SolverUse, ...] = ()
    trace: tuple[Progress, ...] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """(upper - lower) / upper, rounded upward; 1 where `lower` is 0 and `upper` is not, however small that is."""
        return relative_gap(*self._exact)

    def to(self, units: str) -> Result:
        """The same result in ``"nats"`` or ``"bits"``, rounded outward.

        Raises
        ------
        InputError
            If the unit is another one, or the result is not in nats any more.
        """
        if units == self.units:
            return self
        self._need_leakage_in_nats(units)
        return dataclasses.replace(self, **self._bounds_in(units))

    def __str__(self) -> str:
        low, high = self.ends
        about = "" if self.proved_about == "model" else ", about the matrix in the certificate only"
        return f"{low} <= leakage <= {high} {self.units} ({self.termination.value}{about})"


@dataclass(frozen=True)
class DesignResult(_Proved):
    """A mechanism, and a certified interval for the best there is.

    Attributes
    ----------
    lower, upper : float
        ``lower <= V <= upper`` in `units`, V the least leakage (`MinLeakage`), the least expected distortion (`MinDistortion`), or the
        least objective of several terms, of the mechanisms of the class that meet the budget; proved by `certificate`. Infinite where
        no mechanism meets it (`feasible`).
    mechanism : DesignedMechanism or None
        It meets the budget exactly, and attains `upper`. None where there is none.
    audit : Result or None
        The audit of this very mechanism, with a certificate of its own. None for a design under a privacy notion.
    distortion : Fraction or None
        Its expected distortion, exactly.
    exp_epsilon : Fraction or None
        For a design under a privacy notion: the least e^epsilon for which the mechanism is private, exactly.
    termination : Termination
    scope : Scope
        GLOBAL: the interval is about all mechanisms of the class, and all adversaries of the problem.
    certificate : Certificate
        Of the design, to be checked with `dalenius.verify` or ``python -m dalenius_check``.
    seconds : float
    rounds : int
        Master programs solved.
    units : str
        Of the interval and the trace: ``"nats"``, ``"bits"``, ``"distortion"`` (as the costs are), or ``"objective"`` (several terms).
        The audit has its own.
    constraints : tuple of ConstraintPrice
        Of a design with constraints: which bind, at what price, and what room the mechanism leaves; where nothing is feasible (proved)
        those in conflict.
    objective : tuple of TermValue
        Of a design with an objective of several terms: what each comes to for the mechanism, and what it weighs in the proof.
    refusals : tuple of Refusal
        As of a `Result`; those of the mechanism's audit are its own.
    alternating : tuple of Alternation
        With ``method="alternating"``: the scheme's sweeps, its cycle if it ran into one, and what each block could gain in the end.
    solvers : tuple of SolverUse
        Which solver solved how many master programs, and which end of the interval rests on its answers.
    trace : tuple of Progress
        How the bounds moved with time, before they were proved; the upper one as the search saw it.
    largest : bool
        Of a `MaxInformation`: V is the largest information, and the mechanism attains `lower`.
    """

    lower: float
    upper: float
    mechanism: DesignedMechanism | None
    audit: Result | None
    distortion: Fraction | None
    termination: Termination
    scope: Scope
    certificate: Certificate
    seconds: float
    rounds: int = 0
    units: str = "nats"
    exp_epsilon: Fraction | None = None
    constraints: tuple[ConstraintPrice, ...] = ()
    objective: tuple[TermValue, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    alternating: tuple[Alternation, ...] = ()
    solvers: tuple[SolverUse, ...] = ()
    explanation: tuple[str, ...] = field(default=(), repr=False)
    trace: tuple[Progress, ...] = field(default=(), repr=False)
    largest: bool = False

    @property
    def feasible(self) -> bool:
        """Whether some mechanism meets the budget."""
        return self.mechanism is not None

    @property
    def gap(self) -> float:
        """(upper - lower) / upper, rounded upward, as of a `Result`; 0 where nothing meets the budget, which is proved."""
        return relative_gap(*self._exact) if self.feasible else 0.0

    @property
    def leakage(self) -> tuple[float, float] | None:
        """What the mechanism leaks to the problem's adversary: a proved interval in the audit's units, exactly 0 if it is constant.

        None without a mechanism, or without an adversary.
        """
        if self.audit is None or self.mechanism is None:
            return None
        constant = all(row == self.mechanism.rows[0] for row in self.mechanism.rows)
        return (0.0, 0.0) if constant else (self.audit.lower, self.audit.upper)

    def to(self, units: str) -> DesignResult:
        """The same result with its audit in ``"nats"`` or ``"bits"``, rounded outward.

        Raises
        ------
        InputError
            If the unit is another one, the result is not in nats any more, or what is minimised is a distortion, which has no other
            units.
        """
        if units == self.units:
            return self
        self._need_leakage_in_nats(units)
        audit = None if self.audit is None else self.audit.to(units)
        return dataclasses.replace(self, audit=audit, **self._bounds_in(units))

    def with_leakages_in(self, units: str) -> DesignResult:
        """The same result with every leakage in it in ``"nats"`` or ``"bits"``; a distortion stays as it is.

        Raises
        ------
        InputError
            If the unit is another one, or the result is not in nats any more.
        """
        if self.quantity is Quantity.LEAKAGE:
            return self.to(units)
        unit_size(units)
        objective = tuple(_in(term, units) for term in self.objective)
        return dataclasses.replace(
            self, audit=None if self.audit is None else self.audit.to(units), objective=objective
        )

    def explain(self) -> str:
        """Which symmetries of the instance were used, and why they lose nothing."""
        return "\n".join(self.explanation)

    def __str__(self) -> str:
        if not self.feasible:
            met = " and ".join(map(str, self.constraints)) or "the budget"
            return f"no mechanism meets {met} (proved)"
        unit = f" {self.units}" if self.quantity is Quantity.LEAKAGE else ""
        low, high = self.ends
        return f"{low} <= {self.optimum} <= {high}{unit} ({self.termination.value})"

    @property
    def optimum(self) -> str:
        """What V is, in words."""
        return "largest information" if self.largest else f"least {self.quantity.value}"


def _in(term: TermValue, units: str) -> TermValue:
    """The same with a leakage in these units, rounded outward from nats."""
    if term.units != "nats":
        return term
    lower, upper = lower_in(float(term.lower), units), upper_in(float(term.upper), units)
    return dataclasses.replace(term, lower=lower, upper=upper, units=units)
