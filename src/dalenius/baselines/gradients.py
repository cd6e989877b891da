"""The source paper's Theorems 8 and 9: derivatives of I(X_i; Y) and H(X), derived here because the text has lost its formulas.

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

from dalenius.information import x_log_x
from dalenius.information.arrays import Floats

__all__ = [
    "Selected",
    "channel_gradient",
    "conditional_entropy_gradient",
    "conditional_gradient",
    "joint_entropy_gradient",
    "leakage",
    "log_ratio",
    "marginal_entropy_gradient",
    "marginal_gradient",
    "through",
]

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


def marginal_gradient(pi: Floats, K: Floats) -> Floats:
    """Theorem 8.2: dI/dpi_a = D(K_a || r) - 1, (letters,)."""
    return np.sum(K * log_ratio(pi, K), axis=1) - 1.0


def conditional_gradient(pi: Floats, K: Floats, a: int, given: Floats | Selected) -> Floats:
    """Theorem 8.3: dI/dw_a(k) = pi_a sum_y Q(y|a,k) log(K_a(y) / r(y)), (cells of a,)."""
    return pi[a] * (given @ log_ratio(pi, K)[a])


def joint_entropy_gradient(law: Floats) -> Floats:
    """Theorem 9.1: dH/dP(x) = -log P(x) - 1."""
    return -np.log(np.maximum(law, LEAST_LOG)) - 1.0


def marginal_entropy_gradient(pi: Floats, spread: Floats) -> Floats:
    """Theorem 9.2: dH/dpi_a = H(w_a) - log pi_a - 1; `spread` holds the H(w_a), (letters,)."""
    return spread - np.log(np.maximum(pi, LEAST_LOG)) - 1.0


def conditional_entropy_gradient(pi: Floats, a: int, row: Floats, log_counts: Floats | float = 0.0) -> Floats:
    """Theorem 9.3: dH/dw_a(k) = pi_a (log N(a,k) - log w_a(k) - 1), from H = H(pi) + sum_a pi_a H(w_a); on the full joint N = 1."""
    return pi[a] * (log_counts - np.log(np.maximum(row, LEAST_LOG)) - 1.0)
