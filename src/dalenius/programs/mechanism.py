"""A mechanism as the variable of a program: its cost, entries that are tied together, and what a bound takes the least of."""

from __future__ import annotations

from collections.abc import Mapping

import cvxpy as cp
import numpy as np

from dalenius.errors import InputError
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.base import Floats, Program
from dalenius.programs.pairs import EPS, rounding

__all__ = ["MechanismProgram"]


class MechanismProgram(Program):
    """A program over mechanisms Q(x,y), whose variable is q (rows, outputs): Q itself, or what its tied entries are taken from.

    Attributes
    ----------
    cost : (inputs, outputs)
        c(x,y) >= 0.
    tied : TiedEntries
        Which entries of Q are one entry of q.
    tied_cost : (rows, outputs)
        The cost of an entry of q.
    """

    def charge(self, cost: Floats, tied: TiedEntries | None) -> None:
        """Check and keep a cost, and what is tied; to be called before the model is built.

        Raises
        ------
        InputError
            If the cost is no such matrix, or has another shape than what is tied.
        """
        self.cost = np.asarray(cost, dtype=float)
        if self.cost.ndim != 2 or not self.cost.size or not np.all(np.isfinite(self.cost)) or self.cost.min() < 0.0:
            raise InputError(f"{self.name}: expected a cost (inputs, outputs) of finite numbers of at least 0")
        self.tied = TiedEntries.free(*self.cost.shape) if tied is None else tied
        inputs, outputs = self.cost.shape
        if not isinstance(self.tied, TiedEntries) or self.tied.numbers.shape != (inputs, outputs):
            raise InputError(
                f"{self.name}: expected `tied` to be TiedEntries for {inputs} inputs and {outputs} outputs"
            )
        self.tied_cost = self.tied.sums(self.cost)

    def mechanism(self, point: Mapping[str, Floats]) -> Floats:
        """Q (inputs, outputs) at a point."""
        return self.tied.expand(point["q"])

    def constant(self) -> Floats:
        """The constant mechanism of least cost, as a point."""
        return np.array(self.tied.constant(self.tied_cost), dtype=float)

    def expression(self, q: cp.Variable) -> cp.Expression:
        """Q (inputs, outputs) of the variable."""
        return cp.reshape(cp.vec(q, order="C")[self.tied.numbers.reshape(-1)], self.cost.shape, order="C")

    def laws(self, raw: Mapping[str, Floats]) -> Floats | None:
        """A solver's q, clipped and normalised; None if nothing can be made of it."""
        q = np.maximum(raw.get("q", np.zeros(0)), 0.0)
        if q.shape != self.tied_cost.shape or not np.all(q.sum(axis=1) > 0.0):
            return None
        return np.asarray(q / q.sum(axis=1, keepdims=True))

    def distortion(self, q: Floats) -> float:
        return float(np.sum(self.tied_cost * q))

    def minimum(self, matrix: Floats, size: Floats) -> float:
        """min over the mechanisms of the class of sum Q matrix, less what rounding may add if its entries are sums of this size."""
        least = self.tied.sums(matrix - EPS * size).min(axis=1)
        return float(np.sum(least)) - rounding(least)
