"""The most useful mechanism made of given columns: the linear program of the most information under a privacy notion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np
from scipy.optimize import nnls

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.programs.base import Named, Program

USED = 1e-9  # share of the largest weight below which one counts as none
MISSED = 1e-12  # by how much a row may miss 1
STEPS = 3


class MostInformation(Program):
    """Maximise sum_j v_j t_j over weights t >= 0 of columns g_j with sum_j t_j g_j(x) = 1 for every input x.

    The columns of a mechanism are t_j g_j, and it is worth sum_y f(Q(.,y)) = sum_j t_j f(g_j) for any f that grows in proportion, as
    information does. With the extreme rays of private columns this is the most information that a private mechanism reveals.
    *Convex because* it is linear. *DPP because* values multiply weights.
    *Bound because* for any prices lambda(x) of the inputs, and s_j = sum_x g_j(x), whose weighted sum is the number of inputs,

        sum_j v_j t_j = sum_x lambda(x) + sum_j t_j (v_j - <lambda, g_j>)
                      <= sum_x lambda(x) + inputs max_j (v_j - <lambda, g_j>) / s_j.

    Parameters
    ----------
    columns : (columns, inputs)
        g_j >= 0, none of them all 0; the first is 1 everywhere, so that there is a mechanism which reveals nothing.
    values : (columns,)
        v_j = f(g_j).

    Raises
    ------
    InputError
        If shapes do not fit, a number is negative in a column or not finite, or the first column is another one.

    Notes
    -----
    Source: Kairouz, Oh, Viswanath (2016), Theorem 2; docs/limits.md.

    A fair bit under local differential privacy, epsilon = log 3, of which randomized response reveals most:

    >>> columns = np.array([[1.0, 1.0], [1.0, 3.0], [3.0, 1.0]])
    >>> told = 0.5 * np.sum(columns * np.log(columns / columns.mean(axis=1, keepdims=True)), axis=1)
    >>> answer = MostInformation(columns, told).solve()
    >>> exact = np.log(2) + 0.25 * np.log(0.25) + 0.75 * np.log(0.75)
    >>> bool(answer.lower <= exact <= answer.upper), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "most_information"
    maximises: ClassVar[bool] = True

    def __init__(self, columns: Floats, values: Floats) -> None:
        G = np.asarray(columns, dtype=float)
        whole = G.ndim == 2 and G.size and np.isfinite(G).all() and G.min() >= 0.0 and np.all(G.max(axis=1) > 0.0)
        if not whole or not np.all(G[0] == 1.0):
            raise InputError(
                f"{self.name}: expected columns (columns, inputs) of numbers of at least 0, none all 0, the first of ones"
            )
        self.columns, self.sums = G, G.sum(axis=1)
        self.set(values)
        super().__init__()

    def set(self, values: Floats) -> None:
        """Other values of the same columns; solving again does not canonicalise again."""
        v = np.asarray(values, dtype=float)
        if v.shape != self.sums.shape or not np.isfinite(v).all():
            raise InputError(
                f"{self.name}: expected a finite value for each of {self.sums.size} columns, got {v.shape}"
            )
        self.values = v
        self.write()

    def build(self) -> cp.Expression:
        t, v = cp.Variable(self.sums.size, nonneg=True, name="weights"), cp.Parameter(self.sums.size, name="values")
        self.variables, self.parameters = {"weights": t}, {"values": v}
        self.constraints = {"rows": self.columns.T @ t == 1}
        return v @ t

    def data(self) -> Mapping[str, Any]:
        return {"values": self.values}

    def start(self) -> tuple[Named, Named]:
        """The mechanism that reveals nothing, and inputs without a price."""
        weights, prices = np.zeros(self.sums.size), np.zeros(self.columns.shape[1])
        weights[0] = 1.0
        return {"weights": weights}, {"prices": prices}

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Each weight times nearly 1, so that rows are laws; where that does not do, any weights of the columns that are used."""
        weights = np.maximum(raw.get("weights", np.zeros(0)), 0.0)
        if weights.shape != self.sums.shape:
            return None
        weights = np.where(weights > USED * weights.max(), weights, 0.0)
        for _ in range(STEPS):
            weighed = weights[:, None] * self.columns
            off = np.linalg.lstsq(self.columns.T @ weighed, 1.0 - weighed.sum(axis=0), rcond=None)[0]
            weights = np.maximum(weights * (1.0 + self.columns @ off), 0.0)
        if not self._missed(weights) <= MISSED:
            used = np.union1d(np.flatnonzero(weights), [0])
            weights = np.zeros_like(weights)
            weights[used] = nnls(self.columns[used].T, np.ones(self.columns.shape[1]))[0]
        return {"weights": weights} if self._missed(weights) <= MISSED else None

    def _missed(self, weights: Floats) -> float:
        """By how much the rows miss 1."""
        return float(np.abs(self.columns.T @ weights - 1.0).max())

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        """The multipliers of the rows, with the sign by which they bound more tightly."""
        prices = duals.get("rows")
        if prices is None or prices.shape != self.columns.shape[1:]:
            return None
        return min(({"prices": sign * prices} for sign in (1.0, -1.0)), key=self.bound)

    def value(self, point: Mapping[str, Floats]) -> float:
        return float(self.values @ point["weights"])

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        prices = multipliers["prices"]
        above = (self.values - self.columns @ prices) / self.sums
        return float(prices.sum() + prices.size * above.max())

    def mechanism(self, point: Mapping[str, Floats]) -> Floats:
        """Q (inputs, outputs), an output for each column that is used."""
        used = point["weights"] > 0.0
        return (self.columns[used] * point["weights"][used, None]).T
