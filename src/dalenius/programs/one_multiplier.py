"""What programs share whose bound has one multiplier, that of the entropy bound."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np

from dalenius.programs.base import Floats, Named, Program
from dalenius.programs.pairs import polished

__all__ = ["OneMultiplier"]


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
