"""`row_multipliers`, the same steps in loops over single boxes, which numba compiles (the optional extra `fast`).

The first call loads what was compiled before, or compiles it, which takes seconds; numba keeps it beside this file or among the user's
caches. Where neither can be written, every process compiles for itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

from dalenius.audits.bounds.row_multipliers import CLOSE, HOPE, LONGEST, RIDGE, SHORTER, SLOW, STEPS, TRIALS
from dalenius.information.arrays import Floats
from dalenius.information.secants import FLAT, SIZES, SMOOTHING

NOTHING = 1e-18  # a share of a law that is left out of means
F = TypeVar("F", bound=Callable[..., object])


def _compiled(function: F) -> F:
    """Compiled when it is called first."""
    try:
        return cast(F, numba.njit(cache=True, error_model="numpy")(function))
    except RuntimeError:  # there is no folder to keep it in
        return cast(F, numba.njit(error_model="numpy")(function))


def row_multipliers(
    rows: Floats, log_masses: Floats, base: Floats, low: Floats, high: Floats, beta: float, enough: Floats | None = None
) -> Floats:
    """`dalenius.audits.bounds.row_multipliers.row_multipliers`, up to rounding."""
    scores = log_masses + base @ rows.T / beta
    nu = np.zeros_like(base)
    rows, columns, low, high = (np.ascontiguousarray(x) for x in (rows, rows.T / beta, low, high))
    enough = np.full(len(base), -np.inf) if enough is None else np.ascontiguousarray(enough)
    _all_boxes(rows, columns, scores, low, high, float(beta), enough, nu)
    return nu


@_compiled
def _law(scores: Floats, columns: Floats, nu: Floats, w: Floats) -> float:
    """The law w ~ exp(scores + nu columns), in place, and the logarithm of its total."""
    w[:] = scores
    for y in range(nu.size):
        for k in range(w.size):
            w[k] += nu[y] * columns[y, k]
    top = w.max()
    for k in range(w.size):
        w[k] = math.exp(w[k] - top)
    total = w.sum()
    w /= total
    return math.log(total) + top


@_compiled
def _price(nu: Floats, low: Floats, high: Floats, smoothing: float) -> float:
    """The sum of `box_price`."""
    price = 0.0
    for y in range(nu.size):
        root = math.sqrt(nu[y] ** 2 + smoothing**2)
        price += 0.5 * ((high[y] - low[y]) * root - nu[y] * (high[y] + low[y]))
    return price


@_compiled
def _mean(rows: Floats, w: Floats, K: Floats) -> None:
    """K = w rows, in place."""
    K[:] = 0.0
    for k in range(w.size):
        if w[k] > NOTHING:
            for y in range(K.size):
                K[y] += w[k] * rows[k, y]


@_compiled
def _size(rows: Floats, w: Floats, K: Floats, low: Floats, high: Floats, beta: float) -> float:
    """`multiplier_size` at the law w."""
    size = SIZES[0]
    for y in range(K.size):
        variance = 0.0
        for k in range(w.size):
            variance += w[k] * (rows[k, y] - K[y]) ** 2
        size = max(size, max(K[y] - high[y], low[y] - K[y]) / max(variance / beta, FLAT))
    return min(size, SIZES[1])


@_compiled
def _covariance(rows: Floats, w: Floats, K: Floats, beta: float, away: Floats, shares: Floats, hessian: Floats) -> None:
    """The rows' covariance under w, over beta, in place: whole rows of it, and four classes at once, for vector instructions."""
    outputs, count = K.size, 0
    hessian[:, :] = 0.0
    for k in range(w.size):
        if w[k] > NOTHING:
            for y in range(outputs):
                away[count, y] = rows[k, y] - K[y]
            shares[count] = w[k] / beta
            count += 1
    fours = count - count % 4
    for k in range(0, fours, 4):
        p0, p1, p2, p3 = shares[k], shares[k + 1], shares[k + 2], shares[k + 3]
        for y in range(outputs):
            a0, a1, a2, a3 = p0 * away[k, y], p1 * away[k + 1, y], p2 * away[k + 2, y], p3 * away[k + 3, y]
            for z in range(outputs):
                hessian[y, z] += a0 * away[k, z] + a1 * away[k + 1, z] + a2 * away[k + 2, z] + a3 * away[k + 3, z]
    for k in range(fours, count):
        for y in range(outputs):
            share = shares[k] * away[k, y]
            for z in range(outputs):
                hessian[y, z] += share * away[k, z]


