"""The priors that the master program knows: found by the oracle or by audits, joined by their images, dropped when they stay idle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalenius.designs.oracle import Prior
from dalenius.information.arrays import Floats
from dalenius.reduction import Orbits

__all__ = ["KnownPriors", "distinct"]

Key = tuple[int, bytes]
IDLE = 4  # rounds without weight after which a prior may be dropped
FEW = 40  # so many priors stay in any case
USED = 1e-7  # share of all weights above which a prior is not idle


class KnownPriors:
    """Priors on the orbits of a problem's inputs, in the order in which they were found."""

    def __init__(self, orbits: Orbits) -> None:
        self.orbits = orbits
        self._priors: dict[Key, Prior] = {}
        self._idle: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._priors)

    @property
    def priors(self) -> list[Prior]:
        return list(self._priors.values())

    def add(self, priors: Sequence[Prior]) -> int:
        """Make priors and their images known; how many are new."""
        before = len(self)
        for prior in priors:
            images = [prior]
            if prior.hint is None:
                images = [Prior(*image) for image in self.orbits.images(prior.record, prior.masses)]
            for image in images:
                key = _key(image)
                self._priors.setdefault(key, image)
                self._idle.setdefault(key, 0)
        return len(self) - before

    def used(self, weights: Floats) -> None:
        """Note which of the priors, in their order, had weight in a round."""
        for key, weight in zip(list(self._idle), weights.tolist(), strict=True):
            self._idle[key] = 0 if weight > USED * weights.sum() else self._idle[key] + 1

    def drop_idle(self) -> None:
        """Forget the first of those that had no weight for a while, unless few are left."""
        for key in [key for key, idle in self._idle.items() if idle > IDLE][: max(len(self) - FEW, 0)]:
            del self._priors[key], self._idle[key]


def distinct(priors: Sequence[Prior]) -> list[Prior]:
    """One of those that differ by rounding only."""
    return list({_key(prior): prior for prior in priors}.values())


def _key(prior: Prior) -> Key:
    """The same for priors that differ by rounding."""
    return prior.record, (np.round(prior.masses, 8) + 0.0).tobytes()
