"""Balls of laws around one, by L1 distance, relative entropy and chi-square."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import scipy
from flint import arb, ctx, fmpq
from numpy.typing import ArrayLike, NDArray

from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.information.measures.numbers import Numbers, as_numbers, divergence, doubles, is_exact, least, occurring
from dalenius.information.measures.prior_classes import (
    Law,
    Polyhedron,
    PriorClass,
    Stated,
    each_of,
    groups_of,
    normal,
    root,
)

STEPS = 200  # of a bisection between doubles
FLATTEST = (
    2.0**-50
)  # a slope of a law over its center's: duals that are less steep are known to no more digits than there are
BITS = 192
RETREATS = (0.0, 2.0**-50, 2.0**-44, 2.0**-38, 2.0**-30, 2.0**-20, 1.0)  # towards the centre, until a law is inside
LOGARITHMS = Fraction(1, 10**12)  # of logarithms in doubles, with room
DIGITS = 10**15


@dataclass(frozen=True, eq=False)
class Centered(PriorClass):
    """The laws near one, P0, which is the center."""

    center: Law
    radius: Any

    def alike(self, letters: int) -> list[Hashable]:
        return list(as_numbers(self.center))

    def nearest(self, point: Floats, first: Integers, sizes: Integers) -> Floats:
        q, radius = _in_doubles(self)
        q = q[first]
        if radius == 0.0:
            return q
        kept, found = self.support(int(sizes.sum()))[first], np.zeros(len(q))
        found[kept] = self._within(point[kept], q[kept], radius, sizes[kept])
        return found

    def _within(self, z: Floats, q: Floats, radius: float, sizes: Integers) -> Floats:
        def law(weight: float) -> Floats:
            return normal(lambda shift: self.moved(z - shift, q, weight), z, sizes)

        def excess(weight: float) -> float:
            return float(sizes @ self.far(law(weight), q)) - radius

        return law(root(excess) if excess(0.0) > 0.0 else 0.0)

    @abstractmethod
    def moved(self, z: Floats, center: Floats, weight: float) -> Floats:
        """The nearest numbers to z with a weight on the distance to the center, letter by letter."""

    @abstractmethod
    def far(self, law: Floats, center: Floats) -> Floats:
        """Distance that each letter adds."""


class PriorBall(Centered, Polyhedron):
    """sum_x |P(x) - P0(x)| <= r: half of r moves from the largest numbers to the smallest.

    >>> round(float(PriorBall([0.5, 0.5], 0.2).least_mean([0.5, 0.25])), 12)
    0.35
    """

    def least_law(self, numbers: Numbers) -> Numbers:
        law = as_numbers(self.center).copy()
        order = np.argsort(numbers, kind="stable")
        left = self.radius / 2
        for x in order[:0:-1]:
            moved = min(left, law[x])
            law[x] -= moved
            law[order[0]] += moved
            left -= moved
        return law

    def stated(self, inputs: int) -> Stated:
        """With half of |P(x) - P0(x)| for each input."""
        q, r, one = *_in_doubles(self), np.eye(inputs)
        rows = np.vstack([np.hstack([one, -2.0 * one]), np.hstack([-one, -2.0 * one]), np.repeat([0.0, 2.0], inputs)])
        return Stated(rows, np.full(len(rows), -np.inf), np.concatenate([q, -q, [r]]), np.append(q, np.zeros(inputs)))

    def support(self, inputs: int) -> NDArray[np.bool_]:
        return np.asarray((as_numbers(self.center) > 0) | bool(self.radius > 0), dtype=bool)

    def settled(self, law: Numbers) -> Numbers:
        """*In the class because* the way from the center to it ends where the class does."""
        center = as_numbers(self.center)
        length = sum(abs(step) for step in law - center)
        return law if length <= self.radius else center + (law - center) * (self.radius / length)

    def coarser(self, groups: int) -> PriorBall | None:
        """*Inside because*, c being the new center, sum |p - q| <= sum |p - c| + sum |c - q|.

        >>> near = PriorBall(np.array([fmpq(3, 10), fmpq(2, 10), fmpq(5, 10)]), fmpq(1, 4)).coarser(2)
        >>> near.center.tolist(), near.radius
        ([1/4, 1/4, 1/2], 3/20)
        """
        q = as_numbers(self.center)
        c = each_of(groups_of(doubles(q), groups), q, lambda part: sum(part, fmpq(0)) / len(part))
        radius = self.radius - sum((abs(x - y) for x, y in zip(c, q, strict=True)), fmpq(0))
        return PriorBall(c, radius) if radius > 0 else None

    def moved(self, z: Floats, center: Floats, weight: float) -> Floats:
        moved = np.sign(z - center) * np.maximum(np.abs(z - center) - weight, 0.0)
        return np.maximum(center + moved, 0.0)

    def far(self, law: Floats, center: Floats) -> Floats:
        return np.abs(law - center)


class Ball(Centered):
    """The laws P with a divergence to P0 of at most r; the inputs without mass under P0 have none."""

    @abstractmethod
    def law(self, k: Floats, center: Floats, radius: float) -> tuple[Floats, tuple[float, ...]]:
        """In doubles a law with the least mean of k, which is not constant, and what proves that; all of `center` is above 0."""

    @abstractmethod
    def limit(self, center: Floats, radius: float) -> tuple[Literal["log", "square"], Floats, Floats, float]:
        """The divergence as `Stated` has it; where the center has no mass its number does not matter."""

    def stated(self, inputs: int) -> Stated:
        q, radius = _in_doubles(self)
        high = np.where(self.support(inputs), 1.0, 0.0)
        return Stated(np.eye(inputs), np.zeros(inputs), high, q, self.limit(np.where(q > 0.0, q, 1.0), radius))

    @abstractmethod
    def dual(self, k: Numbers, center: Numbers, proof: tuple[float, ...]) -> Any:
        """A number that is not above the least mean, whatever `proof` is."""

    @abstractmethod
    def distance(self, law: Numbers, center: Numbers) -> Any:
        """The divergence of a law to P0, exactly or as a ball."""

    def least_mean(self, numbers: ArrayLike) -> Any:
        k, (law, _) = as_numbers(numbers), self._solved(as_numbers(numbers))
        return float(law @ _doubles(k))

    def _solved(self, numbers: Numbers) -> tuple[Floats, tuple[float, ...]]:
        k, center = _doubles(numbers), _doubles(as_numbers(self.center))
        kept, radius = center > 0.0, float(_doubles(as_numbers([self.radius]))[0])
        law, proof = center.copy(), tuple[float, ...]()
        if radius > 0.0 and np.ptp(k[kept]) > 0.0:
            law[kept], proof = self.law(k[kept], center[kept], radius)
        return law, proof

    def exact_law(self, numbers: Numbers) -> Numbers:
        return self._inside(self._solved(numbers)[0])

    def settled(self, law: Numbers) -> Numbers:
        return self._inside(_doubles(law))

    def _inside(self, found: Floats) -> Numbers:
        """*In the class because* its divergence is evaluated exactly, or in balls; else it moves towards P0."""
        center = as_numbers(self.center)
        law = _exactly(found)
        kept = occurring(center)
        for retreat in RETREATS:
            nearer = law + rational(retreat) * (center - law)
            if self.distance(nearer[kept], center[kept]) <= self.radius:
                return np.asarray(nearer)
        return center

    def below(self, numbers: Numbers) -> Any:
        center = as_numbers(self.center)
        kept = occurring(center)
        bottom = least(numbers[kept]).item()
        _, proof = self._solved(numbers)
        if not proof:
            mean = (center * numbers).sum()
            return mean if self.radius == 0 else bottom
        bound = self.dual(numbers[kept], center[kept], proof)
        return bound if bound > bottom else bottom

    def support(self, inputs: int) -> NDArray[np.bool_]:
        return occurring(as_numbers(self.center))


class KLBall(Ball):
    """D(P || P0) <= r, in nats: the least mean is max over t > 0 of -r t - t log sum_x P0(x) e^(-k(x)/t).

    *Bound because* every t > 0 gives a lower bound of the least mean (duality of Donsker and Varadhan).

    >>> round(float(KLBall([0.5, 0.5], 0.02).least_mean([0.5, 0.25])), 6)
    0.350084
    """

    def law(self, k: Floats, center: Floats, radius: float) -> tuple[Floats, tuple[float, ...]]:
        above = k - k.min()
        if radius >= -np.log(center[above == 0.0].sum()):
            bottom = np.where(above == 0.0, center, 0.0)
            return bottom / bottom.sum(), ()
        low, high = (
            FLATTEST / float(above.max()),
            1.0 / float(above.max()),
        )  # of 1/t: the tilted law's divergence grows with it
        while _tilted(above, center, high)[1] < radius:
            high *= 2.0
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if _tilted(above, center, middle)[1] < radius else (low, middle)
        return _tilted(above, center, low)[0], (low,)

    def dual(self, k: Numbers, center: Numbers, proof: tuple[float, ...]) -> Any:
        rate = rational(proof[0])
        with ctx.workprec(BITS):  # the logarithm is of the size of the rate
            exponents = [arb(p) * (arb(-rate * x)).exp() for p, x in zip(center, k, strict=True)]
            return -(arb(self.radius) + sum(exponents, arb(0)).log()) / rate

    def limit(self, center: Floats, radius: float) -> tuple[Literal["log", "square"], Floats, Floats, float]:
        return "log", np.ones(len(center)), -np.log(center), radius

    def multipliers(self, numbers: Numbers) -> tuple[float, ...]:
        return tuple(1.0 / rate for rate in self._solved(numbers)[1])

    def distance(self, law: Numbers, center: Numbers) -> Any:
        return arb(divergence(law, center).item())

    def coarser(self, groups: int) -> KLBall | None:
        """*Inside because*, c and p being constant on groups, D(p || q) = D(p || c) + sum p log(c/q).

        The second sum is at most the largest mean of log(c/q) over a group.
        """
        q = as_numbers(self.center)
        if not all(x > 0 for x in q):
            return None
        of, logs = groups_of(doubles(q), groups), np.log(doubles(q))
        c = each_of(of, logs, lambda part: _rational(math.exp(np.mean(part))))
        c = c / c.sum()
        far = np.log(doubles(c)) - logs
        lost = max(float(far[of == g].mean()) for g in set(of.tolist()))
        radius = self.radius - _rational(lost) - rational(LOGARITHMS)
        return KLBall(c, radius) if radius > 0 else None

    def moved(self, z: Floats, center: Floats, weight: float) -> Floats:
        """p + t log(p / q) + t = z, which is w + log w = y for p = t w."""
        if weight == 0.0:
            return np.maximum(z, 0.0)
        return weight * scipy.special.wrightomega(z / weight - 1.0 + np.log(center / weight))

    def far(self, law: Floats, center: Floats) -> Floats:
        return scipy.special.rel_entr(law, center)


@dataclass(frozen=True, eq=False)
class EntropyFloor(KLBall):
    """H(P) >= b: the KL ball around the uniform law P0 of radius log n - b, which is between `radius` and `above`.

    *Bound because* the law of a least mean is in the smaller ball, and its bound is that of the larger one.

    >>> half = np.array([fmpq(1, 2), fmpq(1, 2)])
    >>> EntropyFloor(half, fmpq(1, 50), fmpq(1, 49)).below(np.array([fmpq(1, 2), fmpq(1, 4)])) <= fmpq(350084, 10**6)
    True
    """

    above: Any = 0

    def below(self, numbers: Numbers) -> Any:
        return super().below(numbers) if self.radius > 0 or self.above == 0 else least(numbers).item()

    def dual(self, k: Numbers, center: Numbers, proof: tuple[float, ...]) -> Any:
        return KLBall(self.center, self.above).dual(k, center, proof)


class ChiSquareBall(Ball):
    """sum_x (P(x) - P0(x))^2 / P0(x) <= r: the least mean is that of P0 less sqrt(r Var), where P stays positive.

    Elsewhere the largest numbers get no mass, and what is left is such a ball again.

    *Bound because* for a > 0 and any v, sum P k >= v - a (1 + r) - sum P0 (v - k)_+^2 / (4 a): minimise the Lagrangian over P >= 0.

    >>> round(float(ChiSquareBall([0.5, 0.5], 0.04).least_mean([0.5, 0.25])), 12)
    0.35
    """

    def law(self, k: Floats, center: Floats, radius: float) -> tuple[Floats, tuple[float, ...]]:
        order = np.argsort(k, kind="stable")
        for size in range(k.size, 0, -1):  # the support: the smallest numbers
            kept = order[:size]
            mass = center[kept].sum()
            share = center[kept] / mass
            mean = share @ k[kept]
            spread = np.sqrt(share @ (k[kept] - mean) ** 2)
            left = mass * radius - center[order[size:]].sum()  # the radius of the ball around P0 given the support
            if left <= 0.0 or spread == 0.0:
                continue
            steep = max(np.sqrt(left), FLATTEST) / spread
            if steep * (k[kept].max() - mean) <= 1.0:
                law = np.zeros(k.size)
                law[kept] = share * (1.0 - steep * (k[kept] - mean))
                return law, (mass / (2.0 * steep), 1.0 / steep + mean)
        bottom = np.where(k == k.min(), center, 0.0)
        return bottom / bottom.sum(), ()

    def dual(self, k: Numbers, center: Numbers, proof: tuple[float, ...]) -> Any:
        a, v = map(rational, proof)
        squares = sum((p * (v - x) ** 2 for p, x in zip(center, k, strict=True) if x < v), fmpq(0))
        return v - a * (1 + self.radius) - squares / (4 * a)

    def limit(self, center: Floats, radius: float) -> tuple[Literal["log", "square"], Floats, Floats, float]:
        return "square", 1.0 / center, np.zeros(len(center)), 1.0 + radius

    def multipliers(self, numbers: Numbers) -> tuple[float, ...]:
        found = self._solved(numbers)[1]
        return (found[0], -found[1]) if found else ()

    def distance(self, law: Numbers, center: Numbers) -> Any:
        return ((law - center) ** 2 / center).sum()

    def coarser(self, groups: int) -> ChiSquareBall | None:
        """*Inside because*, c and p being constant on groups, sum p^2/q <= sum p^2/c times the largest mean of c/q over a group."""
        q = as_numbers(self.center)
        if not all(x > 0 for x in q):
            return None
        of = groups_of(doubles(q), groups)
        c = each_of(of, q, lambda part: len(part) / sum((1 / x for x in part), fmpq(0)))
        c = c / c.sum()
        radius = (1 + self.radius) / max(each_of(of, c / q, lambda part: sum(part, fmpq(0)) / len(part))) - 1
        return ChiSquareBall(c, radius) if radius > 0 else None

    def moved(self, z: Floats, center: Floats, weight: float) -> Floats:
        return np.maximum(z + weight, 0.0) / (1.0 + weight / center)

    def far(self, law: Floats, center: Floats) -> Floats:
        return (law - center) ** 2 / center


def _tilted(k: Floats, center: Floats, rate: float) -> tuple[Floats, float]:
    """The law P that is proportional to P0 e^(-rate k), and D(P || P0); min k is 0."""
    weights, far = center * np.exp(-rate * k), rate * (k - center @ k)
    if np.abs(far).max() > 0.01:
        total = weights.sum()
        return weights / total, float(-rate * (weights @ k) / total - np.log(total))
    curved = far**2 / 2.0 - far**3 / 6.0 + far**4 / 24.0 - far**5 / 120.0 + far**6 / 720.0  # e^-far - 1 + far
    more = float(center @ curved)
    return weights / weights.sum(), float(-(center * far) @ np.expm1(-far) / (1.0 + more) - np.log1p(more))


def _in_doubles(ball: Centered) -> tuple[Floats, float]:
    return doubles(as_numbers(ball.center)), float(doubles(as_numbers([ball.radius]))[0])


def _exactly(law: Floats) -> Numbers:
    """The doubles of a law, divided by their exact sum."""
    weights = np.array([rational(max(x, 0.0)) for x in law.tolist()], dtype=object)
    return weights / weights.sum()


def _doubles(numbers: Numbers) -> Floats:
    return np.array([float(arb(x)) for x in numbers]) if is_exact(numbers) else numbers


def _rational(x: float) -> fmpq:
    return fmpq(math.ceil(x * DIGITS), DIGITS)
