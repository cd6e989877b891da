"""Lines above x log x on an interval, and a smooth stand-in for the multipliers of a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dalenius.information import x_log_x

__all__ = ["SMOOTHING", "box_price", "branching_point", "intercept", "multiplier_size", "newton", "secant", "tighten"]

Floats = NDArray[np.float64]
SMOOTHING = (1.0, 0.1, 0.01, 1e-3, 1e-4)  # times the size that the multipliers are expected to have


def secant(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """(intercept, slope) of a line above x log x on [low, high]; x log x is convex, so its secant is.

    >>> secant(np.array([0.0]), np.array([1.0]))
    (array([0.]), array([0.]))
    """
    width = high - low
    flat = width <= 0.0
    at_low = x_log_x(low)
    slope = np.where(flat, 0.0, (x_log_x(high) - at_low) / np.where(flat, 1.0, width))
    return at_low - slope * low, slope


def intercept(slope: Floats, low: Floats, high: Floats) -> Floats:
    """The least A with x log x <= A + slope x on [low, high]: a convex function minus a line is largest at an end.

    >>> float(intercept(np.array(0.5), np.array(0.0), np.array(1.0)))
    0.0
    """
    return np.maximum(x_log_x(low) - slope * low, x_log_x(high) - slope * high)


def tighten(low: Floats, high: Floats, axis: int) -> tuple[Floats, Floats]:
    """Ranges of numbers that sum to 1 along an axis: each is at least 1 - the others' highs, at most 1 - the others' lows.

    Ranges that are empty by no more than rounding are points.
    """
    most, least = high.sum(axis=axis, keepdims=True) - high, low.sum(axis=axis, keepdims=True) - low
    low, high = np.maximum(low, 1.0 - most), np.minimum(high, 1.0 - least)
    return low, np.where((low > high) & (low < high + 1e-13), low, high)


def box_price(nu: Floats, low: Floats, high: Floats, smoothing: Floats | float = 0.0) -> tuple[Floats, Floats, Floats]:
    """What multipliers nu of a box low <= v <= high add to a bound, with first and second derivatives in nu.

    The price is max(-nu low, -nu high) = -nu (low + high)/2 + |nu| (high - low)/2, with sqrt(nu^2 + smoothing^2) for |nu|.
    A secant with this price and the slope raised by nu is the line of that slope.
    """
    root = np.sqrt(nu**2 + smoothing**2)
    half = 0.5 * (high - low)
    price = -0.5 * nu * (high + low) + half * root
    sign = nu / np.where(root > 0.0, root, 1.0)
    curvature = half * (1.0 - sign**2) / np.where(root > 0.0, root, 1.0)
    return price, -0.5 * (high + low) + half * sign, curvature


def multiplier_size(violation: Floats, curvature: Floats) -> Floats:
    """How large the multipliers of a batch of boxes will be, (boxes, 1): one Newton step's worth of the worst violation."""
    size = np.max(np.maximum(violation, 0.0) / np.maximum(curvature, 1e-12), axis=1, keepdims=True)
    return np.clip(size, 1e-6, 1.0)


def newton(gradient: Floats, hessian: Floats) -> Floats:
    """Newton directions of a batch, regularised where the Hessian is singular."""
    size = hessian.shape[-1]
    diagonal = np.trace(hessian, axis1=-2, axis2=-1)[:, None, None] / size
    ridge = (1e-10 * diagonal + 1e-14) * np.eye(size)
    return -np.linalg.solve(hessian + ridge, gradient[..., None])[..., 0]


def branching_point(value: Floats, low: Floats, high: Floats) -> Floats:
    """Between the relaxation's own maximiser and the middle, away from the ends, rounded short."""
    point = 0.7 * value + 0.15 * (low + high)
    margin = 0.1 * (high - low)
    point = np.clip(point, low + margin, high - margin)
    digits = 10.0 ** np.clip(np.ceil(2.0 - np.log10(np.maximum(high - low, 1e-13))), 1, 16)
    return np.round(point * digits) / digits
