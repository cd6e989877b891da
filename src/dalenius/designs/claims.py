"""Base of the proposers of designs, and designs whose budget no mechanism meets.

Shared are the unit of claims, lower ends rounded, an audit's retreat, why the work stopped, and the answer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Self, TypeVar

from dalenius._prove import Proved
from dalenius.audits.audit import Audit, LowerEnd
from dalenius.designs.rational import weight_texts
from dalenius.designs.terms import Terms
from dalenius.evidence import CERTAIN, MARGINS, Lower, Upper, claim_text, step, unit_of
from dalenius.evidence.lower import (
    AlsoLine,
    ConeLine,
    DualLine,
    LowerLine,
    MultiplierLine,
    PriorLine,
    RatioLine,
    TermLine,
    WeightLine,
)
from dalenius.model import DesignProblem, MaxInformation
from dalenius.outcome import ConstraintPrice, Scope, Termination
from dalenius.results import DesignResult, Result, relative_gap
from dalenius.search import Run
from dalenius.units import Quantity

L = TypeVar("L", bound=Lower)
U = TypeVar("U", bound=Upper)
Rows = list[list[Fraction]]
ROUGH_MARGINS = (3e-6, 1e-4, 3e-3, 0.1)  # relative ones, for bounds whose multipliers doubles cannot hold any better
EPSILON = 2.0**-48  # relative error of a posterior as it is written, and of its logarithm, with room


def rounded_lowers(problem: DesignProblem, found: float, lines: tuple[LowerLine, ...], size: float) -> Iterator[Lower]:
    """A bound, rounded downward ever further, and at last 0.

    Parameters
    ----------
    size : float
        What the bound is a difference of: the priors' scores are differences of what they weigh.
    """
    unit = distortion_unit(problem) if problem.quantity is Quantity.DISTORTION else unit_of(found)
    for margin in (*MARGINS, *ROUGH_MARGINS):
        relative, candidate = margin * (1.0 + found / unit), step(margin, EPSILON * size / unit)
        end = Lower(
            value=found, margin=relative, unit=unit, lines=lines, candidate=candidate, doubtful=found < EPSILON * size
        )
        if not end.rounded:
            break
        yield end
    yield Lower(value=0.0, lines=NOTHING, candidate=CERTAIN)


@dataclass(frozen=True)
class Retreat:
    """Of an audit that has run, one of the upper ends that are quickly proved, the one that is certain, and nothing from below."""

    audit: Audit
    candidate: int

    def run(self) -> None:
        """There is nothing to do."""

    def lowers(self) -> Iterator[LowerEnd]:
        yield self.audit.certain_lower()

    def uppers(self) -> Iterator[Upper]:
        yield from map(self.audit.retreat, sorted({self.candidate, CERTAIN}))

    def result(self, proved: Proved[LowerEnd, Upper]) -> Result:
        return self.audit.result(proved)


def distortion_unit(problem: DesignProblem) -> float:
    """A power of 2 of the size of the largest distortion, which claims about distortions are rounded in; 1 for all others."""
    largest = float(problem.cost.max()) if problem.quantity is Quantity.DISTORTION else 0.0
    return math.ldexp(1.0, math.frexp(largest)[1]) if largest else 1.0


def with_doubts(proved: Proved[L, U], audits: Sequence[Result], shown: Result | None) -> Proved[L, U]:
    """And the refusals of other audits than the one that is shown, as far as neither rounding nor a limit explains them."""
    others = (refusal for audit in audits if audit is not shown for refusal in audit.refusals)
    doubts = (refusal for refusal in others if not (refusal.rounding or refusal.limit))
    return replace(proved, refusals=(*proved.refusals, *doubts))


def termination_of(proved: Proved[L, U], gap: float, otherwise: Termination) -> Termination:
    """Why the work stopped."""
    if math.isinf(proved.lower):
        return Termination.INFEASIBLE
    if relative_gap(proved.lower, proved.upper) <= gap:
        return Termination.GAP_REACHED
    if proved.doubted:
        return Termination.PROOF_REFUSED
    return otherwise if proved.limit is None or otherwise is Termination.INTERRUPTED else proved.limit


@dataclass(frozen=True, kw_only=True)
class MadeUpper(Upper):
    """An upper end, and the mechanism in exact rows; `ends` of the terms of what is minimised."""

    rows: Rows | None = None
    ends: tuple[Fraction, ...] = ()

    @classmethod
    def of(cls, problem: DesignProblem, terms: Terms, rows: Rows, ends: tuple[Fraction, ...], **more: Any) -> Self:
        """Make the claim from the ends of the objective's terms."""
        return cls(
            value=terms.exactly(ends),
            unit=distortion_unit(problem),
            terms=None if problem.objective is None else tuple(map(claim_text, ends)),
            mechanism=weight_texts(rows),
            rows=rows,
            ends=ends,
            **more,
        )


TINY = 1e-6  # share of the largest price, or of all weights, below which one counts as none


def constraint_prices(
    kinds: Mapping[int, str],
    totals: Mapping[int, float],
    rows: Mapping[int, Mapping[int, float]],
    slack: Callable[[int], Fraction | float | None],
    *,
    of: str,
    per: Mapping[int, str] | None = None,
    conflict: bool = False,
) -> tuple[ConstraintPrice, ...]:
    """An entry for each constraint, or for those in conflict, and for what stands beside them, with a number below 0, if it binds.

    Parameters
    ----------
    kinds, totals, rows, slack
        By number: the kind, the sum of multipliers, those by row, the room.
    of, per
        The unit of the optimum, and of a right-hand side by number; ``"unit"`` where it is not listed.
    """
    least, found = TINY * max(totals.values(), default=0.0), []
    for j, kind in kinds.items():
        price, own = (totals.get(j, 0.0), j >= 0)
        price = price if price > least else 0.0
        if price or (own and not conflict):
            of_rows = [(r, p) for r, p in sorted(rows.get(j, {}).items()) if abs(p) > least]
            slope = -(sum(p for _, p in of_rows) if j in rows else price)
            found.append(
                ConstraintPrice(
                    j if own else None,
                    kind,
                    price,
                    slack(j),
                    tuple(of_rows) if own else (),
                    slope=0.0 if conflict or not price else slope,
                    units=f"{of} per {(per or {}).get(j, 'unit')}",
                )
            )
    return tuple(found)


