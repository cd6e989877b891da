"""Mutual information and relative entropy in nats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalenius.information.arrays import Floats
from dalenius.information.entropies import x_log_x

__all__ = ["mutual_information", "relative_entropy"]


def mutual_information(p_xy: ArrayLike) -> Floats:
    """I(X;Y) = sum p(x,y) log( p(x,y) / (p(x) p(y)) ) of joint laws on the last two axes, in nats, at least 0.

    >>> bool(np.isclose(mutual_information(np.eye(2) / 2), np.log(2.0)))
    True
    """
    p_xy = np.asarray(p_xy, dtype=float)
    joint = np.sum(x_log_x(p_xy), axis=(-2, -1))
    return np.maximum(
        joint - np.sum(x_log_x(p_xy.sum(axis=-1)), axis=-1) - np.sum(x_log_x(p_xy.sum(axis=-2)), axis=-1), 0.0
    )


def relative_entropy(p: ArrayLike, q: ArrayLike) -> Floats:
    """D(p || q) = sum p log(p/q) along the last axis, in nats; infinite where p > 0 = q.

    >>> float(relative_entropy([1.0, 0.0], [1.0, 0.0]))
    0.0
    """
    p, q = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(q, dtype=float))
    with np.errstate(divide="ignore"):
        cross = np.where(p > 0.0, p * np.log(np.where(p > 0.0, q, 1.0)), 0.0)
    return np.sum(x_log_x(p) - cross, axis=-1)
