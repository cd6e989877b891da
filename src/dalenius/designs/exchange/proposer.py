"""The exchange as a proposer: its bound from below, rounded ever further, and its mechanisms with their proved audits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import takewhile
from typing import Self

from dalenius._prove import Proved, prove
from dalenius.audits import Audit
from dalenius.designs.claims import (
    ProvedElsewhere,
    Retreat,
    distortion_unit,
    rounded_lowers,
    termination_of,
    with_doubts,
)
from dalenius.designs.exchange.audits import AuditedMechanism
from dalenius.designs.exchange.bound import MasterBound
from dalenius.designs.exchange.goal import Goal
from dalenius.designs.exchange.loop import Exchange
from dalenius.designs.exchange.mechanisms import Rows
from dalenius.designs.rational import DENOMINATOR, weight_texts
from dalenius.evidence import CERTAIN, QUICK, Certificate, Lower, Upper, matrix_text, short_text
from dalenius.evidence.lower import DualLine, Matrix, PriorLine
from dalenius.evidence.upper import UpperLine
from dalenius.model import DesignProblem, MinDistortion, MinLeakage
from dalenius.outcome import Scope
from dalenius.results import DesignResult, Result
from dalenius.search import Run


def bound_lines(bound: MasterBound) -> tuple[DualLine | PriorLine, ...]:
    """The lines that prove a bound whose priors are on the problem's own inputs; the one that proves 0, if there are none."""
    if not bound.priors or bound.value <= 0.0:
        return (DualLine(None),)
    listed = (
        PriorLine(
            short_text(part.weight),
            part.prior.record,
            matrix_text(part.prior.masses) if part.prior.hint is None else part.prior.hint,
            matrix_text(part.posteriors),
        )
        for part in bound.priors
    )
    return (DualLine(short_text(bound.budget_multiplier)), *listed)


def proved_value(bound: MasterBound, goal: Goal) -> float:
    """What the lines prove, in doubles, and no more than the bound says."""
    if not bound.priors:
        return 0.0
    value = goal.proved(bound)
    return min(bound.value, value) if math.isfinite(value) else 0.0


def mechanism_text(rows: list[list[Fraction]]) -> Matrix:
    """The mechanism as whole weights, each row with the same sum."""
    return weight_texts(rows, DENOMINATOR)


LONG = 1000  # lines of an audit's proof that the checker is asked about once, as a part of the design's
ROUNDED = 1.0 + 2.0**-50  # a budget in nats as a double is off by at most three roundings


@dataclass(frozen=True, kw_only=True)
class AuditedUpper(Upper):
    """An upper end: a mechanism in exact rows, the audit of it, and the solver that found what it is made from.

    A long audit is not proved before this end is, of which its lines are a part.
    """

    rows: Rows
    audit: Result | ProvedElsewhere
    found_by: str


