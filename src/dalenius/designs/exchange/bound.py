"""The bound on the optimum from below: priors with weights and posteriors, taken from the multipliers of the master program."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dalenius.designs.oracle import Prior
from dalenius.evidence.lower import UNIFORM
from dalenius.information.arrays import Floats
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.reduction import Orbits

NOTHING = 1e-11  # a difference that rounding alone may make


def closed(lower: float, upper: float, gap: float) -> bool:
    """Whether an upper bound is close enough to the lower one: within this share of it.

    >>> closed(0.99, 1.0, 0.02), closed(0.97, 1.0, 0.02), closed(0.0, math.inf, 0.02)
    (True, False, False)
    """
    return math.isfinite(upper) and upper - lower <= gap * abs(upper) + NOTHING


RAREST = 1e-300  # of a posterior, whose logarithm is taken
USED = 1e-12  # share of all weights above which a prior is listed


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


@dataclass(frozen=True, eq=False)
class MasterBound:
    """What the weighted priors, and the multiplier of a budget of distortion, prove of the optimum; in doubles.

    `found_by` is the solver whose multipliers they are, ``start`` if they need none.
    """

    value: float = 0.0
    priors: tuple[WeightedPrior, ...] = ()
    budget_multiplier: float = 0.0
    found_by: str = "start"

    @property
    def weight(self) -> float:
        """The sum of all weights."""
        return sum(part.weight for part in self.priors)

    def scores(self) -> Floats:
        """The weighted sum of the priors' g(x,y)."""
        return np.asarray(np.sum([part.scores() for part in self.priors], axis=0))

    def on_inputs(self, orbits: Orbits) -> MasterBound:
        """The same with priors on the problem's own inputs, which share a weight where inputs share an orbit."""
        return replace(self, priors=tuple(own for part in self.priors for own in on_inputs(part, orbits)))


def on_inputs(part: WeightedPrior, orbits: Orbits) -> Iterator[WeightedPrior]:
    """The prior and its images on the problem's own inputs, which share its weight."""
    if part.prior.hint not in (None, UNIFORM):
        yield part
        return
    placed = orbits.lift(part.prior.record, part.prior.masses, part.posteriors)
    for record, masses, posteriors in placed:
        yield WeightedPrior(Prior(record, masses, part.prior.hint), part.weight / len(placed), posteriors)


def master_bound(
    program: MechanismUpdate, priors: Sequence[Prior], multipliers: Mapping[str, Floats], found_by: str = "start"
) -> MasterBound | None:
    """What a master program's multipliers prove, with the posteriors as a certificate will have them; None if that is nothing."""
    leakages, weights = program.leakages, multipliers["weights"]
    posteriors = np.maximum(leakages.pi[:, None] * np.exp(leakages.normalised(multipliers["log_ratio"])), RAREST)
    value = program.bound({**multipliers, "log_ratio": np.log(posteriors) - leakages.log_pi[:, None]})
    if not (math.isfinite(value) and weights.sum() > 0.0):
        return None
    parts = np.split(posteriors, leakages.first[1:])
    used = np.flatnonzero(weights > USED * weights.sum()).tolist()
    return MasterBound(
        value,
        tuple(WeightedPrior(priors[s], float(weights[s]), of_all_letters(priors[s], parts[s])) for s in used),
        float(multipliers.get("nu", 0.0)),
        found_by,
    )


def of_all_letters(prior: Prior, posteriors: Floats) -> Floats:
    """Zeros for the letters without mass, which programs drop."""
    full = np.zeros((len(prior.masses), posteriors.shape[1]))
    full[prior.masses.sum(axis=1) > 0.0] = posteriors
    return full
