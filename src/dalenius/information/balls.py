"""The ends of balls as doubles."""

from __future__ import annotations

import math

from flint import arb

__all__ = ["above"]


def above(x: arb) -> float:
    """A double that is at least the number in the ball; infinite if the ball has no end.

    >>> above(arb(1) / 3) >= 1 / 3
    True
    """
    return math.nextafter(float(x.upper()), math.inf) if x.is_finite() else math.inf