class DesignProposer(ABC, Generic[U]):
    """Base of the proposers of designs: why they stopped, and their answer.

    Attributes
    ----------
    rounds : int
        How many programs were solved.
    """

    problem: DesignProblem | MaxInformation
    search: Run
    rounds: int = 0

    @property
    def termination(self) -> Termination:
        """Why the work stopped, where the gap was not reached."""
        if self.search.clock.interrupted:
            return Termination.INTERRUPTED
        return Termination.TIME_LIMIT if self.search.clock.expired else Termination.STALLED

    @abstractmethod
    def run(self) -> None:
        """Search until the gap is reached or a limit is met."""

    @abstractmethod
    def lowers(self) -> Iterator[Lower]:
        """Lower ends, the best first; the last one needs no search and is certain."""

    @abstractmethod
    def uppers(self) -> Iterator[U]:
        """Upper ends, the best first; the last one needs no search and is certain."""

    @abstractmethod
    def result(self, proved: Proved[Lower, U]) -> DesignResult:
        """The answer, once it is proved."""

    def answer(self, proved: Proved[Lower, U], rows: Rows | None, **more: Any) -> DesignResult:
        """The mechanism with these rows, the proved interval for the best there is, and more."""
        problem, design, made = self.problem, isinstance(self.problem, DesignProblem), rows is not None
        private = made and problem.privacy is not None
        common: dict[str, Any] = {
            "mechanism": problem.designed(rows) if rows is not None else None,
            "audit": None,
            "distortion": problem.expected_distortion(rows) if made and design else None,  # type: ignore[union-attr, arg-type]
            "termination": termination_of(proved, self.search.limits.gap, self.termination),
            "exp_epsilon": problem.exp_epsilon(rows) if private else None,  # type: ignore[union-attr, arg-type]
            "rounds": self.rounds,
            "values": problem.most_values,
        }
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=self.search.clock.seconds,
            units=problem.quantity.units,
            refusals=proved.refusals,
            trace=tuple(self.search.clock.trace),
            **{**common, **more},
        )


@dataclass(frozen=True, eq=False)
class Most:
    """A mechanism, exactly, and what it reveals in doubles.

    Attributes
    ----------
    rows : a private mechanism, or one within the limit
    attained : float
        What it tells, in nats.
    """

    rows: Rows
    attained: float


LEAST = 1e-3  # nats that rounding is a share of, at least


class MostProposer(DesignProposer[Upper]):
    """Proposers of mechanisms that reveal most: their lower ends and their answer are those of the mechanism found.

    Attributes
    ----------
    found : Most
        Set by `run`.
    """

    problem: MaxInformation
    found: Most

    def lowers(self) -> Iterator[Lower]:
        """Information of the mechanism, rounded downward ever further; at last that of a constant one."""
        for margin in MARGINS:
            end = Lower(value=self.found.attained, margin=margin * (LEAST + self.found.attained), lines=())
            if not end.rounded:
                break
            yield end
        yield Lower(value=0.0, lines=(), candidate=CERTAIN)

    def result(self, proved: Proved[Lower, Upper]) -> DesignResult:
        """The mechanism, and the proved interval for the most that any tells."""
        return self.answer(proved, self.found.rows, largest=True)


@dataclass
class InfeasibleProposer(DesignProposer[Upper]):
    """That no mechanism meets the budget: decided exactly, so that there is nothing to search."""

    problem: DesignProblem
    search: Run

    def run(self) -> None:
        """Nothing to do."""

    def lowers(self) -> Iterator[Lower]:
        yield Lower(value=None, lines=())

    def uppers(self) -> Iterator[Upper]:
        yield Upper(value=None, lines=())

    def result(self, proved: Proved[Lower, Upper]) -> DesignResult:
        """No mechanism."""
        return self.answer(proved, None, values=None)


# The lines of a bound on the best design: one writer for whatever multipliers it has.


NOTHING = (DualLine(None),)  # proves that the optimum is at least 0


def dual_lines(
    *,
    budget: str = "0",
    priors: Iterable[PriorLine] = (),
    ratios: Iterable[RatioLine] = (),
    weights: Iterable[WeightLine] = (),
    terms: Iterable[TermLine] = (),
    prices: Mapping[int, Mapping[int, str]] | None = None,
    cones: Mapping[int, Sequence[str]] | None = None,
    tangents: Iterable[LowerLine] = (),
    also: Iterable[AlsoLine] = (),
) -> tuple[LowerLine, ...]:
    """In the order of docs/certificate-format.md.

    Parameters
    ----------
    prices : mapping of constraint -> mapping of row -> multiplier
    cones : mapping of constraint -> (t, u...)
    """
    return (
        DualLine(budget),
        *priors,
        *ratios,
        *weights,
        *terms,
        *(MultiplierLine(j, tuple(sorted(rows.items()))) for j, rows in sorted((prices or {}).items())),
        *(ConeLine(j, t, tuple(u)) for j, (t, *u) in sorted((cones or {}).items())),
        *tangents,
        *also,
    )
