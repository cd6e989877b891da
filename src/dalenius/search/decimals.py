"""Numbers with few digits: what a certificate stores short is rounded before it is used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalenius.information.arrays import Floats

MOST_PLACES = 15  # before the point that are rounded away


def short(x: Floats | float, digits: int = 5) -> Floats:
    """`x` rounded to a few significant decimal digits.

    >>> float(short(0.0123456789, 3))
    0.0123
    """
    x = np.asarray(x, dtype=float)
    exponent = np.floor(np.log10(np.where(x == 0.0, 1.0, np.abs(x))))
    return _at(x, np.clip(digits - 1 - exponent, -300, 300))


def _at(x: Floats, places: Floats) -> Floats:
    """Rounded to so many decimals, or before the point."""
    scale = 10.0 ** np.abs(places)
    return np.where(places >= 0, np.round(x * scale) / scale, np.round(x / scale) * scale)


def short_on(x: Floats | float, low: Floats | float, high: Floats | float) -> Floats:
    """`x` rounded to as many decimals as tell about a hundred points of [low, high] apart.

    >>> float(short_on(0.123456789, 0.0, 0.5))
    0.123
    """
    digits = 10.0 ** np.clip(np.ceil(2.0 - np.log10(np.maximum(np.subtract(high, low), 1e-13))), 1, 16)
    return np.round(x * digits) / digits


def short_within(x: Floats, room: Floats, decimals: int) -> Floats:
    """`x`, which has at most so many decimals, rounded to as few as leave it within `room`; to tens and so on where that is enough.

    >>> short_within(np.array([-6408235.6465575, 0.1234567, 0.5]), np.array([1e5, 0.01, 1e9]), 7).tolist()
    [-6400000.0, 0.12, 0.0]
    """
    with np.errstate(divide="ignore"):
        places = np.clip(np.ceil(-np.log10(2.0 * room)), -MOST_PLACES, decimals)
    return np.where(places < decimals, _at(x, places) + 0.0, x)  # no -0


def branching_point(value: Floats, low: Floats, high: Floats) -> Floats:
    """Place to cut [low, high]: between a relaxation's own maximiser and the middle, away from the ends, rounded short.

    >>> branching_point(np.array([0.9]), np.array([0.0]), np.array([1.0])).tolist()
    [0.78]
    """
    point = 0.7 * value + 0.15 * (low + high)
    margin = 0.1 * (high - low)
    return short_on(np.clip(point, low + margin, high - margin), low, high)


# Slopes with no more digits than the bounds of their leaves need: most leaves of a tree are far below what it proves.


SHARES = (16.0, 8.0, 4.0, 2.0, 1.0)  # of what rounding may cost a bound at worst: the errors of many slopes cancel
SLIP = 1e-15  # what doubles lose of a slope, beside its size


def shortened(slopes: Floats, costs: Floats, level: float, decimals: int, bound: Callable[[Floats], Floats]) -> Floats:
    """Slopes with which every leaf still proves a bound of at most a level, rounded to few digits.

    A line of another slope, moved up until it is above a convex function on a range again, is at no point of that range higher by more
    than the slopes' difference times the range's width. So much is shared out; then the bounds are evaluated.

    Parameters
    ----------
    slopes : (leaves, numbers)
        Of `decimals` decimals; a leaf whose own bound is above the level keeps them.
    costs : (leaves, numbers)
        What a bound rises by at most, about, for each unit that a slope is changed by.
    bound : callable
        The bounds that slopes prove.

    >>> shortened(np.array([[0.123456, 3.2]]), np.array([[1.0, 0.1]]), 1.0, 6, lambda x: x[:, 0] + 0.85).tolist()
    [[0.1, 3.0]]
    """
    room = level - bound(slopes)
    found, open_leaves = slopes.copy(), np.ones(len(slopes), dtype=np.bool_)
    each = np.maximum(room, 0.0)[:, None] / np.maximum(slopes.shape[1] * costs, 1e-300)
    for share in SHARES:
        trial = short_within(slopes, share * each, decimals)
        slip = SLIP * (1.0 + np.abs(trial).sum(axis=1))
        good = open_leaves & (bound(trial) <= level - slip)
        found[good] = trial[good]
        open_leaves &= ~good
        if not open_leaves.any():
            break
    return found
