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
from typing import TypeAlias

import numpy as np

from dalenius.audits.bounds.output_groups import Groups, OutputGroups
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.rows import Lines, Multipliers
from dalenius.information.arrays import Floats, Integers
from dalenius.information.secants import tighten
from dalenius.reduction import Chamber
from dalenius.search.boxes import BoxCut, End, closed_ends, left_of
from dalenius.search.tree import Leaf

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
    short : array or None
        The slopes as they are written, once they are known.
    """

    groups: Groups
    low: Floats
    high: Floats
    slopes: Floats
    coarser: Groups = ()
    since: Groups = ()
    coarser_low: Floats = field(default_factory=lambda: np.empty(0))
    coarser_high: Floats = field(default_factory=lambda: np.empty(0))
    short: Floats | None = None

    def less(self, closed: Sequence[ClosedPart]) -> RowBox:
        """Without closed parts."""
        low, high = left_of(self.low, self.high, closed)
        return replace(self, low=low, high=high)

    def all_ranges(self) -> tuple[Floats, Floats]:
        """Tightened, of the partition's groups and then of the coarser ones."""
        low, high = tighten(self.low, self.high, axis=0)
        return np.concatenate([low, self.coarser_low]), np.concatenate([high, self.coarser_high])


@dataclass(frozen=True, slots=True)
class Refinement:
    """One part, in other groups."""

    groups: Groups


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """Plan for a box: cuts whose parts are closed, and what becomes of the rest.

    That is halved at a threshold of the group at a place, or seen in finer groups, or bounded anew (None). `whole` is the box itself
    with its bound, where that of a part was larger: finer groups may be worse for a while.
    """

    closed: tuple[ClosedPart, ...]
    rest: BoxCut | Refinement | None
    whole: RowLeaf | None = None


RowLeaf: TypeAlias = Leaf[RowBox, Plan]  # no part's bound is larger than its box's
ClosedPart: TypeAlias = End[RowLeaf]  # with a group's place for its coordinate


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
# Groups of neighbouring outputs move together, so halving the range of one leaves the others as wide as before
# (`search.boxes.closed_ends`).


NO_WIDTH = 1e-9


def shrunk(
    problem: RowProblem, bounded: Bounded, errors: Floats, target: float
) -> tuple[RowBox, tuple[ClosedPart, ...], float]:
    """A box less the largest parts that cuts close, these in their order, and the share by which its secants err less.

    Parameters
    ----------
    errors : (groups,)
        What the secants lose at the maximiser.
    """
    box, count = bounded.box, len(bounded.box.groups)
    ranges = tuple(ends[None, :count] for ends in box.all_ranges())
    loss = _loss(*ranges)
    weight = errors / max(errors.sum(), 1e-300) + 0.1 * loss / max(loss.sum(), 1e-300)

    def leaves(owner: Integers, lows: Floats, highs: Floats) -> list[RowLeaf | None]:
        bounds, slopes = problem.parts(box, lows, highs, target)
        parts = zip(lows, highs, slopes, bounds.tolist(), strict=True)
        return [
            Leaf(replace(box, low=low, high=high, slopes=slope), bound, None) if bound <= target else None
            for low, high, slope, bound in parts
        ]

    (closed,) = closed_ends((box.low[None], box.high[None]), (ranges[0], ranges[1]), weight, leaves, NO_WIDTH)
    left = box.less(closed)
    before, after = loss.sum(), _loss(*(ends[:count] for ends in left.all_ranges())).sum()
    return left, tuple(closed), 1.0 - float(np.sqrt(after / before)) if before > 0.0 else 0.0


def _loss(low: Floats, high: Floats) -> Floats:
    """Loss of secants of x log x on ranges, up to a factor."""
    return np.maximum(high - low, 0.0) ** 2 / np.maximum(high, 1e-300)
