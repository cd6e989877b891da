"""The row problem on boxes of groups of outputs, a batch of boxes at a time, each with groups of its own.

A box holds ranges of K_g for the groups g of its partition, in which the bound is branched, and those of coarser groups that were
split on the way to it. With lines of slope kappa above K_g log K_g, intercept B, and multipliers nu for the coarser ones the bound is

    sum_g B(g) + sum_h max over v in the range of h of -nu_h v
        + beta log sum_k N(k) exp( (s + sum_g c_g + R_g kappa + R_h nu)(k) / beta ).

*Bound because* of the lines, of `bounds.output_groups`, and because nu_h (K_h - v) >= 0 at the worst v of the range of K_h.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.output_groups import Groups, OutputGroups
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.row_solver import Multipliers
from dalenius.audits.bounds.rows import Lines
from dalenius.information.arrays import Floats, Integers
from dalenius.information.secants import tighten
from dalenius.reduction import Chamber
from dalenius.search.decimals import short_on

MOST_NUMBERS = 1 << 22  # in the largest array; more boxes are taken in parts


@dataclass(frozen=True, eq=False, slots=True)
class RowBox:
    """Ranges of a partition's groups, those of coarser groups, and the slopes of all of them.

    Attributes
    ----------
    groups : the partition
    low, high : (groups,)
        As cuts have left them, not tightened.
    slopes : (groups + coarser groups,)
    coarser, since : (coarser groups,)
        Groups that were split, and how many partitions there were on the way to that: 0 for the first.
    coarser_low, coarser_high : (coarser groups,)
        Their ranges at that time, tightened.
    """

    groups: Groups
    low: Floats
    high: Floats
    slopes: Floats
    coarser: Groups = ()
    since: Groups = ()
    coarser_low: Floats = field(default_factory=lambda: np.empty(0))
    coarser_high: Floats = field(default_factory=lambda: np.empty(0))

    def part(self, place: int, low: float, high: float) -> RowBox:
        """With another range of one group."""
        lows, highs = self.low.copy(), self.high.copy()
        lows[place], highs[place] = low, high
        return replace(self, low=lows, high=highs)

    def all_ranges(self) -> tuple[Floats, Floats]:
        """Tightened, of the partition's groups and then of the coarser ones."""
        low, high = tighten(self.low, self.high, axis=0)
        return np.concatenate([low, self.coarser_low]), np.concatenate([high, self.coarser_high])


@dataclass(frozen=True, eq=False)
class Bounded:
    """A box with its best slopes, the bound that they prove (-inf: empty), and its maximiser w."""

    box: RowBox
    bound: float
    w: Floats


