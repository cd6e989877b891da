"""The cheapest mechanism that leaks nothing, by linear programming: where that is not constant, conic solvers do not find it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, kron, vstack
from scipy.sparse import eye_array as eye

from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.leakages import Leakages

__all__ = ["ZeroLeakage", "zero_leakage"]

RANK = 1e-12
PATIENCE = 10.0  # seconds


@dataclass(frozen=True)
class ZeroLeakage:
    """A point q, and z(a,y): c(x,y) + sum_a (p(a,x) - pi_a p(x)) z(a,y) has nearly the same least sum over mechanisms as <c, q>."""

    q: Floats
    slopes: Floats


def zero_leakage(leakages: Leakages, tied: TiedEntries, cost: Floats, seconds: float) -> ZeroLeakage | None:
    """Minimise <c, Q> where u_s(a,y) = pi_s(a) r_s(y) for all s, a and y. None where that fails, or takes longer.

    The conditions are combined to as many as are independent; if only constants satisfy them, there are inputs - 1 of these.
    """
    outputs, size = tied.outputs, tied.rows * tied.outputs
    laws = leakages.sums(leakages.masses)[leakages.owner]
    left, singular, right = np.linalg.svd(leakages.masses - leakages.pi[:, None] * laws, full_matrices=False)
    rank = int(np.sum(singular > RANK))
    numbers = tied.numbers.reshape(-1)
    choose = coo_array((np.ones(cost.size), (np.arange(cost.size), numbers)), shape=(cost.size, size)).tocsr()
    conditions = kron(right[:rank], eye(outputs)) @ choose if rank else np.zeros((0, size))
    rows = kron(eye(tied.rows), np.ones((1, outputs)))
    ends = np.concatenate([np.zeros(rank * outputs), np.ones(tied.rows)])
    found = linprog(
        choose.T @ cost.reshape(-1),
        A_eq=vstack([conditions, rows]),
        b_eq=ends,
        method="highs",
        options={"time_limit": min(max(seconds, 1e-3), PATIENCE)},
    )
    if found.x is None or found.status != 0:
        return None
    q = np.maximum(found.x, 0.0).reshape(-1, outputs)
    slopes = (left[:, :rank] / singular[:rank]) @ -found.eqlin.marginals[: rank * outputs].reshape(rank, outputs)
    return ZeroLeakage(q / q.sum(axis=1, keepdims=True), slopes)
