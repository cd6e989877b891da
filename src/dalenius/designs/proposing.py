"""Designs as proposers: the ends that the exchange and the linear programs found, the retreats, and the answer once it is proved."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypeVar

from dalenius._prove import Proved, prove
from dalenius.designs.exchange import Exchange, exchange
from dalenius.designs.linear import LinearDesign, writable
from dalenius.evidence import MARGINS, Lower, Upper, step
from dalenius.evidence.lines import DualLine
from dalenius.model import DesignProblem, MinDistortion, MinLeakage
from dalenius.outcome import Scope, Termination
from dalenius.results import DesignResult, Result, relative_gap
from dalenius.search import Clock, Run

__all__ = ["ExchangeProposer", "InfeasibleProposer", "LinearProposer"]

L = TypeVar("L", bound=Lower)
U = TypeVar("U", bound=Upper)
ROUGH_MARGINS = (3e-6, 1e-4, 3e-3, 0.1)  # relative ones, for bounds whose multipliers doubles cannot hold any better
EPSILON = 2.0**-48  # relative error of a posterior as it is written, and of its logarithm, with room
NOTHING = (DualLine(None),)  # proves that the optimum is at least 0


@dataclass(frozen=True, kw_only=True)
class Handed(Upper):
    """An upper end: a mechanism in exact rows, and the proved audit of it."""

    rows: list[list[Fraction]]
    audit: Result


def distortion_unit(problem: DesignProblem) -> float:
    """A power of 2 of the size of the largest distortion, which claims about distortions are rounded in; 1 for leakage."""
    largest = float(problem.cost.max())
    return 1.0 if isinstance(problem, MinLeakage) or not largest else math.ldexp(1.0, math.frexp(largest)[1])


@dataclass
class ExchangeProposer:
    """What an exchange, or the alternating scheme on it, found about Problem 2 or 3."""

    exchange: Exchange

    @classmethod
    def of(cls, problem: DesignProblem, search: Run, known: DesignResult | None = None) -> Self:
        """For a feasible problem; it begins with the priors of a design that differs in its budget only."""
        run = exchange(problem, search)
        if known is not None:
            run.recall(known.certificate)
        return cls(run)

    def run(self) -> None:
        """Exchange."""
        self.exchange.run()

    def lowers(self) -> Iterator[Lower]:
        """The dual's bound, rounded downward ever further; at last 0. The checker refuses quickly."""
        run, unit = self.exchange, distortion_unit(self.exchange.problem)
        found, lines = min(run.lower, run.provable()), run.lines()
        roundoff = EPSILON * sum(run.dual.weights) / unit  # the priors' scores are differences of what they weigh
        for margin in (*MARGINS, *ROUGH_MARGINS):
            relative = margin * (1.0 + found / unit)
            end = Lower(value=found, margin=relative, unit=unit, lines=lines, candidate=step(margin, roundoff))
            if not end.rounded:
                break
            yield end
        yield Lower(value=0.0, lines=NOTHING, candidate=2)

    def uppers(self) -> Iterator[Handed]:
        """One mechanism after the other with its proved audit, the best first."""
        run, problem = self.exchange, self.exchange.problem
        for number, _ in enumerate(run.outcomes()):
            audit = prove(problem.release(run.rows), run.audit)
            constant = run.constant_rows(run.rows)
            silent = constant if isinstance(problem, MinLeakage) else constant and problem.budget == 0
            value: float | Fraction = problem.expected_distortion(run.rows)
            if isinstance(problem, MinLeakage):
                value = Fraction(0) if constant else Fraction(audit.upper)
            yield Handed(
                value=value,
                unit=distortion_unit(problem),
                lines=() if silent else audit.certificate.upper_lines(),
                mechanism=run.row_texts(),
                candidate=number,
                doubtful=number < len(run.hopeful),
                rows=run.rows,
                audit=audit,
            )

    def result(self, proved: Proved[Lower, Handed]) -> DesignResult:
        """The mechanism, and the proved interval for the best there is."""
        run, problem = self.exchange, self.exchange.problem
        handed = proved.upper_end
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=problem.designed(handed.rows),
            audit=handed.audit,
            distortion=problem.expected_distortion(handed.rows),
            termination=_termination(proved, run.gap, run.termination),
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=run.clock.seconds,
            rounds=run.rounds,
            units=problem.quantity.units,
            refusals=proved.refusals,
            explanation=tuple(run.orbits.explain()),
            trace=tuple(run.clock.trace),
        )


@dataclass
class LinearProposer:
    """What the linear program of a design under a privacy notion found: exact ends."""

    design: LinearDesign

    @classmethod
    def of(cls, problem: DesignProblem, search: Run) -> Self:
        """For a feasible problem with a privacy notion."""
        assert isinstance(problem, MinDistortion)
        return cls(LinearDesign(problem, search))

    def run(self) -> None:
        """Solve."""
        self.design.run()

    def lowers(self) -> Iterator[Lower]:
        """The multipliers' bound, then 0."""
        run, unit = self.design, distortion_unit(self.design.problem)
        end = Lower(value=run.lower, unit=unit, exact=self._exact, lines=tuple(run.lines()))
        if end.rounded:
            yield end
        yield Lower(value=Fraction(0), unit=unit, lines=NOTHING, candidate=1)

    def uppers(self) -> Iterator[Upper]:
        """The mechanism's distortion: exact, and met by construction."""
        run, unit = self.design, distortion_unit(self.design.problem)
        yield Upper(value=run.upper, unit=unit, exact=self._exact, lines=(), mechanism=run.row_texts())

    @property
    def _exact(self) -> bool:
        """Whether both ends are one number, which can be written."""
        return self.design.lower == self.design.upper and writable([self.design.lower])

    def result(self, proved: Proved[Lower, Upper]) -> DesignResult:
        """The mechanism, and the proved interval for the best there is."""
        run = self.design
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=run.problem.designed(run.rows),
            audit=None,
            distortion=run.upper,
            termination=_termination(proved, run.search.limits.gap, run.termination),
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=run.clock.seconds,
            rounds=run.rounds,
            units=run.problem.quantity.units,
            exp_epsilon=run.problem.exp_epsilon(run.rows),
            refusals=proved.refusals,
            trace=tuple(run.clock.trace),
        )


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


def _termination(proved: Proved[L, U], gap: float, otherwise: Termination) -> Termination:
    """Why the work stopped."""
    if relative_gap(proved.lower, proved.upper) <= gap:
        return Termination.GAP_REACHED
    return Termination.PROOF_REFUSED if proved.doubted else otherwise
