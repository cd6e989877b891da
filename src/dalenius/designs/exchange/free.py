"""The mechanisms of a design that has nothing to meet but a budget: what is inside, or costs least, needs no linear program."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius.designs.exchange.interior import Inside
from dalenius.designs.exchange.region import Exact, Region
from dalenius.designs.rational import mixtures, rational_rows
from dalenius.information.arrays import Floats, Integers
from dalenius.model import DesignProblem
from dalenius.reduction import Orbits, orbits_of
from dalenius.search import Run

TIES = 1e-14  # costs of outputs that differ by less, relatively, are equal


class FreeRegion(Region):
    """The mechanisms of a class that treat the inputs of an orbit alike, within a budget of distortion if there is one.

    Attributes
    ----------
    least : (rows, outputs)
        A mechanism of least distortion, of the variable's entries.
    """

    def __init__(self, problem: DesignProblem, orbits: Orbits, search: Run) -> None:
        super().__init__(problem, orbits, search)
        self._costs = self.tied.sums(orbits.cost)
        self.least = self.tied.cheapest(self._costs)

    @property
    def found(self) -> Inside:
        """The anchor: every entry may have mass."""
        assert self.anchor is not None
        return Inside(self.matrix(self.anchor), np.ones(self.shape, dtype=bool), np.zeros(len(self.rows), dtype=bool))

    @property
    def raised(self) -> Floats:
        """No entry is 0 in every mechanism."""
        return np.zeros(len(self.rows))

    @cached_property
    def silent(self) -> Exact:
        """The constant mechanism of least distortion, whether or not it meets the budget."""
        return [entry for row in self.tied.constant(self._costs) for entry in row]

    @cached_property
    def constant(self) -> Exact | None:
        """The same, if it meets the budget."""
        return self.silent if self.meets(self.silent) else None

    def cheapest_constant(self, cost: Floats) -> Exact | None:
        """The same: the cost is that of the distortion."""
        return self.constant

    @cached_property
    def anchor(self) -> Exact | None:
        """The constant mechanism, mixed with as little of one of least distortion as the budget asks; it leaks less (convexity)."""
        return self.constant or self.exact(self.matrix(self.silent), self.silent)

    def exact(self, q: Floats, anchor: Exact) -> Exact:
        """A mechanism near q, mixed with as little of one of least distortion as makes the exact rows meet the budget.

        It is exactly as symmetric as the problem, for proofs know symmetries of a channel where they are exact: the mean of a
        mechanism over symmetries leaks no more (convexity), and distorts as much.
        """
        if np.array_equal(q, self.matrix(self.silent)) and self.constant is not None:
            return self.silent
        least, share = self.tied.cheapest(self._costs, q, within=TIES), 0.0
        for have, most in zip(self.linear.excess(q), self.linear.excess(least), strict=True):
            share = min(have / (have - most), 1.0) if have > 0.0 and have > most else 0.0
        for mixed in mixtures(q, least, share):
            made = self._symmetric(rational_rows(mixed))
            if self.meets(made):
                return made
        return [Fraction(int(entry)) for entry in self.least.reshape(-1)]

    def _symmetric(self, rows: list[list[Fraction]]) -> Exact:
        """The mean over the symmetries that move outputs, of which each entry of the variable has an orbit."""
        orbit, entries = self._entry_orbits.tolist(), [entry for row in rows for entry in row]
        sums, sizes = defaultdict[int, Fraction](Fraction), Counter(orbit)
        for k, entry in zip(orbit, entries, strict=True):
            sums[k] += entry
        means = {k: total / sizes[k] for k, total in sums.items()}
        return [means[k] for k in orbit]

    @cached_property
    def _entry_orbits(self) -> Integers:
        """Of the entries of the class's variable; a symmetry that the class does not have moves none."""
        moves = [self.tied.moved(symmetry.inputs, symmetry.outputs) for symmetry in self.orbits.moving_outputs]
        return orbits_of(self.tied.rows * self.tied.outputs, [move for move in moves if move is not None])
