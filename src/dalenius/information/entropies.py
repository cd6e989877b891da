"""Shannon entropy, mutual information and relative entropy in nats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalenius.information.arrays import Floats


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


def log_sum_exp(x: Floats) -> Floats:
    """log sum exp along the last axis, for entries that may be -inf; -inf where all are.

    >>> float(log_sum_exp(np.array([-np.inf, 0.0])))
    0.0
    """
    top = x.max(axis=-1, keepdims=True)
    if not np.isfinite(top).all():
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore", over="ignore"):
            return np.log(np.exp(x - top).sum(axis=-1)) + top[..., 0]
    return np.log(np.exp(x - top).sum(axis=-1)) + top[..., 0]


SMALL = 1e-6  # below it differences of entropies have lost ten of sixteen digits


def mutual_information(p_xy: ArrayLike) -> Floats:
    """I(X;Y) = sum p(x,y) log( p(x,y) / (p(x) p(y)) ) of joint laws on the last two axes, in nats, at least 0.

    A small one is evaluated without cancellation: it is as exact as what the rows of a law differ by.

    >>> bool(np.isclose(mutual_information(np.eye(2) / 2), np.log(2.0)))
    True
    >>> bool(np.isclose(mutual_information([[0.25 + 1e-9, 0.25 - 1e-9], [0.25 - 1e-9, 0.25 + 1e-9]]), 8e-18, rtol=1e-6, atol=0.0))
    True
    """
    p_xy = np.asarray(p_xy, dtype=float)
    p_x, p_y = p_xy.sum(axis=-1), p_xy.sum(axis=-2)
    value = np.sum(x_log_x(p_xy), axis=(-2, -1)) - np.sum(x_log_x(p_x), axis=-1) - np.sum(x_log_x(p_y), axis=-1)
    if (value < SMALL).any():
        total = p_x.sum(axis=-1)[..., None, None]
        independent = p_x[..., :, None] * p_y[..., None, :] / np.where(total > 0.0, total, 1.0)
        value = np.where(value < SMALL, _excess(p_xy, independent).sum(axis=(-2, -1)), value)
    return np.maximum(value, 0.0)


def relative_entropy(p: ArrayLike, q: ArrayLike) -> Floats:
    """D(p || q) = sum p log(p/q) along the last axis, in nats; infinite where p > 0 = q.

    >>> float(relative_entropy([1.0, 0.0], [1.0, 0.0]))
    0.0
    """
    p, q = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(q, dtype=float))
    with np.errstate(divide="ignore"):
        cross = np.where(p > 0.0, p * np.log(np.where(p > 0.0, q, 1.0)), 0.0)
    value = np.sum(x_log_x(p) - cross, axis=-1)
    if (value < SMALL).any():
        value = np.where(value < SMALL, _excess(p, q).sum(axis=-1), value)
    return np.asarray(value)


def _excess(p: Floats, q: Floats) -> Floats:
    """p log(p/q) - p + q >= 0, elementwise, without cancellation where p is near q."""
    x = np.where(q > 0.0, (p - q) / np.where(q > 0.0, q, 1.0), 0.0)
    near = np.abs(x) <= 0.5
    x = np.where(near, x, 0.0)
    far = x_log_x(p) - p * np.log(np.where(q > 0.0, q, 1.0)) - p + q
    return np.where(near & (q > 0.0), q * above_tangent(x), far)


def above_tangent(x: Floats) -> Floats:
    """Distance of v log v above its tangent at 1, at v = 1 + x: (1 + x) log(1 + x) - x, off by some 1e-16 of x near 0.

    >>> bool(np.isclose(above_tangent(np.array(1e-6)), 5e-13, rtol=1e-5, atol=0.0))
    True
    """
    return (1.0 + x) * np.log1p(x) - x
