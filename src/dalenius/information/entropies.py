"""Shannon entropy in nats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalenius.information.arrays import Floats

__all__ = ["binary_entropy", "entropy", "log_sum_exp", "x_log_x"]


def x_log_x(x: ArrayLike) -> Floats:
    """x log x with 0 log 0 = 0, elementwise.

    >>> x_log_x([0.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    x = np.asarray(x, dtype=float)
    return x * np.log(np.where(x > 0.0, x, 1.0))


def entropy(p: ArrayLike, *, axis: int | tuple[int, ...] | None = None) -> Floats:
    """Shannon entropy H(p) = -sum p log p along `axis` (all axes by default), in nats.

    >>> bool(np.isclose(entropy([0.5, 0.5]), np.log(2.0)))
    True
    """
    return np.asarray(-np.sum(x_log_x(p), axis=axis))


def binary_entropy(p: ArrayLike) -> Floats:
    """h(p) = -p log p - (1-p) log(1-p), elementwise, in nats.

    >>> float(binary_entropy(0.0))
    0.0
    """
    p = np.asarray(p, dtype=float)
    return 0.0 - x_log_x(p) - x_log_x(1.0 - p)


def log_sum_exp(x: Floats, *, axis: int = -1) -> Floats:
    """log sum exp along `axis`, for entries that may be -inf; -inf where all are.

    >>> float(log_sum_exp(np.array([-np.inf, 0.0])))
    0.0
    """
    top = x.max(axis=axis, keepdims=True)
    if not np.isfinite(top).all():
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(np.exp(x - top).sum(axis=axis)) + top.squeeze(axis=axis)
    return np.log(np.exp(x - top).sum(axis=axis)) + top.squeeze(axis=axis)
