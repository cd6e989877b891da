"""A mechanism as the variable of a program: its cost, entries that are tied together, and what a bound takes the least of."""

from __future__ import annotations

from collections.abc import Mapping

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.programs.base import Floats, Program
from dalenius.programs.pairs import EPS, rounding

__all__ = ["MechanismProgram"]


class MechanismProgram(Program):
    """A program over mechanisms Q(x,y), whose variable is q (rows, outputs): Q itself, or what its tied entries are taken from.

    Attributes
    ----------
    cost, tied : (inputs, outputs)
        c(x,y) >= 0, and the numbers of the entries of Q: those with one number are equal.
    rows : int
    tied_cost : (rows, outputs)
        The cost of an entry of q.
    """

    def charge(self, cost: Floats, tied: NDArray[np.int64] | None) -> None:
        """Check and keep a cost, and what is tied; to be called before the model is built.

        Raises
        ------
        InputError
            If the cost is no such matrix, or the numbers do not fit it.
        """
        self.cost = np.asarray(cost, dtype=float)
        if self.cost.ndim != 2 or not self.cost.size or not np.all(np.isfinite(self.cost)) or self.cost.min() < 0.0:
            raise InputError(f"{self.name}: expected a cost (inputs, outputs) of finite numbers of at least 0")
        inputs, outputs = self.cost.shape
        self.tied = np.arange(inputs * outputs).reshape(inputs, outputs) if tied is None else np.asarray(tied)
        self.rows = self._rows_of_the_variable()
        self.tied_cost = self.folded(self.cost)

    def _rows_of_the_variable(self) -> int:
        tied, outputs = self.tied, self.cost.shape[1]
        whole = tied.shape == self.cost.shape and np.issubdtype(tied.dtype, np.integer)
        numbers = np.sort(tied, axis=1) if whole else np.zeros((1, outputs), dtype=int) - 1
        rows = numbers[:, 0] // outputs
        if np.any(numbers != rows[:, None] * outputs + np.arange(outputs)) or not np.array_equal(
            np.unique(rows), np.arange(len(set(rows)))
        ):
            raise InputError(
                f"{self.name}: expected every row of `tied` to number the entries of one row of the variable, each once: "
                f"{outputs} k to {outputs} k + {outputs - 1} for a k; and every k from 0 up to the largest"
            )
        return len(set(rows))

    def mechanism(self, point: Mapping[str, Floats]) -> Floats:
        """Q (inputs, outputs) at a point."""
        return np.asarray(point["q"].reshape(-1)[self.tied], dtype=float)

    def folded(self, matrix: Floats) -> Floats:
        """Sums over the entries of Q that one entry of the variable stands for."""
        sums = np.zeros(self.rows * self.cost.shape[1])
        np.add.at(sums, self.tied, matrix)
        return sums.reshape(self.rows, -1)

    def cheapest(self, near: Floats) -> Floats:
        """A mechanism of least distortion, as a point: the given one's masses on entries of least cost, or one such entry a row."""
        least = self.tied_cost.min(axis=1, keepdims=True)
        q = np.where(self.tied_cost <= least, near, 0.0)
        nothing = ~(q.sum(axis=1) > 0.0)
        q[nothing, self.tied_cost.argmin(axis=1)[nothing]] = 1.0
        return q / q.sum(axis=1, keepdims=True)

    def constant(self) -> Floats:
        """A constant mechanism of small cost: one output; or, where entries are tied across outputs, the uniform law."""
        inputs, outputs = self.cost.shape
        q = np.zeros((self.rows, outputs))
        q[:, self.cost.sum(axis=0).argmin()] = 1.0
        return (
            q
            if np.array_equal(q.reshape(-1)[self.tied], np.tile(q[0], (inputs, 1)))
            else np.full(q.shape, 1.0 / outputs)
        )

    def expression(self, q: cp.Variable) -> cp.Expression:
        """Q (inputs, outputs) of the variable."""
        return cp.reshape(cp.vec(q, order="C")[self.tied.reshape(-1)], self.cost.shape, order="C")

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
        least = self.folded(matrix - EPS * size).min(axis=1)
        return float(np.sum(least)) - rounding(least)
