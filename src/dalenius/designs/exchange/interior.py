"""Linear programs about a design's rows: a mechanism as far inside them as there is, what holds with equality, or why none does.

Nothing here is a proof: what is found in doubles is made exact, and judged, elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import bmat, coo_matrix, diags, eye, hstack, kron, spmatrix, vstack

from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.programs.demands import LinearRows
from dalenius.programs.highs import solved
from dalenius.programs.secrets import Tangent

FARTHEST = (
    1e6  # the factor that points may be enlarged by: rows that nothing meets with more room than 1e-6 count as tight
)
STRICT = 0.5
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

    def __init__(self, rows: LinearRows, shape: tuple[int, int], clock: Deadline) -> None:
        self.rows, self.shape, self.entries, self.clock = rows, shape, shape[0] * shape[1], clock
        self.sums = kron(eye(shape[0]), np.ones((1, shape[1])))
        length = np.sqrt(np.asarray(rows.matrix.multiply(rows.matrix).sum(axis=1)).reshape(-1)) + abs(rows.ends)
        self.length = np.where(length > 0.0, length, 1.0)
        scaled = (diags(1.0 / self.length) @ rows.matrix if len(rows.ends) else rows.matrix).tocsr()
        ends = rows.ends / self.length
        self.A, self.h = scaled[~rows.equal], ends[~rows.equal]
        self.B, self.e = scaled[rows.equal], ends[rows.equal]
        self.equations, self.met = vstack([self.sums, self.B]), np.concatenate([np.ones(shape[0]), self.e])

    # ------------------------------------------------------------ inside

    def strict(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Which inequalities, and which signs, some mechanism meets strictly; None if there is no mechanism.

        Largest sum of s <= 1 with A q + s <= h k, q >= s, for mechanisms enlarged by a factor k >= 1: a point of the relative
        interior, enlarged enough, has s = 1 wherever something is strict.
        """
        n, m = self.entries, len(self.h)
        found = solved(
            np.concatenate([np.zeros(n), -np.ones(m + n), [0.0]]),
            self.clock,
            A_ub=bmat([[self.A, eye(m), None, _column(-self.h)], [-eye(n), None, eye(n), None]]),
            b_ub=np.zeros(m + n),
            A_eq=hstack([_wider(self.equations, m + n), _column(-self.met)]),
            b_eq=np.zeros(len(self.met)),
            bounds=[(0.0, None)] * n + [(0.0, 1.0)] * (m + n) + [(1.0, FARTHEST)],
        )
        return None if found is None else (found.x[n : n + m] > STRICT, found.x[n + m : -1] > STRICT)

    def deepest(self, strict: np.ndarray, positive: np.ndarray) -> Floats | None:
        """A mechanism whose least room, of all that has any, is largest."""
        n = self.entries
        found = solved(
            np.append(np.zeros(n), -1.0),
            self.clock,
            A_ub=bmat([[self.A, _column(strict)], [-eye(n), _column(positive)]]),
            b_ub=np.concatenate([self.h, np.zeros(n)]),
            A_eq=_wider(self.equations, 1),
            b_eq=self.met,
            bounds=[(0.0, None)] * n + [(0.0, 1.0)],
        )
        if found is None:
            return None
        q = np.where(positive, np.maximum(found.x[:-1], 0.0), 0.0).reshape(self.shape)
        return q / q.sum(axis=1, keepdims=True)

    def cheapest(self, cost: Floats) -> Floats | None:
        """The mechanism of least cost."""
        rows = {"A_ub": self.A, "b_ub": self.h, "A_eq": self.equations, "b_eq": self.met}
        found = solved(cost.reshape(-1), self.clock, **rows)
        return None if found is None else found.x

    # ------------------------------------------------------------ outside

    def outside(self) -> Outside | None:
        """Multipliers of the least t with A q <= h + t, |B q - e| <= t, where that is above 0."""
        left = vstack([self.A, self.B, -self.B])
        if not left.shape[0]:
            return None
        found = solved(
            np.append(np.zeros(self.entries), 1.0),
            self.clock,
            A_ub=hstack([left, _column(-np.ones(left.shape[0]))]),
            b_ub=np.concatenate([self.h, self.e, -self.e]),
            A_eq=_wider(self.sums, 1),
            b_eq=np.ones(self.shape[0]),
        )
        if found is None or found.fun <= EMPTY:
            return None
        return Outside(self._unscaled(np.maximum(-found.ineqlin.marginals, 0.0)))

    def raising(self, support: np.ndarray) -> Floats | None:
        """Multipliers that cost nothing and raise every entry outside of the support by at least 1."""
        left = hstack([self.A.T, self.B.T, -self.B.T, self.sums.T, -self.sums.T])
        count = self.shape[0]
        ends = np.concatenate([self.h, self.e, -self.e, np.ones(count), -np.ones(count)])
        found = solved(
            np.ones(len(ends)),
            self.clock,
            A_ub=vstack([-left, ends[None]]),
            b_ub=np.append(-(~support).astype(float).reshape(-1), 0.0),
        )
        return None if found is None else self._unscaled(found.x)

    def _unscaled(self, multipliers: Floats) -> Floats:
        """Of the rows, from those of A, B and -B, which come first."""
        at_most, above, below = np.split(multipliers, np.cumsum([len(self.h), len(self.e), len(self.e)]))[:3]
        prices = np.zeros(len(self.length))
        prices[~self.rows.equal], prices[self.rows.equal] = at_most, above - below
        return np.asarray(prices / self.length)


def inside(rows: LinearRows, shape: tuple[int, int], clock: Deadline) -> Inside | Outside | None:
    """A mechanism inside all that can be met strictly; multipliers that say that there is none; None where doubles cannot tell."""
    programs = _Programs(rows, shape, clock)
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


def raising(rows: LinearRows, support: np.ndarray, clock: Deadline) -> Floats | None:
    """Multipliers that raise, in every bound and at no cost, the entries that are 0 in every mechanism; None if none are found."""
    if support.all():
        return np.zeros(len(rows.ends))
    return _Programs(rows, support.shape, clock).raising(support)


def cheapest(rows: LinearRows, cost: Floats, clock: Deadline) -> Floats | None:
    """The entries of the mechanism of least cost that meets the rows, as doubles see it; None without one."""
    return _Programs(rows, (cost.shape[0], cost.shape[1]), clock).cheapest(cost)


def _column(values: Floats) -> coo_matrix:
    return coo_matrix(np.asarray(values, dtype=float)[:, None])


def _wider(matrix: spmatrix, more: int) -> spmatrix:
    """With so many more columns, of zeros."""
    return hstack([matrix, coo_matrix((matrix.shape[0], more))])
