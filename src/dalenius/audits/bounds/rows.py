"""The row problem of the dual bound: max over laws w on one letter's classes of D(w R || r) + beta H(w).

K = w R enters through sum K log K, convex, plus a concave rest. On a box low <= K <= high the convex part lies below its
line of any slope kappa, with intercept B; what remains has the closed form

    sum_y B(y) + beta log sum_k N(k) exp( sum_y R(k,y) (kappa - log r)(y) / beta ).

The best slope is the secant's plus a multiplier nu of the box.
"""

from __future__ import annotations

import numpy as np

from dalenius.audits.bounds.newton import newton
from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.box_multipliers import SMOOTHING, box_price, multiplier_size
from dalenius.information.deadline import Deadline
from dalenius.information.secants import intercept, secant, tighten
from dalenius.search.boxes import Relaxed
from dalenius.search.decimals import branching_point

__all__ = ["RowRelaxation", "relaxation_bytes", "row_maximum"]

STEPS = 10
MOST_OUTPUTS = 96  # above this the multipliers stay zero: a Newton step would cost more than it gains


class RowRelaxation:
    """Upper bounds of the row problem on boxes of K; entropies relative to the uniform prior.

    A hint is the slopes kappa = slope + nu of the lines above K log K: inherited, they give a child a bound no worse.
    """

    def __init__(
        self, rows: Floats, log_uniform: Floats, output_law: Floats, beta: float, *, decimals: int = 9
    ) -> None:
        self.rows, self.log_uniform, self.beta, self.decimals = rows, log_uniform, beta, decimals
        self.log_law = np.log(output_law)
        outputs = rows.shape[1]
        self.products = (
            (rows[:, :, None] * rows[:, None, :]).reshape(-1, outputs**2) if outputs <= MOST_OUTPUTS else None
        )

    def __call__(self, low: Floats, high: Floats, hints: Floats) -> Relaxed:
        low, high = tighten(low, high, axis=1)
        at_zero, slope = secant(low, high)
        trials = [hints, np.round(slope, self.decimals)]
        if self.products is not None:
            trials.append(np.round(slope + self._improve(slope - self.log_law, low, high), self.decimals))
        kappa, w, bounds = hints, np.empty(0), np.full(len(low), np.inf)
        for trial in trials:
            value, w_trial = self._bound(trial, low, high)
            better = (value < bounds)[:, None]
            kappa, bounds = np.where(better, trial, kappa), np.minimum(bounds, value)
            w = np.where(better, w_trial, w) if w.size else w_trial
        K = w @ self.rows
        error = np.where((low < K) & (high > K), at_zero + slope * K - x_log_x(K), 0.0)
        coordinate = np.argmax(error, axis=1)
        pick = np.arange(len(K)), coordinate
        threshold = branching_point(K[pick], low[pick], high[pick])
        splits = (error[pick] > 0.0) & (threshold > low[pick]) & (threshold < high[pick])
        bounds = np.where((low > high).any(axis=1), -np.inf, bounds)
        return Relaxed(bounds, kappa, np.where(splits, coordinate, -1), threshold)

    def _bound(self, kappa: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The bound that lines of these slopes prove, and its maximiser w."""
        weight = self.log_uniform + (kappa - self.log_law) @ self.rows.T / self.beta
        total = log_sum_exp(weight)
        return self.beta * total + intercept(kappa, low, high).sum(axis=1), np.exp(weight - total[:, None])

    def _evaluate(
        self, base: Floats, nu: Floats, low: Floats, high: Floats, smoothing: Floats | float = 0.0
    ) -> tuple[Floats, Floats]:
        weight = self.log_uniform + (base + nu) @ self.rows.T / self.beta
        total = log_sum_exp(weight)
        price = box_price(nu, low, high, smoothing)[0].sum(axis=1)
        return self.beta * total + price, np.exp(weight - total[:, None])

    def _improve(self, base: Floats, low: Floats, high: Floats) -> Floats:
        """A few damped Newton steps from nu = 0 on the smoothed dual, for ever less smoothing."""
        assert self.products is not None
        outputs = self.rows.shape[1]
        nu = np.zeros_like(base)
        w = self._evaluate(base, nu, low, high)[1]
        K = w @ self.rows
        variance = w @ self.rows**2 - K**2
        size = multiplier_size(np.maximum(K - high, low - K), variance / self.beta)
        for smoothing in (size * factor for factor in SMOOTHING):
            value, w = self._evaluate(base, nu, low, high, smoothing)
            for _ in range(STEPS):
                before = value
                _, first, second = box_price(nu, low, high, smoothing)
                K = w @ self.rows
                hessian = (w @ self.products).reshape(-1, outputs, outputs) - K[:, :, None] * K[:, None, :]
                hessian /= self.beta
                hessian[:, range(outputs), range(outputs)] += second
                step = newton(K + first, hessian)
                length = np.ones((len(nu), 1))
                for _ in range(5):
                    trial = nu + length * step
                    value_trial, w_trial = self._evaluate(base, trial, low, high, smoothing)
                    better = (value_trial < value)[:, None]
                    nu, w, value = (
                        np.where(better, trial, nu),
                        np.where(better, w_trial, w),
                        np.minimum(value, value_trial),
                    )
                    if better.all():
                        break
                    length = np.where(better, 0.0, 0.35 * length)
                if np.all(before - value < 1e-9):
                    break
        return nu


def relaxation_bytes(rows: Floats, letters: int) -> int:
    """What the relaxations of so many letters hold, those of a record's rows (classes, outputs)."""
    classes, outputs = rows.shape
    return 8 * letters * classes * (outputs**2 if outputs <= MOST_OUTPUTS else outputs)


def row_maximum(
    rows: Floats,
    log_uniform: Floats,
    output_law: Floats,
    beta: float,
    starts: Floats,
    clock: Deadline,
    *,
    steps: int = 400,
) -> float:
    """The row problem from below: convex-concave steps w ~ N exp(R log(K/r) / beta) from each start (starts, classes)."""
    w = starts
    log_law = np.log(output_law)
    for _ in range(steps):
        K = w @ rows
        weight = log_uniform + (np.log(np.maximum(K, 1e-300)) - log_law) @ rows.T / beta
        new = np.exp(weight - log_sum_exp(weight)[:, None])
        moved = np.max(np.abs(new - w))
        w = new
        if moved < 1e-13 or clock.expired:
            break
    K = w @ rows
    entropy = w @ np.where(np.isfinite(log_uniform), log_uniform, 0.0) - x_log_x(w).sum(axis=1)
    values = x_log_x(K).sum(axis=1) - K @ log_law + beta * entropy
    return float(values.max())
