"""Outputs in groups for boxes of the posterior: what they lose, and how neighbours narrow each other (docs/theory.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.output_groups import FEW, OutputGroups
from dalenius.information import mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.reduction import RecordChannel
from dalenius.search.decimals import short

MOST_MULTIPLIERS = 64  # of a box: a step of Newton's method on more would cost more than it gains
LEAST_SHARE = 1e-12  # of an output in its group: less would be no number that is written short
HUGE = 1e6  # log odds that say nothing
SLACK = 1e-9  # of log odds: narrowed ranges are so much wider than doubles say


@dataclass(frozen=True, eq=False)
class PosteriorGroups:
    """Groups of outputs in a chain, of which neighbours narrow each other's ranges (docs/theory.md, Theorems D6 and D7).

    Attributes
    ----------
    members : tuple of tuple of int
        The outputs of each group.
    shares : (outputs,)
        s(y|g) times anything that is the same for a group.
    rows, costs : (classes, groups), (classes,)
        R_g(k), and what the groups lose of the information, e(k).
    up, down : (letters, groups - 1)
        Logarithms of the factors by which the odds of a letter change from one group to the next, at most and at least.
    channel, masses, most, alone
        What they were made of.
    """

    channel: RecordChannel
    masses: tuple[Floats, ...]
    most: float
    alone: int | None
    members: tuple[tuple[int, ...], ...]
    shares: Floats
    rows: Floats
    costs: Floats
    up: Floats
    down: Floats

    @classmethod
    def of(
        cls, channel: RecordChannel, masses: tuple[Floats, ...], most: float, alone: int | None = None
    ) -> PosteriorGroups | None:
        """As few groups as lose at most so many nats at each of some priors, but no more than boxes may have; None for few outputs.

        What groups lose is concave in the prior, or nearly: at the mean of several it is at least the mean.

        Parameters
        ----------
        alone : int, optional
            An output that is to be a group by itself.
        """
        rows, outputs = channel.rows, channel.rows.shape[1]
        largest = MOST_MULTIPLIERS // (1 if channel.letters == 2 else channel.letters)
        if outputs <= FEW or largest <= FEW:
            return None
        p = np.mean(masses, axis=0)
        p = p if p.any(axis=0).all() else 0.5 * (p + channel.uniform)
        groups = OutputGroups.of(rows, p)
        for count in range(FEW, min(largest, outputs) + 1):
            partition = groups.partition(count)
            if groups.loss[list(partition)].sum() <= most / len(masses):
                break
        members = list[tuple[int, ...]]()
        for g in sorted(partition, key=lambda g: int(groups.start[g])):
            inside = groups.outputs(g)
            at = inside.index(alone) if alone in inside else len(inside)
            members += [tuple(part) for part in (inside[:at], inside[at : at + 1], inside[at + 1 :]) if part]
        return cls.given(channel, masses, most, alone, tuple(members))

    @classmethod
    def given(
        cls,
        channel: RecordChannel,
        masses: tuple[Floats, ...],
        most: float,
        alone: int | None,
        members: tuple[tuple[int, ...], ...],
    ) -> PosteriorGroups:
        """Those with these members."""
        rows, p = channel.rows, np.mean(masses, axis=0)
        p = p if p.any(axis=0).all() else 0.5 * (p + channel.uniform)
        shares = short(np.maximum(p.sum(axis=0) @ rows, LEAST_SHARE), 7)
        merged = np.stack([rows[:, part].sum(axis=1) for part in members], axis=1)
        sums = np.array([shares[list(part)].sum() for part in members])
        spread = -(rows @ np.log(shares)) + merged @ np.log(sums)
        costs = x_log_x(rows).sum(axis=1) - x_log_x(merged).sum(axis=1) + spread
        up, down = _odds(merged, np.isfinite(channel.log_uniform))
        return cls(channel, masses, most, alone, members, shares, merged, costs, up, down)

    def finer(self, p: Floats) -> PosteriorGroups | None:
        """Groups that lose little at these masses, too; None where there are no more."""
        found = PosteriorGroups.of(self.channel, (*self.masses, p), self.most, self.alone)
        return found if found is not None and len(found.members) > len(self.members) else None

    def lost(self, p: Floats) -> float:
        """By how much a bound is too high for the groups at masses p."""
        told = mutual_information(p @ self.channel.rows) - mutual_information(p @ self.rows)
        return float(p.sum(axis=0) @ self.costs - told)

    def narrowed(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Ranges (boxes, letters, groups) narrowed by their neighbours'."""
        with np.errstate(divide="ignore"):
            least, most = (np.log(x) - np.log1p(-x) for x in (low, high))
        for g in range(low.shape[2] - 1):
            most[..., g + 1] = np.minimum(most[..., g + 1], most[..., g] + self.up[:, g])
            least[..., g + 1] = np.maximum(least[..., g + 1], least[..., g] + self.down[:, g])
        for g in reversed(range(low.shape[2] - 1)):
            most[..., g] = np.minimum(most[..., g], most[..., g + 1] - self.down[:, g])
            least[..., g] = np.maximum(least[..., g], least[..., g + 1] - self.up[:, g])
        return np.maximum(low, of_log_odds(least - SLACK)), np.minimum(high, of_log_odds(most + SLACK))


def _odds(rows: Floats, exists: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The logarithms of `up` and `down`, huge where a ratio is not known to be positive and finite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.log(rows[own, 1:]) - np.log(rows[own, :-1]) for own in exists]
        most, least = (np.array([which(ratio, axis=0) for ratio in ratios]) for which in (np.max, np.min))
        others = ~np.eye(len(exists), dtype=np.bool_)
        up = most - np.array([least[other].min(axis=0) for other in others])
        down = least - np.array([most[other].max(axis=0) for other in others])
    return np.where(np.isfinite(up), up, HUGE), np.where(np.isfinite(down), down, -HUGE)


def of_log_odds(x: Floats) -> Floats:
    """Probability with these log odds."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-x)))
