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

from dalenius.audits.bounds.newton import newton
from dalenius.audits.bounds.output_groups import Groups, OutputGroups
from dalenius.audits.bounds.short_slopes import shortened
from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.box_multipliers import SMOOTHING, box_price, multiplier_size
from dalenius.information.secants import secant, tighten
from dalenius.reduction import Chamber

__all__ = ["Bounded", "RowBox", "RowProblem"]

STEPS = 10
RIDGE = 1e-7  # of the mean curvature: a split group and its parts have one direction in common
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


@dataclass
class _Batch:
    """Boxes with equally many columns: padded with columns of zeros. `curved` are those of partitions."""

    columns: Floats
    base: Floats
    low: Floats
    high: Floats
    curved: NDArray[np.bool_]
    beta: float

    def value(self, slopes: Floats) -> tuple[Floats, Floats]:
        """The bounds that slopes prove, and their maximisers w."""
        total, w = self._tilted(slopes)
        at_low, at_high = (np.where(self.curved, x_log_x(end), 0.0) - slopes * end for end in (self.low, self.high))
        return total + np.maximum(at_low, at_high).sum(axis=1), w

    def secants(self) -> tuple[Floats, Floats]:
        """Of the convex functions above which lines are drawn: x log x, and 0 for coarser groups."""
        at_zero, slope = secant(self.low, self.high)
        return np.where(self.curved, at_zero, 0.0), np.where(self.curved, slope, 0.0)

    def multipliers(self, slope: Floats) -> Floats:
        """What is best added to secants: a few damped Newton steps from 0 on the smoothed dual, for ever less smoothing."""
        nu = np.zeros_like(slope)
        w = self._tilted(slope)[1]
        K = (w[:, None] @ self.columns)[:, 0]
        variance = (w[:, None] @ self.columns**2)[:, 0] - K**2
        size = multiplier_size(np.maximum(K - self.high, self.low - K), variance / self.beta)
        for smoothing in (size * factor for factor in SMOOTHING):
            value, w = self._smoothed(slope, nu, smoothing)
            for _ in range(STEPS):
                before = value
                step = self._direction(nu, w, smoothing)
                length = np.ones((len(nu), 1))
                for _ in range(5):
                    trial = nu + length * step
                    value_trial, w_trial = self._smoothed(slope, trial, smoothing)
                    better = (value_trial < value)[:, None]
                    nu, w = np.where(better, trial, nu), np.where(better, w_trial, w)
                    value = np.minimum(value, value_trial)
                    if better.all():
                        break
                    length = np.where(better, 0.0, 0.35 * length)
                if np.all(before - value < 1e-9):
                    break
        return nu

    def _direction(self, nu: Floats, w: Floats, smoothing: Floats) -> Floats:
        _, first, second = box_price(nu, self.low, self.high, smoothing)
        K, count = (w[:, None] @ self.columns)[:, 0], nu.shape[1]
        hessian = (self.columns * w[:, :, None]).transpose(0, 2, 1) @ self.columns - K[:, :, None] * K[:, None, :]
        hessian /= self.beta
        hessian[:, range(count), range(count)] += second
        ridge = RIDGE * np.trace(hessian, axis1=1, axis2=2)[:, None] / count
        hessian[:, range(count), range(count)] += ridge
        return newton(K + first, hessian)

    def _smoothed(self, slope: Floats, nu: Floats, smoothing: Floats) -> tuple[Floats, Floats]:
        total, w = self._tilted(slope + nu)
        return total + box_price(nu, self.low, self.high, smoothing)[0].sum(axis=1), w

    def _tilted(self, slopes: Floats) -> tuple[Floats, Floats]:
        weight = self.base + (self.columns @ slopes[:, :, None])[:, :, 0] / self.beta
        total = log_sum_exp(weight)
        return self.beta * total, np.exp(weight - total[:, None])


class RowProblem:
    """The row problem of a letter: max over laws w on its classes of D(wR || r) + beta H(w), entropies relative to the uniform prior.

    Parameters
    ----------
    groups : OutputGroups
        Of the rows of the classes that the letter has.
    log_uniform : (classes,)
    output_law : (outputs,)
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
    ) -> None:
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
        return [b for part in self._parts([self._narrowed(box) for box in boxes]) for b in self._bounded(part)]

    def _parts(self, boxes: Sequence[RowBox]) -> Iterator[Sequence[RowBox]]:
        """Some boxes at a time."""
        most = max(len(box.slopes) for box in boxes) * len(self.weight)
        part = max(1, MOST_NUMBERS // most)
        return (boxes[first : first + part] for first in range(0, len(boxes), part))

    def shortened(self, boxes: Sequence[RowBox], level: float) -> list[Floats]:
        """Slopes of boxes with few digits that prove bounds of at most a level wherever their own do; zeros for empty boxes."""
        return [slopes for part in self._parts(boxes) for slopes in self._shortened(part, level)]

    def _shortened(self, boxes: Sequence[RowBox], level: float) -> list[Floats]:
        batch = self._batch(boxes)
        slopes = np.zeros_like(batch.low)
        for row, box in zip(slopes, boxes, strict=True):
            row[: len(box.slopes)] = box.slopes
        K = (batch.value(slopes)[1][:, None] @ batch.columns)[:, 0]
        costs = np.maximum(batch.high - K, K - batch.low)
        found = shortened(slopes, costs, level, self.decimals, lambda trial: batch.value(trial)[0])
        found[(batch.low > batch.high).any(axis=1)] = 0.0
        return [row[: len(box.slopes)] for row, box in zip(found, boxes, strict=True)]

    def _narrowed(self, box: RowBox) -> RowBox:
        if self.chamber is None:
            return box
        low, high = self.chamber.close(box.low, box.high)
        return replace(box, low=low, high=high)

    def _bounded(self, boxes: Sequence[RowBox]) -> list[Bounded]:
        batch = self._batch(boxes)
        hints = np.zeros_like(batch.low)
        for row, box in zip(hints, boxes, strict=True):
            row[: len(box.slopes)] = box.slopes
        slope = batch.secants()[1]
        slopes, w, bounds = hints, np.empty(0), np.full(len(boxes), np.inf)
        for raw in (hints, slope, slope + batch.multipliers(slope)):
            trial = np.round(raw, self.decimals)
            value, w_trial = batch.value(trial)
            better = (value < bounds)[:, None]
            slopes, bounds = np.where(better, trial, slopes), np.minimum(bounds, value)
            w = np.where(better, w_trial, w) if w.size else w_trial
        bounds = np.where((batch.low > batch.high).any(axis=1), -np.inf, bounds)
        return [
            Bounded(replace(box, slopes=slopes[j, : len(box.slopes)].copy()), float(bounds[j]), w[j])
            for j, box in enumerate(boxes)
        ]

    def _batch(self, boxes: Sequence[RowBox]) -> _Batch:
        count, width = len(boxes), max(len(box.slopes) for box in boxes)
        columns = np.zeros((count, len(self.weight), width))
        low, high, curved = np.zeros((count, width)), np.zeros((count, width)), np.zeros((count, width), dtype=np.bool_)
        for j, box in enumerate(boxes):
            size = len(box.slopes)
            columns[j, :, :size] = self.columns(box)
            low[j, :size], high[j, :size] = box.all_ranges()
            curved[j, : len(box.groups)] = True
        return _Batch(columns, np.array([self.base(box) for box in boxes]), low, high, curved, self.beta)
