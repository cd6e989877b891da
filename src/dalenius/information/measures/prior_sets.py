"""Sets of priors, by what measures need of them: the least mean min_P sum_x P(x) k(x) of any numbers k."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from dalenius.errors import InputError
from dalenius.information.measures.numbers import Numbers, as_numbers, is_exact, least

__all__ = ["AllPriors", "ChiSquareBall", "KLBall", "ListedPriors", "PriorBall", "PriorBox", "PriorFloor", "PriorSet"]

STEPS = 200  # of a bisection between doubles


class PriorSet(ABC):
    """A closed set of laws on the inputs; convex or not, only the least mean counts, and its convex hull has the same."""

    @abstractmethod
    def least_mean(self, numbers: ArrayLike) -> Any:
        """min over the priors P of the set of sum_x P(x) k(x): exact where the numbers k and the set are."""


@dataclass(frozen=True)
class AllPriors(PriorSet):
    """Every law: the least mean is min k.

    >>> float(AllPriors().least_mean([0.5, 0.25]))
    0.25
    """

    def least_mean(self, numbers: ArrayLike) -> Any:
        return least(as_numbers(numbers))


@dataclass(frozen=True)
class PriorFloor(PriorSet):
    """P(x) >= c for every x: the least mean is c sum k + (1 - n c) min k.

    >>> round(float(PriorFloor(0.1).least_mean([0.5, 0.25])), 12)
    0.275
    """

    floor: Any

    def least_mean(self, numbers: ArrayLike) -> Any:
        k = as_numbers(numbers)
        rest = 1 - k.size * self.floor
        if rest < 0:
            raise InputError(
                f"priors: {k.size} probabilities of at least {self.floor} each sum to more than 1; lower it"
            )
        return self.floor * k.sum() + rest * least(k)


@dataclass(frozen=True, eq=False)
class ListedPriors(PriorSet):
    """Finitely many laws, (priors, inputs), and all between them: a polytope by its vertices.

    >>> round(float(ListedPriors([[0.5, 0.5], [0.9, 0.1]]).least_mean([0.5, 0.25])), 12)
    0.375
    """

    laws: ArrayLike

    def least_mean(self, numbers: ArrayLike) -> Any:
        return least(np.asarray((as_numbers(self.laws) * as_numbers(numbers)).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class PriorBox(PriorSet):
    """low(x) <= P(x) <= high(x): what is free beyond `low` goes to the smallest numbers first.

    >>> round(float(PriorBox([0.4, 0.2], [0.8, 0.6]).least_mean([0.5, 0.25])), 12)
    0.35
    """

    low: ArrayLike
    high: ArrayLike

    def least_mean(self, numbers: ArrayLike) -> Any:
        k, low, high = _exact_order(numbers), as_numbers(self.low), as_numbers(self.high)
        free = 1 - low.sum()
        if free < 0 or high.sum() < 1 or (low > high).any():
            raise InputError(
                "priors: no law lies in this box; the lower ends must sum to at most 1, the upper to at least 1"
            )
        total = (low * k).sum()
        for x in np.argsort(k, kind="stable"):
            more = min(free, high[x] - low[x])
            total, free = total + more * k[x], free - more
        return total


@dataclass(frozen=True, eq=False)
class PriorBall(PriorSet):
    """sum_x |P(x) - P0(x)| <= r: half of r moves from the largest numbers to the smallest.

    >>> round(float(PriorBall([0.5, 0.5], 0.2).least_mean([0.5, 0.25])), 12)
    0.35
    """

    center: ArrayLike
    radius: Any

    def least_mean(self, numbers: ArrayLike) -> Any:
        k, law = _exact_order(numbers), as_numbers(self.center)
        order = np.argsort(k, kind="stable")
        left, total = self.radius / 2, (law * k).sum()
        for x in order[::-1]:
            moved = min(left, law[x])
            total, left = total - moved * (k[x] - k[order[0]]), left - moved
        return total


@dataclass(frozen=True, eq=False)
class KLBall(PriorSet):
    """D(P || P0) <= r, in nats: the least mean is max over t > 0 of -r t - t log sum_x P0(x) e^(-k(x)/t); doubles only.

    *Bound because* every t > 0 gives a lower bound of the least mean (duality of Donsker and Varadhan).

    >>> round(float(KLBall([0.5, 0.5], 0.02).least_mean([0.5, 0.25])), 6)
    0.350084
    """

    center: ArrayLike
    radius: float

    def least_mean(self, numbers: ArrayLike) -> Any:
        k, law = _doubles(numbers, self.center)
        k, law = k[law > 0.0], law[law > 0.0]
        bottom = k - k.min()
        if not bottom.any() or self.radius <= 0.0:
            return float(law @ k)
        if self.radius >= -np.log(law[bottom == 0.0].sum()):
            return float(k.min())
        low, high = 0.0, 1.0  # of 1/t: the divergence of the tilted law grows with it
        while _divergence(bottom, law, high) < self.radius:
            high *= 2.0
        for _ in range(STEPS):
            low, high = (mid, high) if _divergence(bottom, law, mid := 0.5 * (low + high)) < self.radius else (low, mid)
        return float(k.min() - (self.radius + np.log(law @ np.exp(-low * bottom))) / low)


@dataclass(frozen=True, eq=False)
class ChiSquareBall(PriorSet):
    """sum_x (P(x) - P0(x))^2 / P0(x) <= r: the least mean is that of P0 less sqrt(r Var), where P stays positive; doubles only.

    Elsewhere the largest numbers get no mass, and what is left is such a ball again.

    >>> round(float(ChiSquareBall([0.5, 0.5], 0.04).least_mean([0.5, 0.25])), 12)
    0.35
    """

    center: ArrayLike
    radius: float

    def least_mean(self, numbers: ArrayLike) -> Any:
        k, law = _doubles(numbers, self.center)
        k, law = k[law > 0.0], law[law > 0.0]
        order = np.argsort(k, kind="stable")
        for size in range(k.size, 0, -1):  # the support: the smallest numbers
            kept = order[:size]
            mass = law[kept].sum()
            share = law[kept] / mass
            mean = share @ k[kept]
            spread = np.sqrt(share @ (k[kept] - mean) ** 2)
            left = mass * (1.0 + self.radius) - 1.0  # the radius of the ball around P0 given the support
            if left < 0.0:
                continue
            top = k[kept].max() - mean
            if spread == 0.0 or np.sqrt(left) * top <= spread:
                return float(mean - np.sqrt(left) * spread)
        return float(k.min())


def _divergence(k: Numbers, law: Numbers, rate: float) -> float:
    """D(P || P0) of the law P that is proportional to P0 e^(-rate k); min k is 0."""
    weights = law * np.exp(-rate * k)
    total = weights.sum()
    return float(-rate * (weights @ k) / total - np.log(total))


def _exact_order(numbers: ArrayLike) -> Numbers:
    """Numbers that can be sorted: doubles, or rationals."""
    k = as_numbers(numbers)
    if is_exact(k) and not all(isinstance(x, fmpq) for x in k):
        raise InputError("priors: this set needs a channel of rational numbers; give the mechanism as a matrix")
    return k


def _doubles(numbers: ArrayLike, law: ArrayLike) -> tuple[Numbers, Numbers]:
    k = as_numbers(numbers)
    if is_exact(k):
        raise InputError("priors: balls of divergences are computed in doubles; give arrays of doubles")
    return k, np.asarray(law, dtype=float)
