"""Designs under limits of ratios alone as a proposer: multipliers from below, a repaired mechanism from above."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from dalenius._prove import Proved
from dalenius.designs.claims import DesignProposer, MadeUpper, Rows, distortion_unit, rounded_lowers
from dalenius.designs.lines import NOTHING, dual_lines
from dalenius.designs.rational import weight_texts
from dalenius.designs.ratios.program import RatioProgram, Solved
from dalenius.evidence import CERTAIN, Lower, short_text
from dalenius.model import DesignProblem, MinDistortion
from dalenius.outcome import ConstraintPrice
from dalenius.results import DesignResult
from dalenius.search import Run

TINY = 1e-6  # share of the largest price below which one counts as none


class RatioDesign(DesignProposer[MadeUpper]):
    """A running design that `has_only_ratios`: a linear program in doubles, whose ends are repaired.

    Parameters
    ----------
    problem : MinDistortion
    search : Run
    """

    problem: MinDistortion

    def __init__(self, problem: DesignProblem, search: Run) -> None:
        assert isinstance(problem, MinDistortion)
        self.problem, self.search, self.program = problem, search, RatioProgram(problem)
        self.solved: Solved | None = None

    def run(self) -> None:
        """Solve."""
        self.solved = self.program.solve(self.search.clock)
        if self.solved is not None:
            self.rounds, upper = 1, float(self.problem.distortions.of(self._rows(self.solved)))
            rows = sum(map(len, self._prices.values()))
            self.search.clock.tell("ratios", max(self.solved.bound, 0.0), upper, rows, rounds=1, now=True)

    @staticmethod
    def _rows(solved: Solved) -> Rows:
        return [[Fraction(weight, sum(row)) for weight in row] for row in solved.weights]

    @cached_property
    def _prices(self) -> Mapping[int, Mapping[int, float]]:
        """By constraint and row, those that are not 0."""
        found: dict[int, dict[int, float]] = {}
        for (k, side), own in {} if self.solved is None else self.solved.prices.items():
            block = self.program.blocks[k]
            of_rows = {block.row(y, side): float(own[y]) for y in np.flatnonzero(own).tolist()}
            found.setdefault(block.constraint, {}).update(of_rows)
        return found

    # ------------------------------------------------------------ what is proposed

    def lowers(self) -> Iterator[Lower]:
        """The bound of the multipliers, rounded downward ever further; at last 0."""
        found, size = (0.0, 0.0) if self.solved is None else (max(self.solved.bound, 0.0), self.solved.size)
        prices = {j: {r: short_text(x) for r, x in rows.items()} for j, rows in self._prices.items() if rows}
        yield from rounded_lowers(self.problem, found, dual_lines(prices=prices) if found > 0.0 else NOTHING, size)

    def uppers(self) -> Iterator[MadeUpper]:
        """What the mechanism distorts; at last what one that releases nothing does."""
        if self.solved is not None:
            yield self._upper(self._rows(self.solved), 0)
        yield self._upper(self.problem.distortions.constant, CERTAIN)

    def _upper(self, rows: Rows, candidate: int) -> MadeUpper:
        end, unit = self.problem.distortions.of(rows), distortion_unit(self.problem)
        return MadeUpper(value=end, unit=unit, candidate=candidate, lines=(), mechanism=weight_texts(rows), rows=rows)

    def result(self, proved: Proved[Lower, MadeUpper]) -> DesignResult:
        """The mechanism, the proved interval, and what each constraint costs."""
        rows = proved.upper_end.rows
        assert rows is not None
        prices = {} if proved.lower_end.candidate == CERTAIN else self._prices
        return self.answer(proved, rows, constraints=tuple(self._of_constraints(prices, rows)))

    def _of_constraints(self, prices: Mapping[int, Mapping[int, float]], rows: Rows) -> Iterator[ConstraintPrice]:
        """One entry a constraint."""
        common = lcm(*(entry.denominator for row in rows for entry in row))
        slack = self.program.slack([[int(entry * common) for entry in row] for row in rows])
        totals = {j: sum(own.values()) for j, own in prices.items()}
        least = TINY * max(totals.values(), default=0.0)
        for j, limit in enumerate(self.problem.own_constraints):
            total, own = totals.get(j, 0.0), prices.get(j, {})
            kept = tuple(sorted(pair for pair in own.items() if pair[1] > least))
            yield ConstraintPrice(j, limit.kind, total if total > least else 0.0, slack[j], kept)
