"""The mechanisms that an exchange works on: matrices in doubles on the orbits of inputs, and how they become exact."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius.designs.rational import rational_rows
from dalenius.information.arrays import Floats, Integers
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.reduction import Orbits, orbits_of

Rows = list[list[Fraction]]
TIES = 1e-14  # costs of outputs that differ by less, relatively, are equal


@dataclass(frozen=True, eq=False)
class RepairedMechanism:
    """A mechanism that meets its budget as far as the search sees.

    Attributes
    ----------
    Q : (orbits, outputs)
    attained : float
        What is to be minimised: its leakage as far as the search sees, in nats, or its distortion.
    leakage : float
        The largest leakage that the search has seen, in nats.
    found_by : str
        The solver whose mechanism it is made from, ``start`` if no solver was asked.
    """

    Q: Floats
    attained: float
    leakage: float
    found_by: str = "start"


class Mechanisms:
    """The mechanisms of a problem's class that treat the inputs of an orbit alike.

    Attributes
    ----------
    cost : (orbits, outputs)
        sum over the orbit of p(x) d(x,y).
    tied : TiedEntries
        Which entries are one number.
    least, constant : (orbits, outputs)
        One of least distortion; the constant one of least distortion.
    """

    def __init__(self, problem: DesignProblem, orbits: Orbits) -> None:
        self.problem, self.orbits, self.cost = problem, orbits, orbits.cost
        self.tied = problem.mechanism_class.tied(*self.cost.shape)
        self._costs = self.tied.sums(self.cost)
        self._constant_row = self.tied.constant(self._costs)[0]
        self.least = self.cheapest()
        self.constant = self.tied.expand(np.array([self._constant_row] * self.tied.rows, dtype=float))

    def cheapest(self, near: Floats | None = None) -> Floats:
        """One of least distortion: one output an input, or where several are as good, the given one's masses on them."""
        q = None if near is None else self.tied.variable(near)
        return self.tied.expand(self.tied.cheapest(self._costs, q, within=TIES))

    def distortion(self, Q: Floats) -> float:
        return float(np.sum(self.cost * Q))

    def mixed(self, Q: Floats, share: float) -> Floats:
        """Mixed with this share of the constant mechanism."""
        return (1.0 - share) * Q + share * self.constant

    def exact(self, Q: Floats) -> Rows:
        """Exact rows of the problem's class near Q; those of the constant mechanism are as constant as it is.

        They are exactly as symmetric as the problem, for proofs know symmetries of a channel where they are exact: the mean of a
        mechanism over symmetries leaks no more (convexity), and distorts as much.
        """
        if np.array_equal(Q, self.constant):
            return [list(self._constant_row) for _ in range(self.problem.tied.rows)]
        symmetric = self.tied.expand_rows(self._symmetric(rational_rows(self.tied.variable(Q))))
        return self.problem.tied.variable_rows([symmetric[k] for k in self.orbits.orbit.tolist()])

    def _symmetric(self, rows: Rows) -> Rows:
        """The mean over the symmetries that move outputs, of which each entry of the variable has an orbit."""
        orbit, width = self._entry_orbits.tolist(), self.tied.outputs
        entries, sums, sizes = (
            [entry for row in rows for entry in row],
            defaultdict[int, Fraction](Fraction),
            Counter(orbit),
        )
        for k, entry in zip(orbit, entries, strict=True):
            sums[k] += entry
        means = [sums[k] / sizes[k] for k in orbit]
        return [means[start : start + width] for start in range(0, len(means), width)]

    @cached_property
    def _entry_orbits(self) -> Integers:
        """Of the entries of the class's variable; a symmetry that the class does not have moves none."""
        moves = [self.tied.moved(symmetry.inputs, symmetry.outputs) for symmetry in self.orbits.moving_outputs]
        return orbits_of(self.tied.rows * self.tied.outputs, [move for move in moves if move is not None])
