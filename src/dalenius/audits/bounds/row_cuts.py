"""Cuts that close at once: parts at the ends of a box whose own bound is already at most the target.

Groups of neighbouring outputs move together, so halving the range of one leaves the others as wide as before. Before a box is
branched, the largest share of either end of every range is therefore looked for whose part is closed, with its own best slopes: only
all slopes together show that no law has one group so large and the others where the box wants them. Each part is a leaf by itself, so
all cuts hold together, and what remains is smaller in every direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.row_boxes import Bounded, RowBox, RowProblem
from dalenius.information.arrays import Floats, Integers
from dalenius.search.decimals import short_on

__all__ = ["ClosedPart", "Shrunk", "shrunk"]

SHARES = np.array([0.93, 0.8, 0.6, 0.4, 0.25, 0.12, 0.05])  # of a range, for bisection
ROUNDS = 3
WORTH = 0.8  # cuts are made in the order of what they gain, until they have so much of what all would
FLAT = 1e-3  # of what all secants lose: a range that loses less is not cut
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
    """Cut off the largest parts that are closed.

    Parameters
    ----------
    errors : (groups,)
        What the secants lose at the maximiser.
    """
    box, count = bounded.box, len(bounded.box.groups)
    low, high = (ends[:count] for ends in box.all_ranges())
    loss = _loss(low, high)
    weight = errors / max(errors.sum(), 1e-300) + 0.1 * loss / max(loss.sum(), 1e-300)
    wide = np.flatnonzero((weight > FLAT * weight.sum()) & (high - low > NO_WIDTH))
    ends = _Ends(problem, box, np.repeat(wide, 2), np.tile([False, True], len(wide)), low, high)
    closed = ends.closed(target)
    gains = {id(part): share * float(weight[part.place]) for part, share in closed}
    wanted, parts = WORTH * sum(gains.values()), list[ClosedPart]()
    lows, highs = box.low.copy(), box.high.copy()
    for part in sorted((part for part, _ in closed), key=lambda part: -gains[id(part)]):
        place, threshold = part.place, part.threshold
        if wanted <= 0.0:
            break
        if max(lows[place], low[place]) < threshold < min(highs[place], high[place]):
            wanted -= gains[id(part)]
            parts.append(part)
            (highs if part.above else lows)[place] = threshold
    left = replace(box, low=lows, high=highs)
    before, after = loss.sum(), _loss(*(ends[:count] for ends in left.all_ranges())).sum()
    return Shrunk(left, tuple(parts), 1.0 - float(np.sqrt(after / before)) if before > 0.0 else 0.0)


def _loss(low: Floats, high: Floats) -> Floats:
    """What secants of x log x lose on ranges, up to a factor."""
    return np.asarray(np.maximum(high - low, 0.0) ** 2 / np.maximum(high, 1e-300))


class _Ends:
    """Ends of the ranges of groups, upper ones and lower ones; the part at each that is closed, if it is large, found by bisection."""

    def __init__(
        self,
        problem: RowProblem,
        box: RowBox,
        place: Integers,
        above: NDArray[np.bool_],
        low: Floats,
        high: Floats,
    ) -> None:
        self._problem, self._box, self._place, self._above = problem, box, place, above
        low, high = low[place], high[place]
        width = SHARES[:, None] * (high - low)
        self._thresholds = np.clip(short_on(np.where(above, high - width, low + width), low, high), low, high)

    def closed(self, target: float) -> list[tuple[ClosedPart, float]]:
        """What is closed, and which share of the range that is."""
        count = len(self._place)
        first, last = (
            np.zeros(count, dtype=np.int64),
            np.full(count, len(SHARES)),
        )  # the largest that may, and that does
        bounds, slopes = np.full(count, np.inf), np.zeros((count, len(self._box.slopes)))
        for _ in range(ROUNDS):
            asked = np.flatnonzero(first < last)
            if not len(asked):
                break
            middle = (first[asked] + last[asked]) // 2
            bound, slope = self._problem.parts(self._box, *self._parts(asked, middle), target)
            closes = bound <= target
            done = asked[closes]
            last[done], bounds[done], slopes[done] = middle[closes], bound[closes], slope[closes]
            first[asked[~closes]] = middle[~closes] + 1
        found = list[tuple[ClosedPart, float]]()
        for j in np.flatnonzero(last < len(SHARES)).tolist():
            threshold, share = float(self._thresholds[last[j], j]), float(SHARES[last[j]])
            part = ClosedPart(int(self._place[j]), threshold, bool(self._above[j]), slopes[j], float(bounds[j]))
            found.append((part, share))
        return found

    def _parts(self, asked: Integers, which: Integers) -> tuple[Floats, Floats]:
        """The ends of parts with these shares."""
        row, place, threshold = np.arange(len(asked)), self._place[asked], self._thresholds[which, asked]
        low, high = (np.tile(ends, (len(asked), 1)) for ends in (self._box.low, self._box.high))
        above = self._above[asked]
        low[row[above], place[above]] = threshold[above]
        high[row[~above], place[~above]] = threshold[~above]
        return low, high