@_compiled
def _newton(matrix: Floats, x: Floats) -> None:
    """`newton` with the gradient x, in place: of its upper triangle, which becomes D L'; x becomes the direction."""
    size = x.size
    trace = 0.0
    for y in range(size):
        trace += matrix[y, y]
    ridge = RIDGE[0] * trace / size + RIDGE[1]
    for y in range(size):
        matrix[y, y] += ridge
        x[y] = -x[y]
    for y in range(size):
        matrix[y, y] = max(matrix[y, y], 0.01 * ridge)  # it is at least the ridge, up to rounding
        inverse = 1.0 / matrix[y, y]
        for z in range(y + 1, size):
            factor = inverse * matrix[y, z]
            x[z] -= factor * x[y]
            for v in range(z, size):
                matrix[z, v] -= factor * matrix[y, v]
    for y in range(size - 1, -1, -1):
        rest = x[y]
        for z in range(y + 1, size):
            rest -= matrix[y, z] * x[z]
        x[y] = rest / matrix[y, y]


@_compiled
def _all_boxes(
    rows: Floats,
    columns: Floats,
    all_scores: Floats,
    lows: Floats,
    highs: Floats,
    beta: float,
    enough: Floats,
    nus: Floats,
) -> None:
    """Box after box, in place."""
    classes, outputs = rows.shape
    w, w_trial, shares, away = np.empty(classes), np.empty(classes), np.empty(classes), np.empty((classes, outputs))
    K, step, trial, hessian = np.empty(outputs), np.empty(outputs), np.empty(outputs), np.empty((outputs, outputs))
    for j in range(len(nus)):
        nu, scores, low, high, wanted = nus[j], all_scores[j], lows[j], highs[j], enough[j] > -math.inf
        _law(scores, columns, nu, w)
        _mean(rows, w, K)
        size, most, promised = _size(rows, w, K, low, high, beta), 0.5 * np.sum(high - low), np.inf
        for factor in SMOOTHING:
            smoothing = factor * size
            value = beta * _law(scores, columns, nu, w) + _price(nu, low, high, smoothing)
            if wanted and value - HOPE * promised - smoothing * most > enough[j]:
                break
            for _ in range(STEPS):
                if value <= enough[j]:
                    break
                before = value
                _mean(rows, w, K)
                _covariance(rows, w, K, beta, away, shares, hessian)
                for y in range(outputs):
                    root, half = math.sqrt(nu[y] ** 2 + smoothing**2), 0.5 * (high[y] - low[y])
                    hessian[y, y] += half * (1.0 - (nu[y] / root) ** 2) / root
                    step[y] = K[y] - 0.5 * (high[y] + low[y]) + half * nu[y] / root
                K[:] = step
                _newton(hessian, step)
                promised = -np.dot(K, step)
                length = LONGEST / max(np.abs(step).max(), LONGEST)
                for _ in range(TRIALS):
                    for y in range(outputs):
                        trial[y] = nu[y] + length * step[y]
                    value_trial = beta * _law(scores, columns, trial, w_trial) + _price(trial, low, high, smoothing)
                    if value_trial < value:
                        value = value_trial
                        nu[:] = trial
                        w[:] = w_trial
                        break
                    length *= SHORTER
                if before - value < max(CLOSE, SLOW * (value - enough[j]) if wanted else 0.0):
                    break
