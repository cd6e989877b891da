"""What a mechanism program minimises besides a cost: levels that leakages and further costs may reach, as data in doubles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Floats, Integers

__all__ = ["NONE", "Levels"]

NONE = -1  # the level of a leakage that has a limit and nothing else


@dataclass(frozen=True, eq=False)
class Levels:
    """sum_l worth_l t_l is minimised, where I_s <= limit_s + rate_s t_l for the priors s of level l, and <c_k, Q> <= t_0.

    So the largest of several leakages is one level with rates 1, the sum of several largest ones a level for each, and the largest of
    weighted terms one level with a rate of 1/weight for the priors of a leakage, and the weighted costs of distortions.
    *Bound because* multipliers lambda_s, eta_k >= 0 with sum of rate_s lambda_s over the priors of a level, and of all eta_k in level
    0, equal to worth_l leave nothing of t_l.

    Attributes
    ----------
    worth : (levels,)
        More than 0. Each has a prior, or the first one a charge.
    of_prior : (priors,)
        The level of each prior; NONE where its limit must be kept.
    rates : (priors,)
        More than 0.
    charges : (charges, inputs, outputs)
        c_k(x,y) >= 0. Only where there is a level.
    """

    worth: Floats
    of_prior: Integers
    rates: Floats
    charges: Floats

    @classmethod
    def of(cls, raised: Sequence[bool] | np.ndarray) -> Levels:
        """One level, by which the limits of these priors are raised; none, if there are none.

        >>> Levels.of([True, False]).of_prior.tolist()
        [0, -1]
        """
        marks = np.asarray(raised, dtype=bool)
        return cls(np.ones(int(marks.any())), np.where(marks, 0, NONE), np.ones(marks.shape), np.zeros((0, 1, 1)))

    @property
    def raised(self) -> np.ndarray:
        """Which priors have a level: (priors,) of bool."""
        return np.asarray(self.of_prior != NONE)

    @property
    def matrix(self) -> Floats:
        """What multipliers of the priors, then of the charges, take of each level: (levels, priors + charges)."""
        levels = np.arange(len(self.worth))[:, None]
        owned = np.where(self.of_prior[None, :] == levels, self.rates[None, :], 0.0)
        return np.hstack([owned, np.broadcast_to(np.where(levels == 0, 1.0, 0.0), (len(levels), len(self.charges)))])

    def scaled(self, weights: Floats, charged: Floats) -> tuple[Floats, Floats]:
        """Multipliers of the priors and of the charges that leave nothing of any level; even ones where all of a level are 0.

        >>> Levels.of([True, True, False]).scaled(np.array([1.0, 3.0, 5.0]), np.zeros(0))[0].tolist()
        [0.25, 0.75, 5.0]
        """
        found = np.concatenate([weights, charged])
        for taken, worth in zip(self.matrix, self.worth, strict=True):
            mine = taken > 0.0
            if not np.any(found[mine] > 0.0):
                found[mine] = 1.0
            found[mine] *= worth / float(found[mine] @ taken[mine])
        return found[: len(weights)], found[len(weights) :]

    def value(self, excess: Floats, charged: Floats) -> float:
        """sum_l worth_l t_l with the least levels for these I_s - limit_s and <c_k, Q>."""
        return float(sum(worth * self.level(k, excess, charged) for k, worth in enumerate(self.worth)))

    def level(self, k: int, excess: Floats, charged: Floats) -> float:
        """The least t_k."""
        mine = self.of_prior == k
        reached = [*(excess[mine] / self.rates[mine]), *(charged if k == 0 else ())]
        return float(max(reached))
