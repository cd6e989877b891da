"""Lines above a convex function, x log x by default, on ranges; and ranges of numbers that sum to 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.entropies import x_log_x

__all__ = ["intercept", "secant", "tighten"]

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
