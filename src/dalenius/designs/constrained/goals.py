"""What a constrained exchange minimises: its design's own objective, or by how much limits of leakage must be exceeded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.designs.constrained.bound import Watched
from dalenius.designs.constrained.region import Region
from dalenius.designs.constrained.watchers import Watcher
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.programs import ConstrainedUpdate

__all__ = ["Goal", "Leakages"]

Leakages = Mapping[int | None, float]  # what a mechanism leaks to each watcher, by its number, in nats


@dataclass(frozen=True, eq=False)
class Goal:
    """One objective over the mechanisms of a region.

    Attributes
    ----------
    region : Region
    watchers : list of Watcher
        Whose limits count, or whose leakage is minimised.
    raises : bool
        Whether limits of leakage are raised by what is minimised; otherwise they must be kept.
    """

    region: Region
    watchers: Sequence[Watcher]
    raises: bool = False

    @property
    def least_leakage(self) -> bool:
        """Whether the leakage to the design's own adversary is minimised."""
        return not self.raises and any(watcher.limit is None for watcher in self.watchers)

    def is_raised(self, watcher: Watcher) -> bool:
        return self.raises or watcher.limit is None

    def program(self, watched: Sequence[Watched], anchor: Floats, room: float = 0.0) -> ConstrainedUpdate:
        """The master program over these priors; with limits lowered by this share of them, where they must be kept."""
        by_number = {watcher.number: watcher for watcher in self.watchers}
        owners = [by_number[number] for number, _ in watched]
        cost = np.zeros_like(self.region.orbits.cost)
        if not self.raises and isinstance(self.region.problem, MinDistortion):
            cost = self.region.orbits.cost
        return ConstrainedUpdate(
            [prior.masses for _, prior in watched],
            [(owner.limit or 0.0) * (1.0 - (0.0 if self.is_raised(owner) else room)) for owner in owners],
            [self.is_raised(owner) for owner in owners],
            cost,
            self.region.demands(anchor),
            tied=self.region.tied,
        )

    def value(self, q: Floats, leakages: Leakages) -> float:
        """What a mechanism that meets the region's rows and the limits attains."""
        if self.raises:
            return max(leakages[watcher.number] - (watcher.limit or 0.0) for watcher in self.watchers)
        if self.least_leakage:
            return leakages[None]
        return float(np.sum(self.region.tied.sums(self.region.orbits.cost) * q))

    def share(self, leakages: Leakages, of_anchor: Leakages, room: float = 0.0) -> float:
        """The least share of the anchor with which all limits are kept, less `room` of each: leakage is convex."""
        share = 0.0
        for watcher in () if self.raises else self.watchers:
            if watcher.limit is None:
                continue
            have, least, most = leakages[watcher.number], of_anchor[watcher.number], watcher.limit * (1.0 - room)
            if have > most:
                share = max(share, min((have - most) / (have - least), 1.0) if have > least else 1.0)
        return share
