"""Multipliers of boxes in the row problem: its dual, smoothed, minimised by Newton's method, a batch of boxes at a time.

    beta log sum_k N(k) exp( sum_y R(k,y) (base + nu)(y) / beta ) + price of nu on the box,      base = slope - log r (`bounds.rows`)

Nothing valid depends on how well this goes, since every nu gives a bound. Each box goes its own way, whatever the others are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.information.secants import SMOOTHING, box_price, multiplier_size

RIDGE = (1e-10, 1e-14)  # what the diagonal gains: of its mean, and besides


def newton(gradient: Floats, hessian: Floats) -> Floats:
    """Newton directions (batch, size), regularised where the Hessian (batch, size, size) is singular.

    >>> newton(np.array([[2.0]]), np.array([[[4.0]]])).round(6).tolist()
    [[-0.5]]
    """
    size = hessian.shape[-1]
    diagonal = np.trace(hessian, axis1=-2, axis2=-1)[:, None, None] / size
    ridge = (RIDGE[0] * diagonal + RIDGE[1]) * np.eye(size)
    return -np.linalg.solve(hessian + ridge, gradient[..., None])[..., 0]


STEPS = 10  # for each amount of smoothing
TRIALS, SHORTER = 8, 0.2  # how often a step that does not lower the value is tried, each time so much shorter
LONGEST = 10.0  # the most that a multiplier changes in a step: along what a box hardly feels Newton goes anywhere
HOPE, SLOW = (
    4.0,
    0.05,
)  # how many times what Newton promises a value may fall; the share of what is wanted that a step must gain
CLOSE = 1e-9  # nats: a step that gains less is the last one


def row_multipliers(
    rows: Floats, log_masses: Floats, base: Floats, low: Floats, high: Floats, beta: float, enough: Floats | None = None
) -> Floats:
    """Multipliers (boxes, outputs) that nearly minimise the bounds of boxes low <= w R <= high.

    A few damped Newton steps from nu = 0, for ever less smoothing.

    Parameters
    ----------
    rows : (classes, outputs)
    log_masses : (classes,) or (boxes, classes)
        log N; -inf where a letter has no such class.
    base : (boxes, outputs)
        The slopes that nu is added to, less log r.
    low, high : (boxes, outputs)
    beta : float
        Above 0.
    enough : (boxes,), optional
        Values that are wanted: a box is left alone once its value is no larger, or seems not to become so.

    >>> rows, box = np.array([[0.9, 0.1], [0.2, 0.8]]), (np.array([[0.7, 0.1]]), np.array([[0.9, 0.3]]))
    >>> nu = row_multipliers(rows, np.log([0.5, 0.5]), np.zeros((1, 2)), *box, 1.0)
    >>> bool(nu[0, 0] > nu[0, 1])  # the law without multipliers has less of the first output than the box
    True
    """
    scores = log_masses + base @ rows.T / beta
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    enough = np.full(len(base), -np.inf) if enough is None else enough
    problem = _Problem(rows, products, scores, low, high, beta, enough, np.zeros((len(base), 1)))
    nu = np.zeros_like(base)
    w = problem.at(nu)[1]
    K = w @ rows
    variance = w @ rows**2 - K**2
    size = multiplier_size(np.maximum(K - high, low - K), variance / beta)
    promised = np.full(len(base), np.inf)
    for factor in SMOOTHING:
        nu, promised = _minimised(replace(problem, smoothing=factor * size), nu, promised)
    return nu


@dataclass(frozen=True)
class _Problem:
    """The smoothed dual of a batch of boxes; `products` are those of two entries of a row, `scores` log weights at nu = 0."""

    rows: Floats
    products: Floats
    scores: Floats
    low: Floats
    high: Floats
    beta: float
    enough: Floats
    smoothing: Floats

    def some(self, which: NDArray[np.bool_]) -> _Problem:
        """Of these boxes."""
        arrays = {name: getattr(self, name)[which] for name in ("scores", "low", "high", "enough", "smoothing")}
        return replace(self, **arrays)

    def at(self, nu: Floats) -> tuple[Floats, Floats]:
        """The values, and the laws w (boxes, classes) that attain them."""
        weight = self.scores + nu @ self.rows.T / self.beta
        total = log_sum_exp(weight)
        price = box_price(nu, self.low, self.high, self.smoothing)[0].sum(axis=1)
        return self.beta * total + price, np.exp(weight - total[:, None])

    def direction(self, nu: Floats, w: Floats) -> tuple[Floats, Floats]:
        """Newton's, and what it promises: twice what the value would fall, were it quadratic."""
        outputs = self.rows.shape[1]
        _, first, second = box_price(nu, self.low, self.high, self.smoothing)
        K = w @ self.rows
        hessian = (w @ self.products).reshape(-1, outputs, outputs) - K[:, :, None] * K[:, None, :]
        hessian /= self.beta
        hessian[:, range(outputs), range(outputs)] += second
        direction = newton(K + first, hessian)
        return direction, -np.sum((K + first) * direction, axis=1)

    def step(self, nu: Floats, value: Floats, w: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Better nu, their values and laws, by the longest trial step that lowers the value, or those given, and what was promised."""
        step, promised = self.direction(nu, w)
        length = LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), LONGEST)
        for _ in range(TRIALS):
            trial = nu + length * step
            value_trial, w_trial = self.at(trial)
            better = (value_trial < value)[:, None]
            nu, w, value = np.where(better, trial, nu), np.where(better, w_trial, w), np.minimum(value, value_trial)
            length = np.where(better, 0.0, SHORTER * length)
            if not length.any():
                break
        return nu, value, w, promised


def _minimised(problem: _Problem, nu: Floats, promised: Floats) -> tuple[Floats, Floats]:
    """Newton steps until each gains little, or enough; boxes that have come to rest are left alone. With the last promises."""
    result, promises, going = nu.copy(), promised.copy(), np.arange(len(nu))
    wanted = np.isfinite(problem.enough)
    value, w = problem.at(nu)
    most = 0.5 * problem.smoothing[:, 0] * np.sum(problem.high - problem.low, axis=1)
    more = (value > problem.enough) & (~wanted | (value - HOPE * promised - most <= problem.enough))
    for _ in range(STEPS):
        if not more.all():
            if not more.any():
                break
            value, nu, w, wanted = value[more], nu[more], w[more], wanted[more]
            problem, going = problem.some(more), going[more]
        nu, lower, w, promised = problem.step(nu, value, w)
        result[going], promises[going] = nu, promised
        least = np.maximum(CLOSE, np.where(wanted, SLOW * (lower - problem.enough), 0.0))
        more, value = (value - lower >= least) & (lower > problem.enough), lower
    return result, promises
