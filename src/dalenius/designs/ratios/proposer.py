"""Designs under limits of ratios alone as a proposer: multipliers from below, a repaired mechanism from above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

import numpy as np

from dalenius._prove import Proved
from dalenius.designs.claims import NOTHING, distortion_unit, rounded_lowers, termination_of
from dalenius.designs.rational import weight_texts
from dalenius.designs.ratios.program import RatioProgram, Solved
from dalenius.evidence import CERTAIN, Lower, Upper, short_text
from dalenius.evidence.lower import DualLine, LowerLine, MultiplierLine
from dalenius.model import DesignProblem, MinDistortion
from dalenius.outcome import ConstraintPrice, Scope, Termination
from dalenius.programs.base import Tally
from dalenius.results import DesignResult
from dalenius.search import Run

Rows = list[list[Fraction]]
TINY = 1e-6  # share of the largest price below which one counts as none


@dataclass(frozen=True, kw_only=True)
class _Made(Upper):
    """An upper end, and the mechanism in exact rows."""

    rows: Rows


@dataclass
class RatioProposer:
    """What the linear program of limits of ratios found."""

    program: RatioProgram
    search: Run
    solved: Solved | None = None
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def of(cls, problem: DesignProblem, search: Run) -> Self:
        """For a design that `has_only_ratios`."""
        assert isinstance(problem, MinDistortion)
        return cls(RatioProgram(problem), search)

    def run(self) -> None:
        """Solve."""
        self.solved = self.program.solve(self.search.clock)
        if self.solved is not None:
            upper = float(self.program.problem.distortions.of(self._rows(self.solved)))
            rows = sum(int(np.count_nonzero(own)) for own in self.solved.prices.values())
            self.search.clock.tell("ratios", max(self.solved.bound, 0.0), upper, rows, rounds=1, now=True)

    @staticmethod
    def _rows(solved: Solved) -> Rows:
        return [[Fraction(weight, sum(row)) for weight in row] for row in solved.weights]

    # ------------------------------------------------------------ the two ends

    def lowers(self) -> Iterator[Lower]:
        """The bound of the multipliers, rounded downward ever further; at last 0."""
        solved, problem = self.solved, self.program.problem
        found = 0.0 if solved is None else max(solved.bound, 0.0)
        lines = NOTHING if solved is None or found <= 0.0 else self._lines(solved)
        yield from rounded_lowers(problem, found, lines, 0.0 if solved is None else solved.size)

    def _lines(self, solved: Solved) -> tuple[LowerLine, ...]:
        """The multipliers, constraint by constraint."""
        prices: dict[int, dict[int, str]] = {}
        for (k, side), own in solved.prices.items():
            block = self.program.blocks[k]
            for y in np.flatnonzero(own).tolist():
                prices.setdefault(block.constraint, {})[block.row(y, side)] = short_text(float(own[y]))
        return (DualLine("0"), *(MultiplierLine(j, tuple(sorted(rows.items()))) for j, rows in sorted(prices.items())))

    def uppers(self) -> Iterator[_Made]:
        """What the mechanism distorts; at last what one that releases nothing does."""
        if self.solved is not None:
            yield self._upper(self._rows(self.solved), 0)
        yield self._upper(self.program.problem.distortions.constant, CERTAIN)

    def _upper(self, rows: Rows, candidate: int) -> _Made:
        problem = self.program.problem
        value, unit = problem.distortions.of(rows), distortion_unit(problem)
        return _Made(value=value, unit=unit, candidate=candidate, lines=(), mechanism=weight_texts(rows), rows=rows)

    # ------------------------------------------------------------ the answer

    def result(self, proved: Proved[Lower, _Made]) -> DesignResult:
        """The mechanism, the proved interval, and what each constraint costs."""
        problem, rows = self.program.problem, proved.upper_end.rows
        stopped = self.search.clock
        otherwise = Termination.INTERRUPTED if stopped.stopped else Termination.TIME_LIMIT
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=problem.designed(rows),
            audit=None,
            distortion=problem.expected_distortion(rows),
            termination=termination_of(
                proved, self.search.limits.gap, otherwise if self.solved is None else Termination.STALLED
            ),
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=self.search.clock.seconds,
            rounds=int(self.solved is not None),
            units=problem.quantity.units,
            constraints=self._prices(proved),
            refusals=proved.refusals,
            trace=tuple(self.search.clock.trace),
            values=problem.most_values,
        )

    def _prices(self, proved: Proved[Lower, _Made]) -> tuple[ConstraintPrice, ...]:
        """One entry a constraint."""
        totals = dict[int, float]()
        rows: dict[int, list[tuple[int, float]]] = {}
        if self.solved is not None and proved.lower_end.candidate != CERTAIN:
            for (k, side), own in self.solved.prices.items():
                block = self.program.blocks[k]
                totals[block.constraint] = totals.get(block.constraint, 0.0) + float(own.sum())
                rows.setdefault(block.constraint, []).extend(
                    (block.row(y, side), float(own[y])) for y in np.flatnonzero(own).tolist()
                )
        least = TINY * max(totals.values(), default=0.0)
        exact = [[int(entry * common) for entry in row] for common, row in self._over_one(proved.upper_end.rows)]
        slack = self.program.slack(exact)
        return tuple(
            ConstraintPrice(
                j,
                limit.kind,
                totals.get(j, 0.0) if totals.get(j, 0.0) > least else 0.0,
                slack[j],
                tuple(sorted(pair for pair in rows.get(j, []) if pair[1] > least)),
            )
            for j, limit in enumerate(self.program.problem.own_constraints)
        )

    @staticmethod
    def _over_one(rows: Rows) -> Iterator[tuple[int, list[Fraction]]]:
        """The rows, each with the denominator that all have in common."""
        common = np.lcm.reduce([entry.denominator for row in rows for entry in row], dtype=object)
        return ((int(common), row) for row in rows)
