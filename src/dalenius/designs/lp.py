"""Linear programs of designs: exactly, in doubles, and the mechanism and the multipliers at the vertex to which doubles point."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import OptimizeResult
from scipy.sparse import csr_matrix

from dalenius.designs.rational import TIGHT, LinearSystem, Terms
from dalenius.information.arrays import Floats
from dalenius.programs.highs import METHODS, solved
from dalenius.search import Clock

LOOK = 0.05  # seconds between two looks at the clock
ZERO = Fraction(0)


def minimised(costs: Floats, clock: Clock, methods: Sequence[str] = METHODS, **given: object) -> OptimizeResult | None:
    """Solve by `solved` before the clock has run out, which it does at Ctrl-C, too; None if there is no answer."""
    answers = list[OptimizeResult | None]()
    thread = threading.Thread(target=lambda: answers.append(solved(costs, clock, methods, **given)), daemon=True)
    thread.start()
    while thread.is_alive() and not clock.expired:
        thread.join(LOOK)
    return answers[0] if answers else None


@dataclass(frozen=True, eq=False)
class LinearRow:
    """sum of terms <= end, or = end, over variables."""

    terms: Terms
    end: Fraction = ZERO
    equal: bool = False


@dataclass(frozen=True, eq=False)
class Doubles:
    """Answer of a solver.

    Attributes
    ----------
    x : (variables,)
    room, multipliers : (rows,)
        What is left of each inequality; in units of the scale that costs were divided by.
    reduced : (variables,)
        The multipliers of x >= 0, in these units.
    """

    x: Floats
    room: Floats
    multipliers: Floats
    reduced: Floats


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Minimise the sum of costs over variables of at least 0 that meet rows.

    Attributes
    ----------
    variables : int
    cost : Terms
    rows : sequence of LinearRow
    above : collection of int
        Variables that rows keep above 0, however small they are.
    """

    variables: int
    cost: Terms
    rows: Sequence[LinearRow]
    above: Collection[int] = ()

    @property
    def equal(self) -> np.ndarray:
        """Rows that are equations."""
        return np.array([row.equal for row in self.rows], dtype=bool)

    def in_doubles(
        self, clock: Clock, scale: Fraction = Fraction(1), methods: Sequence[str] = METHODS
    ) -> Doubles | None:
        """Solution of HiGHS, at a vertex, of costs divided by a scale; None if it fails, or is stopped."""
        listed = [(r, i, float(c)) for r, row in enumerate(self.rows) for i, c in row.terms.items()]
        numbers, columns, values = zip(*listed, strict=True)
        matrix = csr_matrix((values, (numbers, columns)), shape=(len(self.rows), self.variables))
        costs, ends, equal = np.zeros(self.variables), np.array([float(row.end) for row in self.rows]), self.equal
        for i, c in self.cost.items():
            costs[i] = float(c / scale)
        rows = {"A_ub": matrix[~equal], "b_ub": ends[~equal], "A_eq": matrix[equal], "b_eq": ends[equal]}
        found = minimised(costs, clock, methods, **rows)
        if found is None:
            return None
        room, multipliers = np.zeros(len(ends)), np.zeros(len(ends))
        room[~equal] = found.ineqlin.residual
        multipliers[~equal], multipliers[equal] = -found.ineqlin.marginals, -found.eqlin.marginals
        return Doubles(np.asarray(found.x), room, multipliers, np.asarray(found.lower.marginals))

    def primal(self, near: Doubles) -> list[Fraction] | None:
        """The point on the rows that seem to be met, whose variables are 0 where they seem to be; None if that is not one."""
        used = [i for i, x in enumerate(near.x.tolist()) if x > TIGHT or i in self.above]
        place = {i: k for k, i in enumerate(used)}
        system = LinearSystem(len(used))
        for row, room in zip(self.rows, near.room.tolist(), strict=True):
            if room <= TIGHT:
                system.add({place[i]: c for i, c in row.terms.items() if i in place}, row.end)
        solved = system.solved()
        if solved is None:
            return None
        point = [ZERO] * self.variables
        for i, x in zip(used, solved, strict=True):
            point[i] = x
        return point

    def dual(self, near: Doubles) -> list[Fraction] | None:
        """The multipliers that are 0 where they seem to be, and leave no cost at variables that are used; None if these are not some.

        Of a row of the program with multiplier m: cost_i + sum m c_i = 0 where x_i >= 0 seems to have no multiplier itself.
        """
        kept = [r for r, row in enumerate(self.rows) if row.equal or near.multipliers[r] > TIGHT]
        columns: dict[int, Terms] = {}
        for k, r in enumerate(kept):
            for i, c in self.rows[r].terms.items():
                columns.setdefault(i, {})[k] = c
        system = LinearSystem(len(kept))
        for i in np.flatnonzero(near.reduced <= TIGHT).tolist():
            system.add(columns.get(i, {}), -self.cost.get(i, ZERO))
        solved = system.solved()
        if solved is None:
            return None
        multipliers = [ZERO] * len(self.rows)
        for r, m in zip(kept, solved, strict=True):
            multipliers[r] = m
        return multipliers

    def left(self, multipliers: Sequence[Fraction]) -> list[Fraction]:
        """Rest of the cost of each variable after multipliers."""
        left = [self.cost.get(i, ZERO) for i in range(self.variables)]
        for row, m in zip(self.rows, multipliers, strict=True):
            for i, c in row.terms.items() if m else ():
                left[i] += c * m
        return left


def value(cost: Mapping[int, Fraction], point: Sequence[Fraction]) -> Fraction:
    """Cost of a point."""
    return sum((c * point[i] for i, c in cost.items()), ZERO)
