"""When two bounds have met."""

from __future__ import annotations

import math

__all__ = ["NOTHING", "closed"]

NOTHING = 1e-11  # a difference that rounding alone may make


def closed(lower: float, upper: float, gap: float) -> bool:
    """Whether an upper bound is close enough to the lower one: within this share of it.

    >>> closed(0.99, 1.0, 0.02), closed(0.97, 1.0, 0.02), closed(0.0, math.inf, 0.02)
    (True, False, False)
    """
    return math.isfinite(upper) and upper - lower <= gap * abs(upper) + NOTHING
