"""The source paper's Theorem 8: derivatives of I(X_i; Y), derived here because the text has lost its formulas.

Notation: pi_a the law of the record, w_a(k) the conditional law of the cells, Q(y|a,k) their rows, K_a = w_a Q the record's channel,
r = pi K the law of the output. Derivatives treat every coordinate as free (no normalisation), so gradients are fixed up to a
constant on each simplex, which neither a projection nor a normalisation sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats

LEAST_LOG = 1e-300  # probabilities below count as this in logarithms


@dataclass(frozen=True)
class Selected:
    """The rows Q[inputs], one a cell, without writing them out: there are many cells and few rows.

    >>> rows = Selected.of(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1, 1]))
    >>> (np.array([0.5, 0.25, 0.25]) @ rows).round(3).tolist(), (rows @ np.array([1.0, 0.0])).tolist()
    ([0.55, 0.45], [0.9, 0.2, 0.2])
    """

    channel: Floats
    inputs: NDArray[np.int64]
    __array_ufunc__: ClassVar[None] = None  # numpy leaves `law @ rows` to __rmatmul__

    @staticmethod
    def of(channel: Floats, inputs: NDArray[np.int64]) -> Selected:
        """Those rows; of a channel that has more rows than there are cells, the ones that are selected are kept."""
        if len(channel) <= len(inputs):
            return Selected(channel, inputs)
        distinct, places = np.unique(inputs, return_inverse=True)
        return Selected(channel[distinct], places)

    def __rmatmul__(self, law: Floats) -> Floats:
        """sum_k law_k Q(y|k), (outputs,)."""
        return np.bincount(self.inputs, weights=law, minlength=len(self.channel)) @ self.channel

    def __matmul__(self, values: Floats) -> Floats:
        """sum_y Q(y|k) values_y, (cells,)."""
        return (self.channel @ values)[self.inputs]


def through(rows: Sequence[Floats], given: Sequence[Floats | Selected]) -> Floats:
    """K_a(y) = sum_k w_a(k) Q(y|a,k), (letters, outputs)."""
    return np.stack([row @ channel for row, channel in zip(rows, given, strict=True)])


def log_ratio(pi: Floats, K: Floats) -> Floats:
    """log(K_a(y) / r(y)), (letters, outputs): what every derivative of the leakage is made of."""
    return np.log(np.maximum(K, LEAST_LOG)) - np.log(np.maximum(pi @ K, LEAST_LOG))


def leakage(pi: Floats, K: Floats) -> float:
    """I = sum_a pi_a D(K_a || r), in nats, at least 0.

    >>> round(leakage(np.array([0.5, 0.5]), np.eye(2)), 6)
    0.693147
    """
    return max(float(np.sum(pi @ x_log_x(K)) - np.sum(x_log_x(pi @ K))), 0.0)


def channel_gradient(masses: Floats, Q: Floats) -> Floats:
    """Theorem 8.1: dI/dQ(y|x) = sum_a P(a,x) log(K_a(y) / r(y)), (inputs, outputs); masses (..., letters, inputs).

    Where input x belongs to one letter only, as a dataset does, the sum has one term: P(x) log(K_a(y) / r(y)). The derivatives of
    K and r inside the logarithm cancel.
    """
    u = masses @ Q
    ratio = np.log(np.maximum(u, LEAST_LOG)) - np.log(np.maximum(u.sum(axis=-2, keepdims=True), LEAST_LOG))
    ratio = ratio - np.log(np.maximum(masses.sum(axis=-1), LEAST_LOG))[..., None]
    return np.swapaxes(masses, -1, -2) @ ratio


def prior_gradient(masses: Floats, Q: Floats) -> Floats:
    """dI/dp(a,x) = sum_y Q(y|x) log(K_a(y) / r(y)), up to a constant, (letters, inputs): 8.2 and 8.3 of all cells at once.

    >>> prior_gradient(np.eye(2) / 2, np.eye(2)).round(4).tolist()[0][0]
    0.6931
    """
    u = masses @ Q
    split = np.outer(u.sum(axis=1), u.sum(axis=0))
    return (np.log(np.maximum(u, LEAST_LOG)) - np.log(np.maximum(split, LEAST_LOG))) @ Q.T


def conditional_gradient(pi: Floats, K: Floats, a: int, given: Floats | Selected) -> Floats:
    """Theorem 8.3: dI/dw_a(k) = pi_a sum_y Q(y|a,k) log(K_a(y) / r(y)), (cells of a,)."""
    return pi[a] * (given @ log_ratio(pi, K)[a])


# The source paper's Algorithms 4 and 5: a gradient step back onto the simplex, and from there onto the boundary of the entropy bound.
#
# Of both the text keeps the purpose only; the formulas are ours. With counts the metric is the one of the datasets: a class of N of
# them that share its mass evenly has squared length (mass)^2 / N: a step on classes is the step on datasets, seen through the classes.


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
