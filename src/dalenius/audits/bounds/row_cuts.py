"""Cuts that close at once: parts at the ends of a box whose own bound is already at most the target.

Groups of neighbouring outputs move together, so halving the range of one leaves the others as wide as before. Before a box is
branched, the largest share of either end of every range is therefore looked for whose part is closed by the box's own lines with
one slope changed. Each part is a leaf by itself, so all cuts hold together, and what remains is smaller in every direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dalenius.audits.bounds.row_boxes import Bounded, RowBox, RowProblem
from dalenius.information import x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.secants import intercept, secant
from dalenius.search.decimals import short_on

__all__ = ["ClosedPart", "Shrunk", "shrunk"]

SHARES = np.array([0.93, 0.86, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.22, 0.15, 0.1, 0.07, 0.05, 0.03])
WORTH = 0.8  # cuts are made in the order of what they gain, until they have so much of what all would
STEPS = 5
NO_WIDTH = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class ClosedPart:
    """What a cut closes: the part of a box with K_g of the group at a place above a threshold, or below it, its slopes and bound."""

    place: int
    threshold: float
    above: bool
    slopes: Floats
    bound: float


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A box less the parts that cuts have closed, in their order; `gained` is the share by which its secants err less."""

    box: RowBox
    closed: tuple[ClosedPart, ...]
    gained: float


def shrunk(problem: RowProblem, bounded: Bounded, errors: Floats, target: float) -> Shrunk:
    """Cut off what the lines of a box close with one slope changed.

    Parameters
    ----------
    errors : (groups,)
        What the secants lose at the maximiser.
    """
    box, count = bounded.box, len(bounded.box.groups)
    low, high = (ends[:count] for ends in box.all_ranges())
    width = high - low
    thresholds = np.stack(
        [low + SHARES[:, None] * width, high - SHARES[:, None] * width]
    )  # (below or above, shares, groups)
    thresholds = np.clip(short_on(thresholds, low, high), low, high)
    below, above = thresholds
    ends = np.stack([np.broadcast_to(low, below.shape), above]), np.stack([below, np.broadcast_to(high, above.shape)])
    bounds, slopes = _one_slope(problem, box, *ends)
    closes = (bounds <= target) & (width > NO_WIDTH)
    gain = SHARES[:, None] * (errors / max(errors.sum(), 1e-300) + 0.1 * _weights(width, high))
    gain = np.where(closes, gain, 0.0)
    largest = gain.max(axis=1)  # the largest share that closes, of either end of every group
    share = gain.argmax(axis=1)
    wanted, parts = WORTH * largest.sum(), list[ClosedPart]()
    lows, highs = box.low.copy(), box.high.copy()
    for side, place in zip(*np.unravel_index(np.argsort(-largest, axis=None), largest.shape), strict=True):
        if wanted <= 0.0 or largest[side, place] <= 0.0:
            break
        at = side, share[side, place], place
        threshold, above = float(thresholds[at]), bool(side)
        if not max(lows[place], low[place]) < threshold < min(highs[place], high[place]):
            continue
        wanted -= largest[side, place]
        changed = box.slopes.copy()
        changed[place] = slopes[at]
        parts.append(ClosedPart(int(place), threshold, above, changed, float(bounds[at])))
        (highs if above else lows)[place] = threshold
    left = replace(box, low=lows, high=highs)
    new_low, new_high = (ends[:count] for ends in left.all_ranges())
    before, after = (_weights(high - low, high, total=1.0).sum() for low, high in ((low, high), (new_low, new_high)))
    return Shrunk(left, tuple(parts), 1.0 - float(np.sqrt(after / before)) if before > 0.0 else 0.0)


def _weights(width: Floats, high: Floats, total: float | None = None) -> Floats:
    """What secants of x log x lose on ranges, up to a factor; as shares of all by default."""
    loss = width**2 / np.maximum(high, 1e-300)
    return np.asarray(loss / (max(loss.sum(), 1e-300) if total is None else total))


def _one_slope(problem: RowProblem, box: RowBox, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds of parts (..., groups) of a box, each with another range of one group, and the slopes there that prove them.

    As a function of that slope the bound is convex, and least where it is the secant's, or K_g at an end of the range: found
    by a few Newton steps from the secant.
    """
    count, beta = len(box.groups), problem.beta
    columns = problem.columns(box)
    lines = np.where(np.arange(len(box.slopes)) < count, 1.0, 0.0)
    all_low, all_high = box.all_ranges()
    at_ends = (lines * x_log_x(end) - box.slopes * end for end in (all_low, all_high))
    constants = np.maximum(*at_ends)
    others = constants.sum() - constants[:count]
    weight = problem.base(box) + columns @ box.slopes / beta
    columns = columns[:, :count].reshape(-1, *(1,) * (low.ndim - 1), count)
    weight = weight.reshape(-1, *(1,) * low.ndim)
    slope = secant(low, high)[1]
    best, at_best = np.full(low.shape, np.inf), slope
    for _ in range(STEPS):
        slope = np.round(slope, problem.decimals)
        tilted = weight + columns * ((slope - box.slopes[:count]) / beta)
        top = tilted.max(axis=0)
        share = np.exp(tilted - top)
        total = share.sum(axis=0)
        K = (share * columns).sum(axis=0) / total
        variance = (share * columns**2).sum(axis=0) / total - K**2
        value = others + intercept(slope, low, high) + beta * (top + np.log(total))
        best, at_best = np.minimum(best, value), np.where(value < best, slope, at_best)
        step = (np.clip(K, low, high) - K) * beta / np.maximum(variance, 1e-9)
        slope = slope + np.clip(step, -3.0 * beta, 3.0 * beta)
    return best, at_best
