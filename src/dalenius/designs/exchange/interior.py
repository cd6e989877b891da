"""Linear programs about a design's rows: a mechanism as far inside them as there is, what holds with equality, or why none does.

Nothing here is a proof: what is found in doubles is made exact, and judged, elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import coo_matrix, csr_matrix, diags, eye, hstack, vstack

from dalenius.information.arrays import Floats
from dalenius.programs.demands import LinearRows
from dalenius.programs.secrets import Tangent

FARTHEST = (
    1e6  # the factor that points may be enlarged by: rows that nothing meets with more room than 1e-6 count as tight
)
STRICT = 0.5
FEASIBLE = 1e-10
METHODS = ("highs-ipm", "highs-ds")  # the first, with crossover to a vertex, is several times quicker from 20 x 20 on
SETTLED = (0, 2)  # solved, or infeasible
EMPTY = 1e-9  # an elastic optimum above which there is no mechanism


@dataclass(frozen=True, eq=False)
class Inside:
    """A point of the relative interior.

    Attributes
    ----------
    q : (rows, outputs)
    support : (rows, outputs) of bool
        Entries that are not 0 in every mechanism.
    tight : (rows of LinearRows,) of bool
        Rows that hold with equality in every mechanism, equations too.
    """

    q: Floats
    support: np.ndarray
    tight: np.ndarray


@dataclass(frozen=True, eq=False)
class Outside:
    """Multipliers of the rows whose sum no mechanism meets: at least 0 for inequalities, any for equations.

    Those of rows may be fractions, where doubles have too few digits.
    """

    prices: Floats
    cones: tuple[Floats, ...] = ()
    tangents: tuple[Tangent, ...] = ()


class _Programs:
    """The rows of a problem with what every mechanism meets, for a linear solver."""

    def __init__(self, rows: LinearRows, shape: tuple[int, int], seconds: float) -> None:
        self.rows, self.shape, self.entries, self.seconds = rows, shape, shape[0] * shape[1], seconds
        owner = np.arange(self.entries) // shape[1]
        self.sums = csr_matrix(
            (np.ones(self.entries), (owner, np.arange(self.entries))), shape=(shape[0], self.entries)
        )
        length = np.sqrt(np.asarray(rows.matrix.multiply(rows.matrix).sum(axis=1)).reshape(-1)) + abs(rows.ends)
        self.length = np.where(length > 0.0, length, 1.0)
        scaled = diags(1.0 / self.length) @ rows.matrix if len(rows.ends) else rows.matrix
        ends = rows.ends / self.length
        self.A, self.h = scaled.tocsr()[~rows.equal], ends[~rows.equal]
        self.B, self.e = scaled.tocsr()[rows.equal], ends[rows.equal]

    def solve(self, objective: Floats, **given: object) -> OptimizeResult:
        limit = max(self.seconds, 0.01) if math.isfinite(self.seconds) else None
        options = {
            "primal_feasibility_tolerance": FEASIBLE,
            "dual_feasibility_tolerance": FEASIBLE,
            "time_limit": limit,
        }
        for method in METHODS:
            found = linprog(objective, method=method, options=options, **given)
            if found.status in SETTLED:
                break
        return found

    # ------------------------------------------------------------ inside

    def strict(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Which inequalities, and which signs, some mechanism meets strictly; None if there is no mechanism.

        Largest sum of s <= 1 with A q + s <= h k, q >= s, for mechanisms enlarged by a factor k >= 1: a point of the relative
        interior, enlarged enough, has s = 1 wherever something is strict.
        """
        n, m = self.entries, len(self.h)
        slack = vstack(
            [
                hstack([self.A, eye(m), csr_matrix((m, n)), _column(-self.h)]),
                hstack([-eye(n), csr_matrix((n, m)), eye(n), csr_matrix((n, 1))]),
            ]
        )
        equations = vstack([self.sums, self.B])
        fixed = hstack(
            [
                equations,
                csr_matrix((equations.shape[0], m + n)),
                _column(-np.concatenate([np.ones(self.shape[0]), self.e])),
            ]
        )
        found = self.solve(
            np.concatenate([np.zeros(n), -np.ones(m + n), [0.0]]),
            A_ub=slack.tocsr(),
            b_ub=np.zeros(m + n),
            A_eq=fixed.tocsr(),
            b_eq=np.zeros(equations.shape[0]),
            bounds=[(0.0, None)] * n + [(0.0, 1.0)] * (m + n) + [(1.0, FARTHEST)],
        )
        if found.status != 0 or found.x is None:
            return None
        return found.x[n : n + m] > STRICT, found.x[n + m : -1] > STRICT

    def deepest(self, strict: np.ndarray, positive: np.ndarray) -> Floats | None:
        """A mechanism whose least room, of all that has any, is largest."""
        n = self.entries
        over = vstack(
            [hstack([self.A, _column(strict.astype(float))]), hstack([-eye(n), _column(positive.astype(float))])]
        )
        equations = hstack([vstack([self.sums, self.B]), csr_matrix((self.shape[0] + len(self.e), 1))])
        found = self.solve(
            np.append(np.zeros(n), -1.0),
            A_ub=over.tocsr(),
            b_ub=np.concatenate([self.h, np.zeros(n)]),
            A_eq=equations.tocsr(),
            b_eq=np.concatenate([np.ones(self.shape[0]), self.e]),
            bounds=[(0.0, None)] * n + [(0.0, 1.0)],
        )
        if found.status != 0 or found.x is None:
            return None
        q = np.where(positive, np.maximum(found.x[:-1], 0.0), 0.0).reshape(self.shape)
        return q / q.sum(axis=1, keepdims=True)

    def cheapest(self, cost: Floats) -> Floats | None:
        """The mechanism of least cost."""
        found = self.solve(
            cost.reshape(-1),
            A_ub=self.A,
            b_ub=self.h,
            A_eq=vstack([self.sums, self.B]).tocsr(),
            b_eq=np.concatenate([np.ones(self.shape[0]), self.e]),
            bounds=[(0.0, None)] * self.entries,
        )
        return found.x if found.status == 0 else None

    # ------------------------------------------------------------ outside

    def outside(self) -> Outside | None:
        """Multipliers of the least t with A q <= h + t, |B q - e| <= t, where that is above 0."""
        n, m, k = self.entries, len(self.h), len(self.e)
        left = vstack([self.A, self.B, -self.B]).tocsr()
        if not left.shape[0]:
            return None
        found = self.solve(
            np.append(np.zeros(n), 1.0),
            A_ub=hstack([left, _column(-np.ones(m + 2 * k))]).tocsr(),
            b_ub=np.concatenate([self.h, self.e, -self.e]),
            A_eq=hstack([self.sums, csr_matrix((self.shape[0], 1))]).tocsr(),
            b_eq=np.ones(self.shape[0]),
            bounds=[(0.0, None)] * (n + 1),
        )
        if found.status != 0 or found.fun <= EMPTY:
            return None
        marginals = np.maximum(-found.ineqlin.marginals, 0.0)
        return Outside(self._unscaled(marginals[:m], marginals[m : m + k] - marginals[m + k :]))

    def _unscaled(self, at_most: Floats, equal: Floats) -> Floats:
        prices = np.zeros(len(self.length))
        prices[~self.rows.equal], prices[self.rows.equal] = at_most, equal
        return np.asarray(prices / self.length)

    def raising(self, support: np.ndarray) -> Floats | None:
        """Multipliers that cost nothing and raise every entry outside of the support by at least 1."""
        m, k, count = len(self.h), len(self.e), self.shape[0]
        left = hstack([self.A.T, self.B.T, -self.B.T, self.sums.T, -self.sums.T])
        ends = np.concatenate([self.h, self.e, -self.e, np.ones(count), -np.ones(count)])
        found = self.solve(
            np.ones(m + 2 * k + 2 * count),
            A_ub=vstack([-left, csr_matrix(ends[None])]).tocsr(),
            b_ub=np.append(-(~support).astype(float).reshape(-1), 0.0),
            bounds=[(0.0, None)] * (m + 2 * k + 2 * count),
        )
        if found.status != 0 or found.x is None:
            return None
        return self._unscaled(found.x[:m], found.x[m : m + k] - found.x[m + k : m + 2 * k])


