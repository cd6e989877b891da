"""Priors on the orbits of a problem's inputs: those that a master program knows, and what its multipliers make of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.audits import Audit, ClassAudit, EntropyAudit
from dalenius.designs.oracle import Prior
from dalenius.evidence.lower import UNIFORM
from dalenius.information.arrays import Floats
from dalenius.reduction import Orbits

Key = tuple[int, bytes]
IDLE = 4  # rounds without weight after which a prior may be dropped
FEW = 40  # so many priors stay in any case
USED = 1e-7  # share of all weights above which a prior is not idle
SLACK = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that an audit's prior has above the bound


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

    def learn(self, audit: Audit) -> None:
        """Make known what an audit found that has run."""
        if isinstance(audit, EntropyAudit):
            found = audit.exposure(SLACK * (1.0 + audit.problem.max_knowledge))
            if found is not None:
                self.add([Prior(*self.orbits.apply(found.record, found.masses / found.masses.sum()))])
        elif isinstance(audit, ClassAudit):  # which looks at every selection, as an oracle need not
            found = audit.exposure(0.0)
            if found is not None:
                self.add([Prior(found.record, found.masses, found.prior)])

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


@dataclass(frozen=True, eq=False)
class WeightedPrior:
    """A prior's part in the bound.

    Attributes
    ----------
    prior : Prior
    weight : float
    posteriors : (letters, outputs)
        phi(a|y), laws of the letter.
    """

    prior: Prior
    weight: float
    posteriors: Floats

    def scores(self) -> Floats:
        """The weight times g(x,y) = sum_a p(a,x) log(phi(a|y) / pi_a)."""
        pi = self.prior.masses.sum(axis=1)
        used = pi > 0.0
        phi = self.posteriors[used]
        log_ratio = np.log(phi / phi.sum(axis=0)) - np.log(pi[used, None])
        return self.weight * (self.prior.masses[used].T @ log_ratio)


def on_inputs(part: WeightedPrior, orbits: Orbits) -> Iterator[WeightedPrior]:
    """The prior and its images on the problem's own inputs, which share its weight."""
    if part.prior.hint not in (None, UNIFORM):
        yield part
        return
    placed = orbits.lift(part.prior.record, part.prior.masses, part.posteriors)
    for record, masses, posteriors in placed:
        yield WeightedPrior(Prior(record, masses, part.prior.hint), part.weight / len(placed), posteriors)


def of_all_letters(prior: Prior, posteriors: Floats) -> Floats:
    """Zeros for the letters without mass, which programs drop."""
    full = np.zeros((len(prior.masses), posteriors.shape[1]))
    full[prior.masses.sum(axis=1) > 0.0] = posteriors
    return full
