"""What multipliers of a constrained master program prove of the optimum, or that there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dalenius.designs.constrained.goals import Goal
from dalenius.designs.constrained.watchers import Place, Watched
from dalenius.designs.exchange.bound import WeightedPrior, of_all_letters
from dalenius.information.arrays import Floats
from dalenius.programs import ConstrainedUpdate
from dalenius.programs.base import Named
from dalenius.programs.secrets import Tangent

__all__ = ["ConstrainedBound", "constrained_bound"]

USED = 1e-12  # share of the largest multiplier below which one is 0
LEAST = 1e-290  # posterior of a letter that has mass: it must be above 0 as it is written


@dataclass(frozen=True, eq=False)
class ConstrainedBound:
    """A lower bound of the optimum, on orbits, and its multipliers; weights of an objective as shares of their scale (`Terms`).

    Attributes
    ----------
    value : float
    priors : (where its adversary stands, weighted prior)
    distortions : dict of term -> v
        Weights of the terms of what is minimised that are distortions.
    prices : (rows of the region,)
        Those that keep entries away which are 0 in every mechanism are among them.
    cones : (t, u...) of every cone
    tangents : (number of the law, number of the tangent, weight, hint)
        Of the region's limits about secrets.
    paid : (rows of the region,)
        The prices before that: what a constraint costs.
    size : float
        What is summed, roughly: rounding is a part in 1e16 of it.
    """

    value: float = 0.0
    priors: tuple[tuple[Place, WeightedPrior], ...] = ()
    distortions: Mapping[int, float] = field(default_factory=dict)
    prices: Floats | None = None
    cones: tuple[Floats, ...] = ()
    tangents: tuple[Tangent, ...] = ()
    size: float = 0.0
    found_by: str = "start"
    paid: Floats | None = None

    def scaled(self, scale: float) -> ConstrainedBound:
        """The bound of an objective that is so much larger, a power of 2."""
        if scale == 1.0:
            return self
        return replace(
            self,
            value=scale * self.value,
            priors=tuple((place, replace(part, weight=scale * part.weight)) for place, part in self.priors),
            distortions={j: scale * v for j, v in self.distortions.items()},
            prices=None if self.prices is None else scale * self.prices,
            cones=tuple(scale * both for both in self.cones),
            tangents=tuple((k, i, scale * weight, hint) for k, i, weight, hint in self.tangents),
            size=scale * self.size,
            paid=None if self.paid is None else scale * self.paid,
        )


def constrained_bound(
    program: ConstrainedUpdate, goal: Goal, watched: Sequence[Watched], multipliers: Named, found_by: str
) -> ConstrainedBound | None:
    """The bound with posteriors as a certificate will have them, tiny multipliers left out; None if it is nothing."""
    region, prices = goal.region, multipliers["prices"].copy()
    weights, charged = program.scaled(multipliers)
    prices[np.abs(prices) <= USED * np.abs(prices).max(initial=0.0)] = 0.0
    multipliers, parts = multipliers | {"weights": weights, "charged": charged, "prices": prices}, list[Floats]()
    if program.leakages is not None:
        leakages = program.leakages
        posteriors = np.maximum(leakages.pi[:, None] * np.exp(leakages.normalised(multipliers["log_ratio"])), LEAST)
        multipliers |= {"log_ratio": np.log(posteriors) - leakages.log_pi[:, None]}
        parts = np.split(posteriors, leakages.first[1:])
    value, raised = program.bound(multipliers), region.raised
    if not math.isfinite(value) or raised is None:
        return None
    paid = prices
    prices = prices + program.lift_needed(multipliers) * raised
    used = np.flatnonzero(weights > USED * weights.max(initial=0.0)).tolist()
    return ConstrainedBound(
        value,
        tuple(
            (watched[s][0], WeightedPrior(watched[s][1], float(weights[s]), of_all_letters(watched[s][1], parts[s])))
            for s in used
        ),
        goal.charged(charged),
        prices,
        tuple(multipliers[f"cone{k}"] for k in range(len(region.cones))),
        region.told.listed(multipliers),
        float(weights.sum() + np.abs(prices).sum() * (1.0 + np.abs(region.linear.ends).max(initial=0.0))),
        found_by,
        paid,
    )
