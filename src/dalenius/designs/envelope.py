"""Planes above what columns of mechanisms reveal: convex measures of columns, and a plane that is proved on cells of posteriors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dalenius.evidence.upper import Over
from dalenius.exact import Number
from dalenius.information.arrays import Floats, Integers
from dalenius.information.entropies import x_log_x
from dalenius.model.constraints.secret import JointLaw
from dalenius.model.constraints.secret_limits import Lines

# What a column tells: convex and homogeneous functions of its masses m (..., letters), for the letters' law pi.


def _ratios(m: Floats, pi: Floats) -> Floats:
    """m / (pi r), r the sum of m; 1 where there is no mass at all."""
    r = m.sum(axis=-1, keepdims=True)
    return np.divide(m, pi * r, out=np.ones_like(m), where=r > 0.0)


def _information(m: Floats, pi: Floats) -> Floats:
    t = _ratios(m, pi)
    return np.asarray((pi * m.sum(axis=-1, keepdims=True) * x_log_x(t)).sum(axis=-1))


def _information_slopes(m: Floats, pi: Floats) -> Floats:
    t = _ratios(m, pi)
    return np.log(np.where(t > 0.0, t, 1.0))


def _chi_square(m: Floats, pi: Floats) -> Floats:
    return np.asarray((m * _ratios(m, pi)).sum(axis=-1) - m.sum(axis=-1))


def _chi_square_slopes(m: Floats, pi: Floats) -> Floats:
    t = _ratios(m, pi)
    return 2.0 * t - (pi * t * t).sum(axis=-1, keepdims=True) - 1.0


def _guessing(m: Floats, pi: Floats) -> Floats:
    return np.asarray(m.max(axis=-1) - pi.max() * m.sum(axis=-1))


def _guessing_slopes(m: Floats, pi: Floats) -> Floats:
    return np.eye(len(pi))[m.argmax(axis=-1)] - pi.max()


Measured = Callable[[Floats, Floats], Floats]


def _of_lines(lines: Sequence[Sequence[Number]]) -> tuple[Measured, Measured]:
    """Those of the f-divergence whose function is the largest of some lines."""
    a, b = np.array(lines, dtype=float).T

    def value(m: Floats, pi: Floats) -> Floats:
        r = m.sum(axis=-1, keepdims=True)
        return np.asarray((a * m[..., None] + b * (pi * r)[..., None]).max(axis=-1).sum(axis=-1))

    def slopes(m: Floats, pi: Floats) -> Floats:
        chosen = (a * _ratios(m, pi)[..., None] + b).argmax(axis=-1)
        return a[chosen] + (pi * b[chosen]).sum(axis=-1, keepdims=True)

    return value, slopes


MEASURES: dict[str, tuple[Measured, Measured]] = {
    "mutual_information": (_information, _information_slopes),
    "chi_square": (_chi_square, _chi_square_slopes),
    "total_variation": _of_lines([(1, -1), (-1, 1)]),
    "guessing": (_guessing, _guessing_slopes),
}


SMALL_SHARE, ROUNDING = 1e-9, 1e-5  # of what an input reveals, and of a nat, by which it is raised


@dataclass(frozen=True, eq=False)
class Told:
    """f(v), what a column v of a mechanism reveals about a variable: convex and homogeneous in its masses m(v) = P v.

    Parameters
    ----------
    joint : (letters, inputs)
        P(u,x), for the letters that have mass.
    measure : str, or lines
        A key of `MEASURES`; or the (a, b) of a convex function max(a t + b).
    """

    joint: Floats
    measure: str | Lines

    @classmethod
    def of_law(cls, law: JointLaw, measure: str | Lines) -> Told:
        """In doubles.

        >>> Told.of_law(JointLaw(((0.5, 0), (0, 0), (0, 0.5))), "mutual_information").of(np.eye(2)).round(6).tolist()
        [0.346574, 0.346574]
        """
        return cls(np.array([law.masses[u] for u in law.letters], dtype=float), measure)

    @cached_property
    def _measured(self) -> tuple[Measured, Measured]:
        return MEASURES[self.measure] if isinstance(self.measure, str) else _of_lines(self.measure)

    @property
    def smooth(self) -> bool:
        """False where lines meet: a peak of what they are taken off may be there."""
        return self.measure in ("mutual_information", "chi_square")

    @cached_property
    def pi(self) -> Floats:
        """The law of the letters."""
        return np.asarray(self.joint.sum(axis=1))

    def of_masses(self, m: Floats) -> Floats:
        """f, by the masses (..., letters)."""
        return self._measured[0](m, self.pi)

    def slopes(self, m: Floats) -> Floats:
        """t with f = t.m at these masses, and f >= t.m at all others that have none where these have none."""
        return self._measured[1](m, self.pi)

    def of(self, columns: Floats) -> Floats:
        """f of columns (..., inputs)."""
        return self.of_masses(columns @ self.joint.T)

    @cached_property
    def alone(self) -> Floats:
        """Leakage of each input by itself, rounded up: no column leaks more than these together."""
        told = self.of(np.eye(self.joint.shape[1]))
        if self.measure != "guessing":  # whose gain at an input may be a loss; all others are only rounded below 0
            told = np.maximum(told, 0.0)
        return np.asarray(told + SMALL_SHARE * (abs(told) + ROUNDING))

    def of_few(self, supports: Integers, values: Floats) -> Floats:
        """f of columns that have these values (..., k) at these inputs (..., k), else 0."""
        if self._own:  # the information about the input itself: letters elsewhere have no mass
            p = self.pi[supports]
            return _information(p * values, p)
        return self.of_masses(self.masses_of_few(supports, values))

    def masses_of_few(self, supports: Integers, values: Floats) -> Floats:
        """m of such columns."""
        at = self.joint[:, np.broadcast_to(supports, values.shape)]
        return np.asarray(np.einsum("u...k,...k->...u", at, values))

    @cached_property
    def _own(self) -> bool:
        square = self.joint.shape[0] == self.joint.shape[1]
        alone = square and np.count_nonzero(self.joint - np.diag(np.diagonal(self.joint))) == 0
        return alone and self.measure == "mutual_information"


GRIDS = {2: 64, 3: 16, 4: 8}  # steps of the points at which a plane is tried first, by how many letters a point has
COARSE = 5
ZOOMS = 9  # to 3e-5, of which a smooth peak loses the square
TRIED = 200  # points that are improved
CHUNK = 1 << 13  # cells at a time
MOST_CELLS = 1 << 17  # of a proof; the checker takes as many
DEEPEST = 60
ASCENTS = 40
SETTLING = 300
SMALL = 1e-12


@dataclass(frozen=True, eq=False)
class Sides:
    """Leakage of columns about use and the secret, computed once for all planes, whatever the limit.

    Parameters
    ----------
    useful, secret : Told
    """

    useful: Told
    secret: Told

    @cached_property
    def weights(self) -> Floats:
        """p(x), the law of the inputs that the secret has."""
        return np.asarray(self.secret.joint.sum(axis=0))

    @cached_property
    def seen(self) -> Integers:
        """The inputs that have mass there."""
        return np.flatnonzero(self.weights > 0.0)

    @cached_property
    def supports(self) -> Integers:
        """The sets of inputs on which cells are: on any fibre of the secret's masses a convex function is largest at so few."""
        size = min(len(self.secret.pi), len(self.seen))
        return np.array(list(itertools.combinations(self.seen.tolist(), size)), dtype=np.int64)

    @cached_property
    def blind(self) -> Floats:
        """Columns of one input each that has no mass there."""
        return np.eye(len(self.weights))[self.weights <= 0.0]

    @cached_property
    def grid(self) -> tuple[int, Floats, Floats, Floats]:
        """Number of steps; its points on a support; and f and g (supports, points) of their columns."""
        supports = self.supports
        steps = GRIDS.get(supports.shape[1], COARSE)
        points = np.array(list(_compositions(steps, supports.shape[1])), dtype=float) / steps
        told = [
            np.concatenate(
                [
                    each.of_few(some[:, None, :], points / self.weights[some][:, None, :])
                    for some in np.split(supports, range(64, len(supports), 64))
                ]
            )
            for each in (self.useful, self.secret)
        ]
        return steps, points, told[0], told[1]


