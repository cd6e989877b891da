"""The mechanisms that an exchange works on: matrices in doubles on the orbits of inputs, and how they become exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dalenius.designs.rational import rational_rows
from dalenius.information.arrays import Floats
from dalenius.model.design_problem import DesignProblem
from dalenius.reduction import Orbits

__all__ = ["Mechanisms", "RepairedMechanism", "Rows"]

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
        """Exact rows of the problem's class near Q; those of the constant mechanism are as constant as it is."""
        if np.array_equal(Q, self.constant):
            return [list(self._constant_row) for _ in range(self.problem.tied.rows)]
        return rational_rows(self.problem.tied.variable(self.orbits.lift_mechanism(Q)))
