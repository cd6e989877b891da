"""The multipliers of a box in a bound: what they add to it, smoothed so that Newton's method can choose them."""

from __future__ import annotations

import numpy as np

from dalenius.information.arrays import Floats

__all__ = ["FLAT", "SIZES", "SMOOTHING", "box_price", "multiplier_size"]

SMOOTHING = (1.0, 0.1, 0.01, 1e-3, 1e-4)  # times the size that the multipliers are expected to have
SIZES = (1e-6, 1.0)  # they are expected to be neither smaller nor larger
FLAT = 1e-12  # a curvature below it counts as this


def box_price(nu: Floats, low: Floats, high: Floats, smoothing: Floats | float = 0.0) -> tuple[Floats, Floats, Floats]:
    """What multipliers nu of a box low <= v <= high add to a bound, with first and second derivatives in nu.

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
    """How large the multipliers of a batch of boxes will be, (boxes, 1): one Newton step's worth of the worst violation."""
    size = np.max(np.maximum(violation, 0.0) / np.maximum(curvature, FLAT), axis=1, keepdims=True)
    return np.clip(size, *SIZES)
