"""Shannon capacity of a channel by a primal-dual Newton method; every answer carries its own proof.

The proof is a pair of laws (p, r), whatever search found them:

    I(p) = sum_x p(x) D(R_x || pR) <= C <= max_x D(R_x || r).

The search drops the normalisation of p. With F(p) = R log(pR) - c and c(x) = sum_y R(x,y) log R(x,y), a law is
optimal exactly if some multiple of it (by e^C) solves the monotone complementarity problem

    p >= 0,   s = F(p) >= 0,   p s = 0,   and there s(x) = C - D(R_x || r).

Newton's method follows p s = mu as mu falls to zero, in a dozen steps. The Jacobian of F is R diag(1/r) R' with
r = pR; after scaling each step solves with

    1 + G G',   G = diag(sqrt(p/s)) R diag(1/sqrt(r)),

or with 1 + G' G, whichever is smaller. Its eigenvalues are at least 1, even where rows are nearly copies of each
other or the best input law is not unique.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline
from dalenius.information.entropies import relative_entropy, x_log_x

TINY = 1e-300  # a floor under output laws: D stays finite where p R underflows
MOST_STEPS = 60
PATIENCE = 8  # steps without halving the gap, after which rounding has the last word
BOUNDARY = (0.99, 0.7)  # share of the way to p = 0 or s = 0 that a step may go; the second where the first has failed
TILE = 60  # a BLAS starts threads for products of two matrices larger than about 64 x 64


@dataclass(frozen=True)
class Capacity:
    """Two laws and what they prove about the capacity C of a channel with rows R_x.

    Attributes
    ----------
    input_law : p, one weight an input; I(p) <= C
    output_law : r, one positive weight an output; C <= max_x D(R_x || r)
    divergences : D(R_x || r) of every input, in nats
    lower : I(p) = sum_x p(x) D(R_x || pR), in nats
    upper : max_x D(R_x || r), in nats; bound because I(p) <= sum_x p(x) D(R_x || r) for every p and every r

    Both are evaluated in doubles, without a margin for rounding (some 1e-15): whoever needs a proof evaluates the laws exactly.
    """

    input_law: Floats
    output_law: Floats
    divergences: Floats
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """upper - lower, in nats."""
        return self.upper - self.lower


def capacity(rows: Floats, *, gap: float = 1e-9, clock: Deadline | None = None) -> Capacity:
    """The capacity C = max over p of I(p; R) of one channel, in nats, between bounds at most `gap` apart.

    The upper bound is max_x D(R_x || r), a bound because it is at least sum_x p(x) D(R_x || r) = I(p) + D(pR || r) for every p.

    Parameters
    ----------
    rows : (inputs, outputs), row-stochastic
    gap : in nats; doubles allow 1e-13 and often less, and a gap that they do not allow gets the best there is
    clock : asked before every step; once it has expired the best laws so far are returned: the bounds hold, farther apart

    Returns
    -------
    Capacity : `lower` and `upper` are evaluated on `rows` itself, so no failure of the search can make them wrong

    Examples
    --------
    >>> answer = capacity(np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> exact = np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    >>> bool(answer.lower <= exact + 1e-15 and exact <= answer.upper + 1e-15), answer.gap <= 1e-9
    (True, True)
    """
    rows = np.asarray(rows, dtype=float)
    merged, first = _merge(rows)
    law = np.zeros(len(rows))
    law[first] = _search(merged[None], gap, clock)[0]
    return _certificate(rows, law)


def capacities(rows: Floats, *, gap: float = 1e-9, clock: Deadline | None = None) -> list[Capacity]:
    """The capacities of many small channels of one shape, searched together: `rows` is (channels, inputs, outputs).

    >>> noiseless, useless = capacities(np.array([np.eye(2), np.ones((2, 2)) / 2]))
    >>> bool(np.isclose(noiseless.lower, np.log(2))), useless.upper
    (True, 0.0)
    """
    rows = np.asarray(rows, dtype=float)
    return [_certificate(*pair) for pair in zip(rows, _search(rows, gap, clock), strict=True)]


def best_mixture(rows: Floats, negentropy: Floats, *, gap: float = 1e-9) -> Floats:
    """The weights w that maximise H(wR) + sum_j w(j) c(j): with c(j) = sum_y R(j,y) log R(j,y) those of the capacity.

    For priors p_1, p_2, ... of a channel W, R(j,.) = p_j W and c(j) = sum_x p_j(x) sum_y W(x,y) log W(x,y), it is the mutual
    information of the prior sum_j w(j) p_j.

    Parameters
    ----------
    rows : (laws, outputs), row-stochastic
    negentropy : (laws,), c(j), in nats
    gap : in nats, as in `capacity`

    Returns
    -------
    (laws,), a law; nothing is proved of it.

    >>> best_mixture(np.eye(2), np.zeros(2)).round(6).tolist()
    [0.5, 0.5]
    """
    return _search(np.asarray(rows, dtype=float)[None], gap, None, np.asarray(negentropy, dtype=float)[None])[0]


def _certificate(rows: Floats, law: Floats) -> Capacity:
    """Bounds from an input law, with the output law that it causes; a rounding error never turns the bounds around."""
    output = np.maximum(np.einsum("i,ij->j", law, rows), TINY)
    divergences = np.maximum(relative_entropy(rows, output), 0.0)
    upper = float(divergences.max())
    return Capacity(law, output, divergences, min(float(law @ divergences), upper), upper)


def _merge(rows: Floats) -> tuple[Floats, Integers]:
    """The channel without copies, and which rows it kept: proportional columns are added up, of equal rows the first stays.

    Lossless, because such columns say the same about the input. Rounding decides what is proportional, which cannot harm the proof:
    that is evaluated on `rows`.
    """
    columns = rows.T[rows.any(axis=0)]
    group, first = _groups((columns / columns.max(axis=1, keepdims=True)).round(14))
    if len(first) < len(columns):
        order = np.argsort(group, kind="stable")
        columns = np.add.reduceat(columns[order], np.searchsorted(group[order], np.arange(len(first))))
    stays = np.sort(_groups(columns.T)[1])
    return np.ascontiguousarray(columns.T[stays]), stays


def _groups(vectors: Floats) -> tuple[Integers, Integers]:
    """The group of every vector, and the first member of every group; sorting by one random product finds the equal ones."""
    key = np.einsum("ij,j->i", vectors, np.random.default_rng(0).random(vectors.shape[1]))
    order = np.argsort(key, kind="stable")
    new = np.append(True, np.any(vectors[order[1:]] != vectors[order[:-1]], axis=1))
    group = np.empty(len(vectors), dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    return group, order[new]


@dataclass
class _Points:
    """Unnormalised laws p and slacks s of a batch of channels, and of p the output measure r and F(p)."""

    rows: Floats
    negentropy: Floats
    p: Floats
    s: Floats
    r: Floats
    F: Floats

    @classmethod
    def start(cls, rows: Floats, negentropy: Floats) -> _Points:
        """The uniform law, so large that F >= 1: scaling p by t adds log t to every entry of F."""
        p = np.full(rows.shape[:2], 1.0 / rows.shape[1])
        points = cls(rows, negentropy, p, p, p, p)
        points.measure()
        points.p = p * np.exp(1.0 - points.F.min(axis=1, keepdims=True))
        points.measure()
        points.s = points.F
        return points

    def measure(self) -> None:
        """r and F for a new p."""
        self.r = np.maximum(np.einsum("bi,bij->bj", self.p, self.rows), TINY)
        self.F = np.einsum("bij,bj->bi", self.rows, np.log(self.r)) - self.negentropy

    def gaps(self) -> tuple[Floats, Floats]:
        """The laws, and what they leave between the bounds: max_x D - sum_x p D, where D = log sum p - F."""
        law = self.p / self.p.sum(axis=1, keepdims=True)
        return law, np.sum(law * self.F, axis=1) - self.F.min(axis=1)

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Only these channels."""
        for name in ("rows", "negentropy", "p", "s", "r", "F"):
            setattr(self, name, getattr(self, name)[which])

    def advance(self, boundary: float) -> None:
        """A predictor to p s = 0, which tells how far mu may fall, then a step to p s = mu with the predictor's second-order term."""
        mu = np.mean(self.p * self.s, axis=1, keepdims=True)
        system = _System(self)
        dp, ds = system.solve(np.zeros_like(self.p))
        length = self._length(dp, ds)
        after = np.mean((self.p + length * dp) * (self.s + length * ds), axis=1, keepdims=True)
        dp, ds = system.solve((after / mu) ** 3 * mu - dp * ds)
        length = np.minimum(1.0, boundary * self._length(dp, ds))
        self.p, self.s = self.p + length * dp, self.s + length * ds
        self.measure()

    def _length(self, dp: Floats, ds: Floats) -> Floats:
        """Share of a step, at most all, that leaves p and s nonnegative."""
        falls = np.minimum(dp / self.p, ds / self.s).min(axis=1, keepdims=True)
        return 1.0 / np.maximum(1.0, -falls)


class _System:
    """The linear system of a Newton step: ds = J dp - (s - F), s dp + p ds = target - p s."""

    def __init__(self, points: _Points) -> None:
        self._points, self._scale = points, np.sqrt(points.p / points.s)
        self._G = self._scale[:, :, None] * (points.rows / np.sqrt(points.r)[:, None, :])
        self._tall = self._G.shape[1] > self._G.shape[2]
        self._factor = _Tiles(self._G.swapaxes(1, 2) if self._tall else self._G)

    def solve(self, target: Floats) -> tuple[Floats, Floats]:
        """The step (dp, ds), refined once: tiny slacks make the system ill-conditioned."""
        p, s, F = self._points.p, self._points.s, self._points.F
        right = self._scale * (target / p - F)
        x = self._solve(right)
        x += self._solve(right - x - self._times(self._transposed_times(x)))
        dp = self._scale * x
        return dp, (target - s * dp) / p - s

    def _solve(self, right: Floats) -> Floats:
        """(1 + G G')^-1 right, also where only 1 + G' G has been factored."""
        if self._tall:
            return right - self._times(self._factor.solve(self._transposed_times(right)))
        return self._factor.solve(right)

    def _times(self, x: Floats) -> Floats:
        return np.einsum("bij,bj->bi", self._G, x)

    def _transposed_times(self, x: Floats) -> Floats:
        return np.einsum("bij,bi->bj", self._G, x)


class _Tiles:
    """1 + A A' for a batch of matrices A (batch, height, width), eliminated in square tiles.

    The tiles are so small that a BLAS does not share their products between threads: on cores that have other work to do, threads
    that wait for each other make a plain factorisation many times slower than this; on idle ones the two take about as long. Products
    with vectors use einsum for the same reason.
    """

    def __init__(self, A: Floats) -> None:
        self._height = A.shape[1]
        self._tiles = _gram(_cut(A))  # (batch, tile rows, tile rows, height, height), of which the lower ones count
        self._count, height = self._tiles.shape[2:4]
        shift = 1.0 + 1e-15 * np.einsum("bkkii->b", self._tiles)  # where A A' is large, 1 alone would be rounded away
        for k in range(self._count):
            self._tiles[:, k, k] += shift[:, None, None] * np.eye(height)
        for k in range(self._count - 1):
            # take tile row k off those below
            below = self._tiles[:, k + 1 :, k]
            factors = _quotient(self._tiles[:, None, k, k], below.swapaxes(2, 3))
            for i in range(below.shape[1]):
                self._tiles[:, k + 1 + i, k + 1 : k + 2 + i] -= below[:, i, None] @ factors[:, : i + 1]

    def solve(self, right: Floats) -> Floats:
        """(1 + A A')^-1 right, for (batch, height)."""
        batch, tiles = len(right), self._tiles
        x = np.zeros((batch, self._count * tiles.shape[3]))
        x[:, : self._height] = right
        x = x.reshape(batch, self._count, -1)
        for k in range(self._count - 1):
            factor = _quotient(tiles[:, k, k], x[:, k, :, None])[:, :, 0]
            x[:, k + 1 :] -= np.einsum("bkij,bj->bki", tiles[:, k + 1 :, k], factor)
        for k in reversed(range(self._count)):
            rest = x[:, k] - np.einsum("bkji,bkj->bi", tiles[:, k + 1 :, k], x[:, k + 1 :])
            x[:, k] = _quotient(tiles[:, k, k], rest[:, :, None])[:, :, 0]
        return x.reshape(batch, -1)[:, : self._height]


def _cut(A: Floats) -> Floats:
    """`A` in tiles of equal size, filled up with zeros: (batch, tile rows, tile columns, height, width)."""
    batch, *shape = A.shape
    down = -(-shape[0] // TILE)
    height = -(-shape[0] // down)
    across = -(-shape[1] // (TILE**3 // height**2))
    width = -(-shape[1] // across)
    padded = np.zeros((batch, down * height, across * width))
    padded[:, : shape[0], : shape[1]] = A
    return np.ascontiguousarray(padded.reshape(batch, down, height, across, width).swapaxes(2, 3))


def _gram(tiles: Floats) -> Floats:
    """The lower tiles of A A', from those of A: (batch, tile rows, tile rows, height, height)."""
    batch, down, _, height, _ = tiles.shape
    product = np.zeros((batch, down, down, height, height))
    for i in range(down):
        product[:, i, : i + 1] = np.sum(tiles[:, i, None] @ tiles[:, : i + 1].swapaxes(3, 4), axis=2)
    return product


def _quotient(matrices: Floats, right: Floats) -> Floats:
    """matrices^-1 right; nan where rounding has made a matrix singular, which ends its run: the best law so far stays."""
    try:
        return np.asarray(np.linalg.solve(matrices, right), dtype=float)
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.full_like(right, np.nan)
        return np.concatenate([_quotient(matrices[j : j + 1], right[j : j + 1]) for j in range(len(matrices))])


def _search(rows: Floats, gap: float, clock: Deadline | None, negentropy: Floats | None = None) -> Floats:
    """The best input laws found, (channels, inputs); those that missed the gap run again, with shorter steps."""
    laws = np.full(rows.shape[:2], 1.0 / rows.shape[1])
    gaps = np.full(len(rows), np.inf)
    negentropy = x_log_x(rows).sum(axis=2) if negentropy is None else negentropy
    for boundary in BOUNDARY:
        late = np.flatnonzero(gaps > gap)
        if late.size:
            new_laws, new_gaps = _follow(rows[late], negentropy[late], gap, clock, boundary)
            better = new_gaps < gaps[late]
            laws[late[better]], gaps[late[better]] = new_laws[better], new_gaps[better]
        if clock is not None and clock.expired:
            break
    return laws


def _follow(
    rows: Floats, negentropy: Floats, gap: float, clock: Deadline | None, boundary: float
) -> tuple[Floats, Floats]:
    """The best laws on one run along the path, and their gaps; a channel leaves the batch when it is done."""
    points = _Points.start(rows, negentropy)
    laws, gaps = points.gaps()
    left = np.arange(len(rows))  # the channels still in the batch
    halved, since = gaps.copy(), np.zeros(len(rows))  # the gap when it last fell by half, and how many steps ago
    with np.errstate(all="ignore"):  # where rounding takes over, numbers that are none lose every comparison
        for _ in range(MOST_STEPS):
            # half the gap: the bounds are evaluated again, with other rounding errors
            stays = (gaps[left] > 0.5 * gap) & (since[left] <= PATIENCE) & np.isfinite(points.s.sum(axis=1))
            if not stays.all():
                left = left[stays]
                points.keep(stays)
            if not left.size or (clock is not None and clock.expired):
                break
            points.advance(boundary)
            new_laws, new_gaps = points.gaps()
            better = new_gaps < gaps[left]
            laws[left[better]], gaps[left[better]] = new_laws[better], new_gaps[better]
            fell = gaps <= 0.5 * halved
            halved, since = np.where(fell, gaps, halved), np.where(fell, 0.0, since + 1.0)
    return laws, gaps