@dataclass
class ExchangeProposer:
    """What an exchange, or the alternating scheme on it, found about Problem 2 or 3."""

    exchange: Exchange
    audits: list[Result] = field(default_factory=list, init=False)

    @classmethod
    def of(cls, problem: DesignProblem, search: Run, known: Certificate | None = None) -> Self:
        """For a feasible problem; it begins with the priors of a design that differs in its budget only."""
        run = Exchange(problem, search)
        if known is not None:
            run.recall(known)
        return cls(run)

    def run(self) -> None:
        """Exchange."""
        self.exchange.run()

    def lowers(self) -> Iterator[Lower]:
        """The master's bound, rounded downward ever further; at last 0. The checker refuses quickly."""
        run = self.exchange
        bound = run.bound.on_inputs(run.orbits)
        yield from rounded_lowers(run.problem, proved_value(bound, run.goal), bound_lines(bound), run.bound.weight)

    def uppers(self) -> Iterator[AuditedUpper]:
        """One mechanism after the other with its proved audit, the best first; at last one that needs no search.

        That is in Problem 3 the constant mechanism, and in Problem 2 the last one again with short bounds of its leakage.
        """
        found = list(self.exchange.candidates())
        last = None if isinstance(self.exchange.problem, MinLeakage) else found.pop()
        for number, mechanism in enumerate(found):
            if len(mechanism.audit.proof()) <= LONG:
                yield self._with(self._proved(mechanism, mechanism.audit), number, mechanism)
            else:
                yield from self._with_long_audit(number, mechanism)
        if last is not None:
            yield self._with(self._proved(last, last.audit), CERTAIN, last)
            return
        for candidate in (QUICK, CERTAIN):
            yield self._with(self._proved(found[-1], Retreat(found[-1].audit, candidate)), candidate, found[-1])

    def _with_long_audit(self, number: int, found: AuditedMechanism) -> Iterator[AuditedUpper]:
        """What it leaks at most is proved here first: in Problem 3 that it is the budget, in Problem 2 rounded ever further."""
        problem, ends = self.exchange.problem, found.audit.uppers()
        if isinstance(problem, MinDistortion):
            ends = iter([replace(next(ends), value=problem.max_leakage_nats * ROUNDED, margin=0.0)])
        for end in takewhile(lambda end: end.candidate == 0, ends):
            yield self._upper(number, found, ProvedElsewhere(found.audit, end), end.rounded or 0.0, end.lines)

    def _with(self, audit: Result, number: int, found: AuditedMechanism) -> AuditedUpper:
        return self._upper(number, found, audit, audit.upper, audit.certificate.upper_lines())

    def _upper(
        self,
        number: int,
        found: AuditedMechanism,
        audit: Result | ProvedElsewhere,
        leaks: float,
        lines: tuple[UpperLine, ...],
    ) -> AuditedUpper:
        problem = self.exchange.problem
        constant = problem.tied.is_constant(found.rows)
        if isinstance(problem, MinLeakage):
            needless, value = constant, Fraction(0) if constant else Fraction(leaks)
        else:
            needless, value = constant and problem.budget == 0, problem.expected_distortion(found.rows)
        return AuditedUpper(
            value=value,
            unit=distortion_unit(problem),
            lines=() if needless else lines,
            mechanism=mechanism_text(found.rows),
            candidate=number,
            doubtful=found.doubtful,
            rows=found.rows,
            audit=audit,
            found_by=found.found_by,
        )

    def _proved(self, found: AuditedMechanism, proposed: Audit | Retreat) -> Result:
        self.audits.append(prove(self.exchange.problem.release(found.rows), proposed, self.exchange.search))
        return self.audits[-1]

    def result(self, proved: Proved[Lower, AuditedUpper]) -> DesignResult:
        """The mechanism, and the proved interval for the best there is."""
        run, problem = self.exchange, self.exchange.problem
        best = proved.upper_end
        audit = best.audit
        if isinstance(audit, ProvedElsewhere):
            audit = prove(problem.release(best.rows), audit, run.search)
        proved = with_doubts(proved, self.audits, audit)
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=problem.designed(best.rows),
            audit=audit,
            distortion=problem.expected_distortion(best.rows),
            termination=termination_of(proved, run.gap, run.termination),
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=run.clock.seconds,
            rounds=run.rounds,
            units=problem.quantity.units,
            refusals=proved.refusals,
            explanation=tuple(run.orbits.explain()),
            trace=tuple(run.clock.trace),
            values=problem.most_values,
            solvers=run.master.tally.uses(self._found_by(proved)),
        )

    def _found_by(self, proved: Proved[Lower, AuditedUpper]) -> dict[str, tuple[str, str]]:
        """The program and the solver that each end rests on."""
        run = self.exchange
        lower = run.bound.found_by if proved.lower_end.candidate != CERTAIN else "start"
        return {end: (run.goal.block, by) for end, by in (("lower", lower), ("upper", proved.upper_end.found_by))}