class RowProblem:
    """The row problem of a letter: max over laws w on its classes of D(wR || r) + beta H(w), entropies relative to the uniform prior.

    Parameters
    ----------
    groups : OutputGroups
        Of the rows of the classes that the letter has.
    log_uniform : (classes,)
    output_law : (outputs,)
    multipliers : callable
        Who finds those of boxes.
    chamber : Chamber, optional
        Laws outside it need no bound. Where it asks for orders, outputs are not grouped: these are about single outputs.
    """

    def __init__(
        self,
        groups: OutputGroups,
        log_uniform: Floats,
        output_law: Floats,
        beta: float,
        *,
        decimals: int,
        chamber: Chamber | None = None,
        multipliers: Multipliers = row_multipliers,
    ) -> None:
        self.multipliers = multipliers
        self.groups, self.beta, self.decimals = groups, beta, decimals
        self.chamber = chamber if chamber is not None and chamber.steps else None
        self.weight = log_uniform - groups.rows @ np.log(output_law) / beta
        self.low, self.high = groups.columns.min(axis=0), groups.columns.max(axis=0)

    def root(self, room: float) -> RowBox:
        """The box of all laws, in as few groups as one begins with where the bound may be so much too high."""
        groups = self.groups.first_partition(room) if self.chamber is None else self.groups.singles
        which = np.array(groups)
        return RowBox(groups, self.low[which], self.high[which], np.zeros(len(which)))

    def base(self, box: RowBox) -> Floats:
        """log N(k) + (s + sum_g c_g)(k) / beta of a box's partition."""
        return self.weight + self.groups.corrections[:, np.array(box.groups)].sum(axis=1) / self.beta

    def columns(self, box: RowBox) -> Floats:
        """R_g(k) of the partition's groups and of the coarser ones."""
        return self.groups.columns[:, np.array(box.groups + box.coarser)]

    def bounded(self, boxes: Sequence[RowBox]) -> list[Bounded]:
        """The best bounds of boxes, less what the chamber misses of them, none worse than their slopes prove."""
        found = dict[int, Bounded]()
        for numbers in self._parts(boxes):
            found.update(zip(numbers, self._bounded([boxes[j] for j in numbers]), strict=True))
        return [found[j] for j in range(len(boxes))]

    def shortened(self, boxes: Sequence[RowBox], level: float) -> list[Floats]:
        """Slopes of boxes with few digits that prove bounds of at most a level wherever their own do; zeros for empty boxes."""
        found = dict[int, Floats]()
        for numbers in self._parts(boxes):
            some = [boxes[j] for j in numbers]
            found.update(
                zip(numbers, self._above(some).shortened(np.array([box.slopes for box in some]), level), strict=True)
            )
        return [found[j] for j in range(len(boxes))]

    def _parts(self, boxes: Sequence[RowBox]) -> Iterator[list[int]]:
        """The numbers of some boxes with the same groups at a time."""
        alike = dict[tuple[Groups, Groups], list[int]]()
        for j, box in enumerate(boxes):
            alike.setdefault((box.groups, box.coarser), []).append(j)
        for numbers in alike.values():
            part = max(1, MOST_NUMBERS // (len(boxes[numbers[0]].slopes) * len(self.weight)))
            yield from (numbers[first : first + part] for first in range(0, len(numbers), part))

    def _bounded(self, boxes: Sequence[RowBox]) -> list[Bounded]:
        """Of boxes with the same groups."""
        low, high = self._narrowed(np.array([box.low for box in boxes]), np.array([box.high for box in boxes]))
        boxes = [replace(box, low=low[j], high=high[j]) for j, box in enumerate(boxes)]
        bounds, slopes, w = self._above(boxes).best(np.array([box.slopes for box in boxes]))
        return [Bounded(replace(box, slopes=slopes[j]), float(bounds[j]), w[j]) for j, box in enumerate(boxes)]

    def parts(self, box: RowBox, low: Floats, high: Floats, enough: float) -> tuple[Floats, Floats]:
        """Bounds of parts of a box (parts, groups), at most `enough` where that seems within reach, and the slopes that prove them."""
        low, high = tighten(*self._narrowed(low, high), axis=1)
        coarser = ((len(low), len(box.coarser)), (box.coarser_low, box.coarser_high))
        low, high = (
            np.concatenate([ends, np.broadcast_to(more, coarser[0])], axis=1)
            for ends, more in zip((low, high), coarser[1], strict=True)
        )
        return self._lines(box, low, high).best(np.broadcast_to(box.slopes, low.shape), enough)[:2]

    def _above(self, boxes: Sequence[RowBox]) -> Lines:
        """Of whole boxes with the same groups."""
        low, high = (np.array(ends) for ends in zip(*(box.all_ranges() for box in boxes), strict=True))
        return self._lines(boxes[0], low, high)

    def _lines(self, box: RowBox, low: Floats, high: Floats) -> Lines:
        """Of parts of a box: above x log x for the partition's groups, above 0 for the coarser ones."""
        columns, curved = self.columns(box), len(box.groups)
        return Lines(columns, curved, self.base(box), self.beta, low, high, self.decimals, self.multipliers)

    def _narrowed(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        return (low, high) if self.chamber is None else self.chamber.close(low, high)


# Cuts that close at once: parts at the ends of a box whose own bound is already at most the target.
#
# Groups of neighbouring outputs move together, so halving the range of one leaves the others as wide as before. Before a box is
# branched, the largest share of either end of every range is therefore looked for whose part is closed, with its own best slopes: only
# all slopes together show that no law has one group so large and the others where the box wants them. Each part is a leaf by itself,
# so all cuts hold together, and what remains is smaller in every direction.


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
        self, problem: RowProblem, box: RowBox, place: Integers, above: NDArray[np.bool_], low: Floats, high: Floats
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
