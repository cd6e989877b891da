"""The row problem of the dual bound: max over laws w on one letter's classes of D(w R || r) + beta H(w).

K = w R enters through sum K log K, convex, plus a concave rest. On a box low <= K <= high the convex part lies below its
line of any slope kappa, with intercept B; what remains has the closed form

    sum_y B(y) + beta log sum_k N(k) exp( sum_y R(k,y) (kappa - log r)(y) / beta ).

The best slope is the secant's plus a multiplier nu of the box.
"""

from __future__ import annotations

import numpy as np

from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.row_solver import Multipliers
from dalenius.audits.bounds.short_slopes import shortened
from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.information.secants import intercept, secant, tighten
from dalenius.search.boxes import Relaxed
from dalenius.search.decimals import branching_point

MOST_OUTPUTS = 96  # above this the multipliers stay zero: a Newton step would cost more than it gains


class RowRelaxation:
    """Upper bounds of the row problem on boxes of K; entropies relative to the uniform prior.

    Once a bound is `enough` it is left as it is. A hint is the slopes kappa = slope + nu of the lines above K log K: inherited, they
    give a child a bound no worse.
    """

    def __init__(
        self,
        rows: Floats,
        log_uniform: Floats,
        output_law: Floats,
        beta: float,
        *,
        decimals: int = 9,
        enough: float = -np.inf,
        multipliers: Multipliers = row_multipliers,
    ) -> None:
        self.multipliers, self.enough = multipliers, enough
        self.rows, self.log_uniform, self.beta, self.decimals = rows, log_uniform, beta, decimals
        self.log_law = np.log(output_law)

    def __call__(self, low: Floats, high: Floats, hints: Floats) -> Relaxed:
        low, high = tighten(low, high, axis=1)
        at_zero, slope = secant(low, high)
        trials = [hints, np.round(slope, self.decimals)]
        if self.rows.shape[1] <= MOST_OUTPUTS:
            rest = self.enough - at_zero.sum(axis=1) - 10.0**-self.decimals
            nu = self.multipliers(self.rows, self.log_uniform, slope - self.log_law, low, high, self.beta, rest)
            trials.append(np.round(slope + nu, self.decimals))
        kappa, w, bounds = hints, np.empty(0), np.full(len(low), np.inf)
        for trial in trials:
            value, w_trial = self._bound(trial, low, high)
            better = (value < bounds)[:, None]
            kappa, bounds = np.where(better, trial, kappa), np.fmin(bounds, value)
            w = np.where(better, w_trial, w) if w.size else w_trial
        K = w @ self.rows
        error = np.where((low < K) & (high > K), at_zero + slope * K - x_log_x(K), 0.0)
        coordinate = np.argmax(error, axis=1)
        pick = np.arange(len(K)), coordinate
        threshold = branching_point(K[pick], low[pick], high[pick])
        splits = (error[pick] > 0.0) & (threshold > low[pick]) & (threshold < high[pick])
        bounds = np.where((low > high).any(axis=1), -np.inf, bounds)
        return Relaxed(bounds, kappa, np.where(splits, coordinate, -1), threshold)

    def shortened(self, low: Floats, high: Floats, hints: Floats, level: float) -> Floats:
        """Slopes with few digits that prove bounds of at most a level wherever the given ones do; zeros for empty boxes."""
        low, high = tighten(low, high, axis=1)
        K = self._bound(hints, low, high)[1] @ self.rows
        found = shortened(
            hints, np.maximum(high - K, K - low), level, self.decimals, lambda slopes: self._bound(slopes, low, high)[0]
        )
        return np.where((low > high).any(axis=1, keepdims=True), 0.0, found)

    def largest(self, low: Floats, high: Floats, hints: Floats) -> float:
        """The largest bound that slopes prove of these boxes; -inf if all are empty."""
        low, high = tighten(low, high, axis=1)
        return float(np.max(self._bound(hints, low, high)[0], initial=-np.inf, where=(low <= high).all(axis=1)))

    def _bound(self, kappa: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The bound that lines of these slopes prove, and its maximiser w."""
        weight = self.log_uniform + (kappa - self.log_law) @ self.rows.T / self.beta
        total = log_sum_exp(weight)
        return self.beta * total + intercept(kappa, low, high).sum(axis=1), np.exp(weight - total[:, None])


def relaxation_bytes(rows: Floats, letters: int) -> int:
    """What the relaxations of so many letters hold at once, those of a record's rows (classes, outputs)."""
    classes, outputs = rows.shape
    return 8 * classes * outputs * (letters + (outputs if outputs <= MOST_OUTPUTS else 0))


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
