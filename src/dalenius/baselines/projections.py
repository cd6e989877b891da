"""The source paper's Algorithms 4 and 5: a gradient step back onto the simplex, and from there onto the boundary of the entropy bound.

Of both the text keeps the purpose only; the formulas are ours. With counts the metric is the one of the datasets: a class of N of
them that share its mass evenly has squared length (mass)^2 / N: a step on classes is the step on datasets, seen through the classes.
"""

from __future__ import annotations

import numpy as np

from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats

__all__ = ["along_boundary", "on_entropy_boundary", "on_simplex", "projected_step"]

LEAST_SHARE = 1e-12  # share of a cell's uniform mass below which it is not let fall
NEWTON_STEPS = 60


def on_simplex(x: Floats, shares: Floats) -> Floats:
    """The law w that minimises sum_k (w_k - x_k)^2 / v_k: w = max(x - t v, 0) with the t that makes it sum to 1.

    Coordinates at most 0 for a t that is too small stay so for the right one and are left out; t rises until none is left out.

    Parameters
    ----------
    x, shares : (cells,)
        The point, and the positive weights v (the uniform law of the cells; all equal on the full joint).

    >>> on_simplex(np.array([0.5, 0.9, -1.0]), np.full(3, 1 / 3)).round(3).tolist()
    [0.3, 0.7, 0.0]
    """
    left, weight = x, shares
    while True:
        t = (left.sum() - 1.0) / weight.sum()
        kept = left > t * weight
        if kept.all():
            break
        left, weight = left[kept], weight[kept]
    w = np.maximum(x - t * shares, 0.0)
    return w / w.sum()


def on_entropy_boundary(law: Floats, log_counts: Floats, target: float) -> Floats:
    """Algorithm 5: q ~ N (w/N)^t, with the t >= 0 at which H(q) = -sum q log(q/N) is `target`; not below it but for rounding.

    For a target above H(w) this is the law of least relative entropy D(q || w) with H(q) >= target (stationarity of D + m H, t =
    1/(1+m)); for one below it the same curve is followed to the other side. Where even the sharpest power has more entropy than the
    target, that one; where the target is out of reach, t = 0, the uniform law of the cells.

    Newton steps on log t inside a bracket: dH/dlog t = -t^2 Var_q(log(w/N)).

    >>> q = on_entropy_boundary(np.array([0.9, 0.1]), np.zeros(2), 0.5)
    >>> bool(abs(float(-np.sum(q * np.log(q))) - 0.5) < 1e-9)
    True
    """
    top = log_counts.max()
    counts = log_counts - top
    uniform = np.exp(counts - log_sum_exp(counts))
    logs = np.log(np.maximum(law, LEAST_SHARE * uniform)) - counts
    logs -= logs.max()
    squares = logs * logs
    low, high, s = np.log(1e-9), np.log(1e6), 0.0
    best, whole = uniform, 1.0
    for _ in range(NEWTON_STEPS):
        t = np.exp(s)
        q = t * logs
        q += counts
        peak = float(q.max())
        q -= peak
        np.exp(q, out=q)
        total = float(q.sum())
        mean = float(q @ logs) / total
        excess = peak + np.log(total) - t * mean + top - target
        if excess >= 0.0:
            low, best, whole = s, q, total
            if excess <= 1e-12 * (1.0 + abs(target)):
                break
        else:
            high = s
        if high - low < 1e-12:
            break
        slope = t * t * max(float(q @ squares) / total - mean * mean, 0.0)
        s += (excess - 3e-13 * (1.0 + abs(target))) / slope if slope > 1e-30 else np.inf
        if not low < s < high:
            s = 0.5 * (low + high)
    return best / whole


def along_boundary(row: Floats, gradient: Floats, log_counts: Floats) -> Floats:
    """The gradient less its part across the entropy boundary, so that a short step keeps H(w) to first order.

    g - m s with s = log(N/w) the entropy's gradient (Theorem 9.3), both less their means, and m = <g, s>_v / <s, s>_v. Without
    this the way back onto the boundary may undo what a step gains, and the ascent rests where nothing is stationary.

    >>> g = along_boundary(np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.0, 0.0]), np.zeros(3))
    >>> bool(abs(g @ np.log([0.5, 0.3, 0.2])) < 1e-12)
    True
    """
    shares = _shares(log_counts)
    s = log_counts - np.log(np.maximum(row, LEAST_SHARE * shares))
    g, s = gradient - shares @ gradient, s - shares @ s
    norm = float(shares @ (s * s))
    return g - (float(shares @ (g * s)) / norm) * s if norm > 1e-20 else g


def projected_step(row: Floats, gradient: Floats, step: float, log_counts: Floats, target: float) -> Floats:
    """Algorithm 4: w + step v gradient, back onto the simplex, then onto the boundary of the entropy bound (Algorithm 5).

    `step` is per unit of density w/v, v the uniform law of the cells: on M datasets it is the plain step step/M. The steps mean the
    same for any M.
    """
    shares = _shares(log_counts)
    return on_entropy_boundary(on_simplex(row + step * shares * gradient, shares), log_counts, target)


def _shares(log_counts: Floats) -> Floats:
    """The uniform law of the cells, kept positive."""
    shares = np.exp(log_counts - log_counts.max())
    return np.maximum(shares / shares.sum(), 1e-200)
