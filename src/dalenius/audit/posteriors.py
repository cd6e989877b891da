"""Problem 1 from above: branch and bound on the posterior phi(a|y) with column secants (docs/theory.md).

I = H(pi) + sum_y r(y) sum_a phi log phi. On a box low <= phi <= high the inner term lies below its secant, which makes the second
term linear in the prior. With slopes sigma of the lines (a secant's plus a multiplier nu of the box), their intercepts A, and a
multiplier mu of the entropy bound the maximum over priors is the closed form

    c(a,k) = sum_y R(k,y) [ sum_a' A(a',y) + sigma(a,y) ],
    I <= max over p of <c,p> + H(pi) + mu (H(p) - b)                                  (see dalenius.audit.tilt).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dalenius.audit.box_tree import BoxTree, Relaxed, short
from dalenius.audit.clock import Clock
from dalenius.audit.secants import (
    SMOOTHING,
    box_price,
    branching_point,
    intercept,
    multiplier_size,
    newton,
    secant,
    tighten,
)
from dalenius.audit.tilt import Tilt, tilt
from dalenius.information import x_log_x
from dalenius.problems.aggregation import RecordChannel

__all__ = ["PosteriorRelaxation", "PosteriorTree"]

Floats = NDArray[np.float64]
STEPS = 10
BATCH = 64
MOST_MULTIPLIERS = 64  # above this they stay zero: a Newton step would cost more than it gains


class PosteriorRelaxation:
    """Upper bounds of the leakage on boxes of the posterior.

    A box is a flat vector over (boxed letters, outputs). With two letters only the posterior of letter 1 is boxed, that of letter 0
    follows; with more, all are. A hint is the slopes of the lines above phi log phi for every letter, flat, then mu: a child that
    keeps its parent's slopes has lines no higher on its box, so its bound is no worse.
    """

    def __init__(self, channel: RecordChannel, *, decimals: int = 9) -> None:
        self.decimals = decimals
        self.rows, self.log_shares, self.deficit = channel.rows, channel.log_shares, channel.deficit
        self.letters, self.outputs = channel.letters, channel.rows.shape[1]
        self.boxed = [1] if self.letters == 2 else list(range(self.letters))
        self.size = len(self.boxed) * self.outputs
        self.improves = self.size <= MOST_MULTIPLIERS
        if self.improves:
            self.products = (self.rows[:, :, None] * self.rows[:, None, :]).reshape(-1, self.outputs**2)
        self.select = np.eye(self.letters)[:, self.boxed]  # (letters, boxed letters)
        self.point: Floats | None = None  # the maximiser in the box of the last batch with the largest bound

    def root(self, mu: float) -> tuple[Floats, Floats, Floats]:
        """The box [0, 1] and hints to start with."""
        slopes = np.zeros(self.letters * self.outputs)
        return np.zeros(self.size), np.ones(self.size), np.append(slopes, max(mu, 1e-3))

    def __call__(self, low: Floats, high: Floats, hints: Floats) -> Relaxed:
        full_low, full_high = self._all_letters(low, high)
        low, high = (x[:, self.boxed].reshape(low.shape) for x in (full_low, full_high))
        at_zero, slope = secant(full_low, full_high)
        plain = np.concatenate([np.zeros_like(low), hints[:, -1:]], axis=1)
        trials = [hints, self._slopes(slope, plain)]
        if self.improves:
            base = at_zero.sum(axis=1)[:, None, :] + slope
            trials.append(self._slopes(slope, self._improve(base, low, high, plain)))
        best, p, bounds = hints, np.empty(0), np.full(len(low), np.inf)
        for trial in trials:
            point, value = self._bound(trial, full_low, full_high)
            better = (value < bounds)[:, None]
            best, bounds = np.where(better, trial, best), np.minimum(bounds, value)
            p = np.where(better[..., None], point.p, p) if p.size else point.p
        bounds = np.where((full_low > full_high).any(axis=(1, 2)), -np.inf, bounds)
        self.point = p[np.argmax(bounds)]
        return Relaxed(bounds, best, *self._branch(p, low, high, full_low, full_high, at_zero, slope))

    def _slopes(self, slope: Floats, x: Floats) -> Floats:
        """Multipliers (nu, mu) as hints: slopes of every letter's lines, and mu, rounded short."""
        nu = x[:, :-1].reshape(len(x), len(self.boxed), self.outputs)
        slopes = np.round(slope + self.select @ nu, self.decimals).reshape(len(x), -1)
        return np.concatenate([slopes, short(x[:, -1:], 7)], axis=1)

    def _bound(self, hints: Floats, low: Floats, high: Floats) -> tuple[Tilt, Floats]:
        """The maximiser, and the bound that these hints prove."""
        sigma, mu = hints[:, :-1].reshape(low.shape), hints[:, -1]
        gain = intercept(sigma, low, high).sum(axis=1)[:, None, :] + sigma
        point = tilt(gain @ self.rows.T, self.log_shares, mu)
        return point, point.value + mu * self.deficit

    def _branch(
        self,
        p: Floats,
        low: Floats,
        high: Floats,
        full_low: Floats,
        full_high: Floats,
        at_zero: Floats,
        slope: Floats,
    ) -> tuple[NDArray[np.int64], Floats]:
        """The output whose secants err most at the maximiser, and there the letter that errs most."""
        u = p @ self.rows
        r = u.sum(axis=1)
        phi = np.clip(u / np.maximum(r, 1e-300)[:, None, :], full_low, full_high)
        error = r[:, None, :] * np.maximum(at_zero + slope * phi - x_log_x(phi), 0.0)
        middle = 0.5 * (full_low + full_high)
        widest = r[:, None, :] * (
            at_zero + slope * middle - x_log_x(middle)
        )  # where the maximiser lies outside the box
        flat = (
            (error + 1e-3 * widest).sum(axis=1)[:, None, :] * (1e-9 + (error + 1e-3 * widest)[:, self.boxed])
        ).reshape(len(u), -1)
        coordinate = np.argmax(flat, axis=1)
        pick = np.arange(len(u)), coordinate
        threshold = branching_point(phi[:, self.boxed].reshape(len(u), -1)[pick], low[pick], high[pick])
        splits = (flat[pick] > 1e-18) & (threshold > low[pick]) & (threshold < high[pick])
        return np.where(splits, coordinate, -1), threshold

    def _all_letters(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The boxes of every letter, tightened with sum_a phi(a|y) = 1: (boxes, letters, outputs)."""
        low, high = low.reshape(-1, len(self.boxed), self.outputs), high.reshape(-1, len(self.boxed), self.outputs)
        if self.letters == 2:
            return np.concatenate([1.0 - high, low], axis=1), np.concatenate([1.0 - low, high], axis=1)
        return tighten(low, high, axis=1)

    def _scores(
        self, base: Floats, low: Floats, high: Floats, hints: Floats, smoothing: Floats | float = 0.0
    ) -> tuple[Floats, Floats, Floats]:
        """c (boxes, letters, classes), and the first and second derivative of the price in nu (boxes, boxed, outputs)."""
        nu = hints[:, :-1]
        price, first, second = (
            x.reshape(-1, len(self.boxed), self.outputs) for x in box_price(nu, low, high, smoothing)
        )
        nu = nu.reshape(-1, len(self.boxed), self.outputs)
        score = base + price.sum(axis=1)[:, None, :] + self.select @ nu
        return score @ self.rows.T, first, second

    def _evaluate(
        self, base: Floats, low: Floats, high: Floats, hints: Floats, smoothing: Floats | float = 0.0
    ) -> tuple[Tilt, Floats]:
        mu = hints[:, -1]
        point = tilt(self._scores(base, low, high, hints, smoothing)[0], self.log_shares, mu)
        return point, point.value + mu * self.deficit

    def _improve(self, base: Floats, low: Floats, high: Floats, hints: Floats) -> Floats:
        """A few damped Newton steps from nu = 0 on the smoothed dual in (nu, mu), for ever less smoothing."""
        hints = hints.copy()
        for factor in SMOOTHING:
            floor = 0.1 * factor  # for a small mu the dual is all kinks; approach it from above
            hints[:, -1] = np.maximum(hints[:, -1], floor)
            if factor == SMOOTHING[0]:
                size = self._multiplier_size(base, low, high, hints)
            smoothing = size * factor
            point, value = self._evaluate(base, low, high, hints, smoothing)
            for _ in range(STEPS):
                before = value
                step = newton(*self._derivatives(base, low, high, hints, point, smoothing))
                length = np.ones((len(hints), 1))
                for _ in range(5):
                    trial = hints + length * step
                    trial[:, -1] = np.clip(trial[:, -1], np.maximum(0.2 * hints[:, -1], floor), 5.0 * hints[:, -1])
                    trial_value = self._evaluate(base, low, high, trial, smoothing)[1]
                    better = (trial_value < value)[:, None]
                    hints, value = np.where(better, trial, hints), np.minimum(value, trial_value)
                    if better.all():
                        break
                    length = np.where(better, 0.0, 0.35 * length)
                if np.all(before - value < 1e-7):
                    break
                point = self._evaluate(base, low, high, hints, smoothing)[0]
        return hints

    def _multiplier_size(self, base: Floats, low: Floats, high: Floats, hints: Floats) -> Floats:
        point = self._evaluate(base, low, high, hints)[0]
        gradient, hessian = self._derivatives(
            base, low, high, hints, point, 1e9
        )  # so smooth that prices have no curvature
        r = np.tile(point.p.sum(axis=1) @ self.rows, (1, len(self.boxed)))
        violation = np.abs(gradient[:, :-1]) - 0.5 * r * (high - low)
        return multiplier_size(violation, np.diagonal(hessian, axis1=1, axis2=2)[:, :-1])

    def _derivatives(
        self, base: Floats, low: Floats, high: Floats, hints: Floats, point: Tilt, smoothing: Floats | float
    ) -> tuple[Floats, Floats]:
        """Gradient and Hessian of the dual in (nu, mu).

        A change g of the scores moves p by p (g - mean_a g)/mu within letters and p (mean_a g - mean g)/(1+mu) between them;
        nu(a',y) changes c(a,k) by R(k,y) times coefficient(a; a',y), mu by the surprise.
        """
        boxes = len(hints)
        mu = hints[:, -1][:, None]
        _, first, second = self._scores(base, low, high, hints, smoothing)
        K = point.w @ self.rows  # (boxes, letters, outputs)
        r = (point.pi[:, None, :] @ K)[:, 0]
        coefficient = (self.select[None, :, :, None] + first[:, None]).reshape(boxes, self.letters, self.size)
        tiled = np.tile(K, (1, 1, len(self.boxed)))
        means = coefficient * tiled  # mean change of a letter's scores, (boxes, letters, multipliers)
        surprise = np.sum(point.w * point.surprise, axis=-1)
        features = np.concatenate([means, surprise[..., None]], axis=2)
        average = (point.pi[:, None, :] @ features)[:, 0]
        hessian = np.einsum("ba,bai,baj->bij", point.pi, features, features) - average[:, :, None] * average[:, None, :]
        hessian /= (1.0 + mu)[:, :, None]
        covariance = (point.w @ self.products).reshape(boxes, self.letters, self.outputs, self.outputs)
        covariance = covariance - K[..., :, None] * K[..., None, :]
        weight = point.pi / mu
        blocks = np.tile(covariance, (1, 1, len(self.boxed), len(self.boxed)))
        hessian[:, :-1, :-1] += np.einsum("ba,bai,baj,baij->bij", weight, coefficient, coefficient, blocks)
        mixed = (point.w * point.surprise) @ self.rows - K * surprise[..., None]
        mixed = np.sum(weight[..., None] * coefficient * np.tile(mixed, (1, 1, len(self.boxed))), axis=1)
        hessian[:, :-1, -1] += mixed
        hessian[:, -1, :-1] += mixed
        spread = np.sum(point.w * point.surprise**2, axis=-1) - surprise**2
        hessian[:, -1, -1] += np.sum(weight * spread, axis=1)
        diagonal = np.arange(self.size)
        hessian[:, diagonal, diagonal] += (r[:, None, :] * second).reshape(boxes, -1)
        gradient = np.concatenate([average[:, :-1], (point.entropy + self.deficit)[:, None]], axis=1)
        return gradient, hessian


class PosteriorTree:
    """The tree over boxes of the posterior as a runner."""

    name = "posterior"

    def __init__(self, relaxation: PosteriorRelaxation, mu: float, *, target: float) -> None:
        self.relaxation, self.target = relaxation, target
        self.tree = BoxTree(relaxation, *relaxation.root(mu))

    @property
    def upper(self) -> float:
        return self.tree.upper

    @property
    def leaves(self) -> int:
        return self.tree.leaves

    @property
    def point(self) -> Floats | None:
        return self.relaxation.point

    def leaf_bytes(self) -> int:
        return self.tree.leaf_bytes()

    def grow(self, clock: Clock) -> bool:
        return self.tree.grow(BATCH, above=self.target)