@dataclass(frozen=True, eq=False)
class Envelope:
    """A plane lambda.v >= f(v) - mu g(v) over all columns v, f what they reveal of use and g what is limited.

    Hence sum_y f <= sum(lambda) + mu times the limit for every mechanism within it: columns sum to 1, and g of them to the limit.

    Parameters
    ----------
    sides : Sides
    mu : float
    prices : (inputs,)
        lambda.
    over : "inputs" or "useful"
        Where cells are: on posteriors of as many inputs as the secret has letters, or on those of the useful variable.
    """

    sides: Sides
    mu: float
    prices: Floats
    over: Over

    @property
    def useful(self) -> Told:
        """Information about use."""
        return self.sides.useful

    @property
    def secret(self) -> Told:
        """Information about the secret."""
        return self.sides.secret

    @property
    def weights(self) -> Floats:
        """p(x)."""
        return self.sides.weights

    def raised(self, by: float) -> Envelope:
        """The same with so much added to the sum of the prices: in proportion to p, and to prices of inputs without mass."""
        return replace(self, prices=self.prices + by * np.where(self.weights > 0.0, self.weights, 1.0))

    @property
    def supports(self) -> Integers:
        """Supports of its cells over inputs: without a price one input is enough."""
        return self.sides.supports if self.mu else self.sides.seen[:, None]

    def excess(self, columns: Floats) -> Floats:
        """f(v) - mu g(v) - lambda.v of columns (..., inputs)."""
        return self.useful.of(columns) - self.mu * self.secret.of(columns) - columns @ self.prices

    def closed(self, supports: Integers, points: Floats) -> np.ndarray:
        """True if each cell of vertices `points` (cells, vertices, coordinates) proves itself."""
        if self.over == "useful":
            slopes = self.useful.slopes(points.mean(axis=1))
            left = self.useful.of_masses(points) - (points * slopes[:, None, :]).sum(axis=-1)
            slopes = slopes + left.max(axis=1, keepdims=True)
            gains = slopes @ self.useful.joint - self.prices
            p = self.weights
            with np.errstate(over="ignore"):
                sums = np.exp(gains[:, p > 0.0] / (self.mu * p[p > 0.0])) @ p[p > 0.0]
            return np.asarray((sums <= 1.0) & (gains[:, p <= 0.0] <= 0.0).all(axis=1))
        scaled = points / self.weights[supports][:, None, :]
        useful = self.useful.of_few(supports[:, None, :], scaled)
        secret = np.einsum("uck,cvk->cvu", self.secret.joint[:, supports], scaled)
        slopes = self.secret.slopes(secret.sum(axis=1))
        least = (secret * slopes[:, None, :]).sum(axis=-1)
        paid = (scaled * self.prices[supports][:, None, :]).sum(axis=-1)
        return np.asarray((useful - self.mu * least <= paid).all(axis=1))

    # ------------------------------------------------------------ where it fails

    def worst(self) -> tuple[Floats, Floats]:
        """Columns (n, inputs) with sum 1 under p at which it fails most, as far as is seen, and their excess."""
        columns = self._useful_columns() if self.over == "useful" and self.mu > 0.0 else self._input_columns()
        columns = np.vstack([columns, self.sides.blind])
        return columns, self.excess(columns)

    def _input_columns(self) -> Floats:
        if not self.mu:
            return np.diag(1.0 / np.where(self.weights > 0.0, self.weights, 1.0))[self.sides.seen]
        supports = self.sides.supports
        k = supports.shape[1]
        steps, grid, told, taken = self.sides.grid
        found = (
            told - self.mu * taken - (self.prices / np.where(self.weights > 0.0, self.weights, 1.0))[supports] @ grid.T
        )
        starts = -(-TRIED // (2 * len(supports)))  # of one set: there may be several peaks
        best = np.argsort(-found, axis=1)[:, :starts]
        order = np.argsort(-np.take_along_axis(found, best, axis=1), axis=None)[:TRIED]
        held, at, width = supports[order // best.shape[1]], grid[best.reshape(-1)[order]], 1.0 / steps
        moves = np.array([(*m, -sum(m)) for m in itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=k - 1)])
        for _ in range(ZOOMS * (1 if self.secret.smooth and self.useful.smooth else 4)):
            near = np.maximum(at[:, None, :] + width * moves[None], 0.0)
            near /= near.sum(axis=-1, keepdims=True)
            values = self._on(held[:, None, :], near / self.weights[held][:, None, :])
            at = near[np.arange(len(near)), values.argmax(axis=1)]
            width /= 2.0
        columns = np.zeros((len(held), len(self.prices)))
        np.put_along_axis(columns, held, at / self.weights[held], axis=1)
        return columns

    def _on(self, supports: Integers, values: Floats) -> Floats:
        """The excess of columns that have these values on a support, else 0."""
        told = self.useful.of_few(supports, values) - self.mu * self.secret.of_few(supports, values)
        return np.asarray(told - (values * self.prices[supports]).sum(axis=-1))

    def _useful_columns(self) -> Floats:
        """By ascents: f's plane at the posterior, then the column that is best for it, in closed form; neither step falls."""
        k = len(self.useful.pi)
        steps = {2: 128, 3: 24}.get(k, COARSE)
        m = np.array(list(_compositions(steps, k)), dtype=float) / steps
        p, seen = self.weights, self.weights > 0.0
        columns = np.zeros((len(m), len(p)))
        for _ in range(ASCENTS):
            gains = (self.useful.slopes(m) @ self.useful.joint - self.prices)[:, seen] / (self.mu * p[seen])
            columns[:, seen] = np.exp(gains - gains.max(axis=1, keepdims=True))
            columns /= (columns @ p)[:, None]
            m = columns @ self.useful.joint.T
        return columns

    def settled(self, columns: Floats) -> tuple[Floats, Envelope]:
        """Columns, weighed, after steps of Blahut and Arimoto, which never lower f - mu g; and the prices that they come to.

        A column's share of an input is in proportion to exp(D/mu), D what the input gains at the column's posterior; what is left
        of the shares' sum is the input's price.
        """
        p, shares, gains = self.weights, columns.T / columns.sum(axis=0)[:, None], self.useful.joint / self.weights
        sums, most = np.ones(len(p)), np.zeros(len(p))
        for _ in range(SETTLING):
            r = p @ shares
            shares, r = shares[:, r > SMALL], r[r > SMALL]
            slopes = self.useful.slopes((self.useful.joint @ shares).T)
            scores = (slopes @ gains).T / self.mu
            most = scores.max(axis=1)
            shares = r * np.exp(scores - most[:, None])
            sums = shares.sum(axis=1)
            shares /= sums[:, None]
        return (shares / (p @ shares)).T, replace(self, prices=self.mu * p * (np.log(sums) + most))


def cells_of(planes: Sequence[Envelope], most: int = MOST_CELLS) -> int | None:
    """The number of cells that prove all of these together, with those that are halved; None where there are more.

    They are of one problem, and over cells of one kind. A cell is halved for those that it does not prove.
    """
    first = next((plane for plane in planes if plane.mu), planes[0])
    if any((plane.useful.of(plane.sides.blind) > plane.sides.blind @ plane.prices).any() for plane in planes):
        return None
    k = len(first.useful.pi) if first.over == "useful" else first.supports.shape[1]
    supports = np.zeros((1, 0), dtype=np.int64) if first.over == "useful" else first.supports
    left, points, count = supports, np.broadcast_to(np.eye(k), (len(supports), k, k)), 0
    unproved = np.ones((len(planes), len(left)), dtype=bool)
    for _ in range(DEEPEST):
        count += len(left)
        if count > most:
            return None
        for plane, open_ in zip(planes, unproved, strict=True):
            at = np.flatnonzero(open_)
            for n in range(0, len(at), CHUNK):
                some = at[n : n + CHUNK]
                open_[some] = ~plane.closed(left[some], points[some])
        kept = unproved.any(axis=0)
        left, points, unproved = left[kept], points[kept], unproved[:, kept]
        if not len(left):
            return count
        left, points, unproved = np.vstack([left, left]), _halved(points), np.hstack([unproved, unproved])
    return None


def _compositions(whole: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of so many, none negative."""
    if parts == 1:
        yield (whole,)
        return
    for first in range(whole + 1):
        for rest in _compositions(whole - first, parts - 1):
            yield (first, *rest)


def _halved(points: Floats) -> Floats:
    """Cells (cells, vertices, coordinates) cut at the middle of their longest edge, the first of the longest."""
    edges = list(itertools.combinations(range(points.shape[1]), 2))
    lengths = np.stack([((points[:, a] - points[:, b]) ** 2).sum(axis=-1) for a, b in edges], axis=1)
    ends = np.array(edges)[lengths.argmax(axis=1)]
    cells = np.arange(len(points))
    middle = (points[cells, ends[:, 0]] + points[cells, ends[:, 1]]) / 2.0
    first, second = points.copy(), points.copy()
    first[cells, ends[:, 0]] = middle
    second[cells, ends[:, 1]] = middle
    return np.vstack([first, second])
