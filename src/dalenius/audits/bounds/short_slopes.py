"""Slopes with no more digits than the bounds of their leaves need: most leaves of a tree are far below what it proves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.search.decimals import short_within

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