def inside(rows: LinearRows, shape: tuple[int, int], seconds: float = math.inf) -> Inside | Outside | None:
    """A mechanism inside all that can be met strictly; multipliers that say that there is none; None where doubles cannot tell."""
    programs = _Programs(rows, shape, seconds)
    found = programs.strict()
    if found is None:
        return programs.outside()
    strict, positive = found
    q = programs.deepest(strict, positive)
    if q is None:
        return None
    tight = rows.equal.copy()
    tight[~rows.equal] = ~strict
    return Inside(q, positive.reshape(shape), tight)


def raising(rows: LinearRows, support: np.ndarray, seconds: float = math.inf) -> Floats | None:
    """Multipliers that raise, in every bound and at no cost, the entries that are 0 in every mechanism; None if none are found."""
    if support.all():
        return np.zeros(len(rows.ends))
    return _Programs(rows, support.shape, seconds).raising(support)


def cheapest(rows: LinearRows, cost: Floats, seconds: float = math.inf) -> Floats | None:
    """The entries of the mechanism of least cost that meets the rows, as doubles see it; None without one."""
    return _Programs(rows, (cost.shape[0], cost.shape[1]), seconds).cheapest(cost)


def _column(values: Floats) -> csr_matrix:
    return coo_matrix(np.asarray(values, dtype=float)[:, None]).tocsr()
