"""What the proposers of designs share, and designs whose budget no mechanism meets.

Shared are the unit of claims, lower ends rounded, the line that proves 0, an audit's retreat, and why the work stopped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dalenius._prove import Proved
from dalenius.audits import Audit
from dalenius.audits.audit import LowerEnd
from dalenius.evidence import CERTAIN, MARGINS, Certificate, Lower, Upper, claim_text, step, unit_of
from dalenius.evidence.lower import DualLine, LowerLine
from dalenius.model import DesignProblem
from dalenius.outcome import Scope, Termination
from dalenius.results import DesignResult, Result, relative_gap
from dalenius.search import Clock
from dalenius.units import Quantity

L = TypeVar("L", bound=Lower)
U = TypeVar("U", bound=Upper)
NOTHING = (DualLine(None),)  # proves that the optimum is at least 0
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
    """Of an audit that has run, one of the upper ends that are quickly proved, and nothing from below."""

    audit: Audit
    candidate: int

    def run(self) -> None:
        """There is nothing to do."""

    def lowers(self) -> Iterator[LowerEnd]:
        yield self.audit.certain_lower()

    def uppers(self) -> Iterator[Upper]:
        yield self.audit.retreat(self.candidate)

    def result(self, proved: Proved[LowerEnd, Upper]) -> Result:
        return self.audit.result(proved)


@dataclass(frozen=True)
class ProvedElsewhere:
    """Of an audit that has run, its priors, and an upper end that was proved of this mechanism as a part of a design's certificate.

    The checker is asked once more about all but that end: its lines may take as long to check as they took to find.
    """

    audit: Audit
    upper: Upper

    def run(self) -> None:
        """There is nothing to do."""

    def lowers(self) -> Iterator[LowerEnd]:
        yield from self.audit.lowers()

    def uppers(self) -> Iterator[Upper]:
        yield self.audit.retreat(CERTAIN)

    def result(self, proved: Proved[LowerEnd, Upper]) -> Result:
        """With that end, and its lines in the certificate."""
        high, checked = self.upper.rounded, proved.certificate
        assert high is not None
        low = min(proved.lower, high)
        header = replace(checked.header, lower=claim_text(low), upper=claim_text(high))
        whole = Certificate.of(header, checked.lower_lines(), self.upper.lines)
        return self.audit.result(replace(proved, certificate=whole, lower=low, upper=high, upper_end=self.upper))


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
    if relative_gap(proved.lower, proved.upper) <= gap:
        return Termination.GAP_REACHED
    if proved.doubted:
        return Termination.PROOF_REFUSED
    return otherwise if proved.limit is None or otherwise is Termination.INTERRUPTED else proved.limit


@dataclass
class InfeasibleProposer:
    """That no mechanism meets the budget: decided exactly, so that there is nothing to search."""

    problem: DesignProblem
    clock: Clock

    def run(self) -> None:
        """Nothing to do."""

    def lowers(self) -> Iterator[Lower]:
        yield Lower(value=None, lines=())

    def uppers(self) -> Iterator[Upper]:
        yield Upper(value=None, lines=())

    def result(self, proved: Proved[Lower, Upper]) -> DesignResult:
        """No mechanism."""
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=None,
            audit=None,
            distortion=None,
            termination=Termination.INFEASIBLE,
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=self.clock.seconds,
            units=self.problem.quantity.units,
            refusals=proved.refusals,
        )
