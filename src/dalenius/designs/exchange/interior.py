"""Linear programs about a design's rows: a mechanism as far inside them as there is, what holds with equality, or why none does.

Nothing in doubles is a proof: what is found is made exact, and judged, elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq
from scipy.sparse import bmat, coo_matrix, diags, eye, hstack, kron, spmatrix, vstack

from dalenius.designs.exchange.rows import Row
from dalenius.information.arrays import Floats
from dalenius.information.balls import fraction, rational
from dalenius.information.deadline import Deadline
from dalenius.programs.demands import LinearRows
from dalenius.programs.highs import solved
from dalenius.programs.secrets import Tangent
from dalenius.search import Clock

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
        """Inequalities, and signs, that some mechanism meets strictly; None if there is no mechanism.

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
        return None if found is None else self._unscaled(np.maximum(found.x, 0.0))

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


# The same in exact numbers: for rows with less room than doubles can see.


_Terms = dict[int, fmpq]
LARGEST = 400  # rows and entries of a program that is tried: more take longer than they are worth
GREEDY = (
    4  # times as many steps as rows, after which the first column that helps is taken: that never goes round in circles
)


@dataclass(frozen=True, eq=False)
class Strict:
    """A point of the relative interior.

    Attributes
    ----------
    q : exact entries
    support : list of bool
        Entries that are not 0 in every mechanism.
    tight : list of bool
        Rows that hold with equality in every mechanism, equations too.
    """

    q: list[Fraction]
    support: list[bool]
    tight: list[bool]


def strictly(rows: Sequence[Row], shape: tuple[int, int], clock: Clock) -> Strict | list[Fraction] | None:
    """A point inside all that can be met strictly; multipliers whose sum no mechanism meets; None without time, or of too many rows.

    Largest sum of s and t, all at most 1, with A q + t <= h k, B q = e k, q >= s, and rows of q with sum k: an enlarged mechanism
    has 1 wherever something can be strict, and without any mechanism the optimum is 0, and its multipliers say why.

    >>> half = Row({0: Fraction(1)}, Fraction(1, 10**40), False)
    >>> found = strictly([half], (1, 2), Clock(1.0))
    >>> 0 < found.q[0] < Fraction(1, 10**40), found.support, found.tight
    (True, [True, True], [False])
    >>> strictly([half, Row({1: Fraction(1)}, 1 - Fraction(2, 10**40), False)], (1, 2), Clock(1.0))[0] > 0
    True
    """
    count, outputs = shape
    n, below, equal = count * outputs, [r for r in rows if not r.equal], [r for r in rows if r.equal]
    if n + len(rows) > LARGEST:
        return None
    m = len(below)
    slacks, k = 2 * n, 2 * n + m  # after the entries less s, and s: t, k, then what is left in rows, of s and of t
    left, markers = k + 1, k + 1 + 2 * m + n
    program = _Simplex(markers, [*range(n, k)])
    sums = [Row({x * outputs + y: Fraction(1) for y in range(outputs)}, Fraction(1), True) for x in range(count)]
    for j, row in enumerate([*equal, *sums]):
        program.equation({**_enlarged(row, n, k), markers + j: fmpq(1)})
    for r, row in enumerate(below):
        program.row({**_enlarged(row, n, k), slacks + r: fmpq(1)}, left + r)
    for i in range(n + m):
        program.row({n + i: fmpq(1)}, left + m + i, fmpq(1))
    if not program.solve(clock):
        return None
    if not program.value:
        prices = iter(program.prices(range(left, left + m))), iter(program.prices(range(markers, markers + len(equal))))
        return [next(prices[row.equal]) for row in rows]
    point = program.point()
    size = point[k]
    met = iter([not point.get(slacks + r) for r in range(m)])
    return Strict(
        [fraction((point.get(i, fmpq(0)) + point.get(n + i, fmpq(0))) / size) for i in range(n)],
        [bool(point.get(n + i)) for i in range(n)],
        [True if row.equal else next(met) for row in rows],
    )


def _enlarged(row: Row, n: int, k: int) -> _Terms:
    """Of an entry less s, and of s, the row's factors, and of k its end on the other side."""
    terms = {i: rational(c) for i, c in row.terms.items() if c}
    end = {k: rational(-row.end)} if row.end else {}
    return {**terms, **{n + i: c for i, c in terms.items()}, **end}


class _Simplex:
    """A linear program in exact numbers whose start is 0: the simplex method on rows of what is not 0."""

    def __init__(self, columns: int, worth: Iterable[int]) -> None:
        self.columns = columns  # that may be used; those beyond only mark what equations were multiplied by
        self.rows, self.ends, self.basis = list[_Terms](), list[fmpq](), list[int]()
        self.gains: _Terms = {j: fmpq(1) for j in worth}
        self.value = fmpq(0)

    def row(self, terms: _Terms, slack: int, end: fmpq = fmpq(0)) -> None:
        """sum of terms <= end: for what the equations leave, so after them."""
        self.rows.append({**terms, slack: fmpq(1)})
        self.ends.append(end)
        self.basis.append(slack)
        for i in range(len(self.rows) - 1):
            self._clear(self.rows[-1], i, self.basis[i])

    def equation(self, terms: _Terms) -> None:
        """sum of terms = 0, of which one column is expressed by the others; one that follows from others is left out."""
        for i in range(len(self.rows)):
            self._clear(terms, i, self.basis[i])
        column = min((j for j in terms if j < self.columns), default=None)
        if column is not None:
            self.rows.append(terms)
            self.ends.append(fmpq(0))
            self.basis.append(column)
            self._pivot(len(self.rows) - 1, column)

    def solve(self, clock: Clock) -> bool:
        """True if the optimum was found in time."""
        steps = 0
        while helpful := [j for j, gain in self.gains.items() if gain > 0 and j < self.columns]:
            if clock.expired:
                return False
            greedy, steps = steps < GREEDY * len(self.rows), steps + 1
            column = max(helpful, key=lambda j: self.gains[j]) if greedy else min(helpful)
            held = [i for i, row in enumerate(self.rows) if row.get(column, 0) > 0]
            self._pivot(min(held, key=lambda i: (self.ends[i] / self.rows[i][column], self.basis[i])), column)
        return True

    def _pivot(self, leaving: int, column: int) -> None:
        row = self.rows[leaving]
        factor = row[column]
        self.rows[leaving] = {j: c / factor for j, c in row.items()}
        self.ends[leaving] /= factor
        self.basis[leaving] = column
        for i, other in enumerate(self.rows):
            if i != leaving and column in other:
                self.ends[i] -= self._clear(other, leaving, column) * self.ends[leaving]
        self.value += self._clear(self.gains, leaving, column) * self.ends[leaving]

    def _clear(self, terms: _Terms, row: int, column: int) -> fmpq:
        """Take the column out of these terms by that row; how often it was taken."""
        times = terms.get(column)
        if times is None:
            return fmpq(0)
        for j, c in self.rows[row].items():
            new = terms[j] - times * c if j in terms else -times * c
            if new:
                terms[j] = new
            else:
                terms.pop(j, None)
        return times

    def point(self) -> _Terms:
        return dict(zip(self.basis, self.ends, strict=True))

    def prices(self, columns: Iterable[int]) -> list[Fraction]:
        """The multipliers of the rows whose slacks or marks these are."""
        return [fraction(-self.gains.get(j, fmpq(0))) for j in columns]
