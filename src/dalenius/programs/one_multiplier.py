"""What programs share whose bound has one multiplier, that of the entropy bound."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from scipy.optimize import minimize_scalar

from dalenius.programs.base import Floats, Named, Program
from dalenius.programs.pairs import polished

__all__ = ["OneMultiplier"]

LEAST = 1e-9  # multipliers are looked for between this and its inverse


class OneMultiplier(Program):
    """A program with a constraint `entropy` and a bound in closed form for every multiplier mu >= 0 of it."""

    @abstractmethod
    def bound_at(self, mu: float) -> float:
        """The bound for mu >= 0, convex in mu."""

    @abstractmethod
    def point_at(self, mu: float) -> Named:
        """Where the bound for mu is attained, made feasible."""

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        return self.bound_at(float(multipliers["mu"]))

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        mu = duals.get("entropy")
        return None if mu is None or mu.size != 1 else {"mu": np.maximum(mu.reshape(()), 0.0)}

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """A search for the multiplier near the given one, and the maximiser that belongs to it."""
        mu = polished(self.bound_at, float(multipliers["mu"]))
        return self.point_at(mu), {"mu": np.array(mu)}

    def own(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """The same search among all multipliers: the bound is convex in one number, and its least value is the maximum."""
        ends = math.log(LEAST), -math.log(LEAST)
        found = minimize_scalar(lambda t: self.bound_at(math.exp(t)), bounds=ends, method="bounded")
        return self.improve(point, {"mu": np.array(math.exp(found.x))})
