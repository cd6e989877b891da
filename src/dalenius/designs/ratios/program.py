"""The linear program of limits of ratios: every sum of a column is a variable of its own, so that rows have two terms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import csr_matrix, vstack

from dalenius.designs.linear.doubles import METHODS, answered
from dalenius.designs.rational import DENOMINATOR, rational_rows
from dalenius.designs.ratios.blocks import Block, Form, blocks_of
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.search import Clock

__all__ = ["RatioProgram", "Solved"]

FEASIBLE = 1e-10
FINE = 10**18  # steps that what is added to a column is rounded in
USED = 1e-12  # share of the largest multiplier below which one is 0

Weights = list[list[int]]


@dataclass(frozen=True, eq=False)
class Solved:
    """What a solver's answer is worth.

    Attributes
    ----------
    weights : a mechanism that meets everything exactly, as whole weights
    bound : float
        Of the optimum, with the multipliers `prices` of rows, by (block, side): (outputs,).
    size : float
        Of what is summed in it.
    """

    weights: Weights
    bound: float
    prices: dict[tuple[int, int], Floats]
    size: float


class RatioProgram:
    """Minimise sum p(x) d(x,y) Q(x,y) over mechanisms Q with one(y) <= c other(y) for every output y and every block.

    Every block is about one column at a time and homogeneous, so the columns that meet all of them are a convex cone, which constant
    columns are inside of. So a mechanism that misses rows a little is repaired column by column: a constant is added to the column,
    and then all columns are divided by one number.

    Parameters
    ----------
    problem : MinDistortion
        With limits of ratios alone (`has_only_ratios`).
    """

    def __init__(self, problem: MinDistortion) -> None:
        self.problem, self.blocks = problem, blocks_of(problem)
        self.inputs, self.outputs = problem.input_count, problem.output_count
        self.cost = problem.input_law[:, None] * problem.cost
        forms = {form: None for block in self.blocks for form in (block.one, block.other)}
        self.forms: list[Form] = list(forms)
        self.place = {form: k for k, form in enumerate(self.forms)}

    @cached_property
    def matrix(self) -> csr_matrix:
        """The forms in doubles: (forms, inputs)."""
        entries = [(k, x, float(c)) for k, form in enumerate(self.forms) for x, c in form]
        k, x, c = zip(*entries, strict=True)
        return csr_matrix((c, (k, x)), shape=(len(self.forms), self.inputs))

    # ------------------------------------------------------------ in doubles

    def solve(self, clock: Clock) -> Solved | None:
        """A mechanism and a bound; None if no solver answered in time."""
        found = answered(clock, lambda: self._asked(clock))
        if found is None:
            return None
        q = np.maximum(found.x[: self.cost.size].reshape(self.cost.shape), 0.0)
        multipliers = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0) * self._scale
        prices, start = dict[tuple[int, int], Floats](), 0
        least = USED * multipliers.max(initial=0.0)
        for k, block in enumerate(self.blocks):
            for side, _, _ in block.pairs():
                own = multipliers[start : start + self.outputs]
                prices[k, side] = np.where(own > least, own, 0.0)
                start += self.outputs
        priced = self.priced(prices)
        size = float(np.abs(priced - self.cost).max(initial=0.0)) * self.inputs
        return Solved(self.repaired(q), float((self.cost + priced).min(axis=1).sum()), prices, size)

    @property
    def _scale(self) -> float:
        """A power of 2 of the size of the largest cost."""
        largest = float(self.cost.max())
        return math.ldexp(1.0, math.frexp(largest)[1]) if largest else 1.0

    def _asked(self, clock: Clock) -> OptimizeResult:
        """Variables: the entries row by row, then the forms' values, form by form."""
        n, m, k = self.inputs, self.outputs, len(self.forms)
        entries = np.arange(n * m).reshape(n, m)
        sums = csr_matrix((np.ones(n * m), (np.arange(n * m) // m, np.arange(n * m))), shape=(n, n * m + k * m))
        form, x = self.matrix.nonzero()
        factors = np.asarray(self.matrix[form, x]).reshape(-1)
        rows = (form[:, None] * m + np.arange(m)).reshape(-1)
        values = csr_matrix(
            (
                np.concatenate([np.repeat(factors, m), -np.ones(k * m)]),
                (
                    np.concatenate([rows, np.arange(k * m)]),
                    np.concatenate([entries[x].reshape(-1), n * m + np.arange(k * m)]),
                ),
            ),
            shape=(k * m, n * m + k * m),
        )
        options = {
            "primal_feasibility_tolerance": FEASIBLE,
            "dual_feasibility_tolerance": FEASIBLE,
            "time_limit": max(clock.remaining, 0.01) if math.isfinite(clock.remaining) else None,
        }
        given = {
            "A_ub": self._rows(n * m + k * m),
            "b_ub": np.zeros(sum(block.sides for block in self.blocks) * m),
            "A_eq": vstack([sums, values]).tocsr(),
            "b_eq": np.concatenate([np.ones(n), np.zeros(k * m)]),
        }
        costs = np.concatenate([self.cost.reshape(-1) / self._scale, np.zeros(k * m)])
        for method in METHODS:
            found = linprog(costs, method=method, options=options, **given)
            if found.status == 0 or clock.expired:
                break
        return found

    def _rows(self, width: int) -> csr_matrix:
        m, first = self.outputs, self.cost.size
        ones, others, factors = [], [], []
        for block in self.blocks:
            for _, one, other in block.pairs():
                ones.append(self.place[one])
                others.append(self.place[other])
                factors.append(float(block.above))
        count = len(ones) * m
        columns = (first + np.array([ones, others])[:, :, None] * m + np.arange(m)).reshape(-1)
        values = np.concatenate([np.ones(count), np.repeat(-np.array(factors), m)])
        return csr_matrix((values, (np.tile(np.arange(count), 2), columns)), shape=(count, width))

    def priced(self, prices: dict[tuple[int, int], Floats]) -> Floats:
        """What multipliers add to every entry: (inputs, outputs)."""
        by_form = np.zeros((len(self.forms), self.outputs))
        for k, block in enumerate(self.blocks):
            for side, one, other in block.pairs():
                by_form[self.place[one]] += prices[k, side]
                by_form[self.place[other]] -= float(block.above) * prices[k, side]
        return np.asarray(self.matrix.T @ by_form)

    # ------------------------------------------------------------ exactly

    def repaired(self, q: Floats) -> Weights:
        """A mechanism near q that meets everything: whole weights, as many in each row."""
        whole = [[int(entry * DENOMINATOR) for entry in row] for row in rational_rows(q)]
        missing, unit = [Fraction(0)] * self.outputs, FINE // DENOMINATOR
        for block, excesses in self._excesses(whole):
            for y, excess in enumerate(excesses):
                if excess > 0:  # a constant t more in a column is room of (c - 1) t more
                    missing[y] = max(missing[y], excess / (block.below - 1))
        added = [math.ceil(more * FINE) for more in missing]
        return [[entry * unit + more for entry, more in zip(row, added, strict=True)] for row in whole]

    def slack(self, weights: Weights) -> dict[int, Fraction]:
        """The least room that a mechanism leaves in the rows of each constraint."""
        least = dict[int, Fraction]()
        for block, excesses in self._excesses(weights):
            room = -max(excesses)
            least[block.constraint] = min(least.get(block.constraint, room), room)
        return least

    def _excesses(self, weights: Weights) -> Iterator[tuple[Block, list[Fraction]]]:
        """Of each block and side by how much one(y) is above c other(y), for every output."""
        values = [self._values(form, weights) for form in self.forms]
        for block in self.blocks:
            for _, one, other in block.pairs():
                pairs = zip(values[self.place[one]], values[self.place[other]], strict=True)
                yield block, [a - block.below * b for a, b in pairs]

    def _values(self, form: Form, weights: Weights) -> list[Fraction]:
        """A form of each column, exactly: whole numbers are summed, over one denominator."""
        common = math.lcm(*(c.denominator for _, c in form))
        factors = [(x, c.numerator * (common // c.denominator)) for x, c in form]
        sums = [sum(f * weights[x][y] for x, f in factors) for y in range(self.outputs)]
        return [Fraction(total, common * sum(weights[0])) for total in sums]
