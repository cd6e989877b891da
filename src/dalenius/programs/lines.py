"""Lines above v log v on ranges of numbers that sum to 1: what turns a convex term of Problem 1 into a linear one on a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dalenius.information import x_log_x

__all__ = ["intercepts", "secants", "tightened"]

Floats = NDArray[np.float64]


def secants(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Intercept and slope of the secant of v log v on [low, high]; for a point a constant.

    >>> [x.tolist() for x in secants(np.array([0.0]), np.array([1.0]))]
    [[0.0], [0.0]]
    """
    width = high - low
    slope = np.where(width > 0.0, (x_log_x(high) - x_log_x(low)) / np.where(width > 0.0, width, 1.0), 0.0)
    return np.maximum(x_log_x(low) - slope * low, x_log_x(high) - slope * high), slope


def intercepts(weight: float, slope: Floats, low: Floats, high: Floats) -> Floats:
    """The least A with weight v log v <= A + slope v on [low, high]: a convex function less a line is largest at an end."""
    return np.maximum(weight * x_log_x(low) - slope * low, weight * x_log_x(high) - slope * high)


def tightened(low: Floats, high: Floats, axis: int) -> tuple[Floats, Floats]:
    """Ranges of numbers with sum 1 along an axis: each is at least 1 - the others' highs, and at most 1 - the others' lows.

    >>> [x.tolist() for x in tightened(np.array([0.0, 0.75]), np.array([1.0, 1.0]), 0)]
    [[0.0, 0.75], [0.25, 1.0]]
    """
    most, least = high.sum(axis=axis, keepdims=True) - high, low.sum(axis=axis, keepdims=True) - low
    low, high = np.maximum(low, 1.0 - most), np.minimum(high, 1.0 - least)
    return low, np.where((low > high) & (low < high + 1e-13), low, high)
