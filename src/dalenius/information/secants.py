"""Lines above a convex function, x log x by default, on ranges; ranges of numbers that sum to 1; multipliers of a box in a bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.entropies import x_log_x

Convex = Callable[[Floats], Floats]


def secant(low: Floats, high: Floats, convex: Convex = x_log_x) -> tuple[Floats, Floats]:
    """(intercept, slope) of the secant of a convex function on [low, high], above it because it is convex; flat on a point.

    >>> secant(np.array([0.0]), np.array([1.0]))
    (array([0.]), array([0.]))
    """
    width = high - low
    flat = width <= 0.0
    at_low = convex(low)
    slope = np.where(flat, 0.0, (convex(high) - at_low) / np.where(flat, 1.0, width))
    return at_low - slope * low, slope


def intercept(slope: Floats, low: Floats, high: Floats, convex: Convex = x_log_x) -> Floats:
    """The least A with f(x) <= A + slope x on [low, high]: a convex function f less a line is largest at an end.

    >>> float(intercept(np.array(0.5), np.array(0.0), np.array(1.0)))
    0.0
    """
    return np.maximum(convex(low) - slope * low, convex(high) - slope * high)


def tighten(low: Floats, high: Floats, axis: int) -> tuple[Floats, Floats]:
    """Ranges of numbers that sum to 1 along an axis: each is at least 1 - the others' highs, at most 1 - the others' lows.

    Ranges that are empty by no more than rounding are points.

    >>> [x.tolist() for x in tighten(np.array([0.0, 0.75]), np.array([1.0, 1.0]), 0)]
    [[0.0, 0.75], [0.25, 1.0]]
    """
    most, least = high.sum(axis=axis, keepdims=True) - high, low.sum(axis=axis, keepdims=True) - low
    low, high = np.maximum(low, 1.0 - most), np.minimum(high, 1.0 - least)
    return low, np.where((low > high) & (low < high + 1e-13), low, high)


SMOOTHING = (1.0, 0.1, 0.01, 1e-3, 1e-4)  # times the size that the multipliers are expected to have
SIZES = (1e-6, 1.0)  # they are expected to be neither smaller nor larger
FLAT = 1e-12  # a curvature below it counts as this


def box_price(nu: Floats, low: Floats, high: Floats, smoothing: Floats | float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Price of multipliers nu of a box low <= v <= high in a bound, with first and second derivatives in nu.

    The price is max(-nu low, -nu high) = -nu (low + high)/2 + |nu| (high - low)/2, with sqrt(nu^2 + smoothing^2) for |nu|.
    A secant with this price and the slope raised by nu is the line of that slope.

    >>> [x.item() for x in box_price(np.array([2.0]), np.array([0.0]), np.array([1.0]))]
    [0.0, 0.0, 0.0]
    """
    root = np.sqrt(nu**2 + smoothing**2)
    half = 0.5 * (high - low)
    price = -0.5 * nu * (high + low) + half * root
    sign = nu / np.where(root > 0.0, root, 1.0)
    curvature = half * (1.0 - sign**2) / np.where(root > 0.0, root, 1.0)
    return price, -0.5 * (high + low) + half * sign, curvature


def multiplier_size(violation: Floats, curvature: Floats) -> Floats:
    """Predicted size of the multipliers of a batch of boxes, (boxes, 1): one Newton step's worth of the worst violation."""
    size = np.max(np.maximum(violation, 0.0) / np.maximum(curvature, FLAT), axis=1, keepdims=True)
    return np.clip(size, *SIZES)
