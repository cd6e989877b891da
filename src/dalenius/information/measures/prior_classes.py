"""Classes of priors, by what suprema need of them: the least mean min_P sum_x P(x) k(x) of any numbers k, and a law that has it.

Each class is written for doubles and for exact numbers (`fmpq`): a supremum over it is then proved by exact laws of the class, from
below, and by `below`, from above.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import ArrayLike, NDArray

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.information.balls import rational
from dalenius.information.measures.numbers import Numbers, as_numbers, divergence, is_exact, least, occurring

Law: TypeAlias = ArrayLike | Sequence[Fraction]
STEPS = 200  # of a bisection between doubles
ROUNDING = 1e-12  # of the sum of a law in doubles
FLATTEST = (
    2.0**-50
)  # a slope of a law over its center's: duals that are less steep are known to no more digits than there are
BITS = 192
RETREATS = (0.0, 2.0**-50, 2.0**-44, 2.0**-38, 2.0**-30, 2.0**-20, 1.0)  # towards the centre, until a law is inside


class PriorClass(ABC):
    """A closed convex set of laws on the inputs."""

    @abstractmethod
    def least_mean(self, numbers: ArrayLike) -> Any:
        """min over the priors P of the class of sum_x P(x) k(x), in doubles."""

    @abstractmethod
    def exact_law(self, numbers: Numbers) -> Numbers:
        """A law of the class, exactly, whose mean of these rationals is the least, or close to it."""

    @abstractmethod
    def below(self, numbers: Numbers) -> Any:
        """An exact number or a ball that is not above the least mean of these rationals."""

    @abstractmethod
    def support(self, inputs: int) -> NDArray[np.bool_]:
        """The inputs to which some law of the class gives a probability above 0."""

    def settled(self, law: Numbers) -> Numbers:
        """A law of the class, exactly, in numbers that are not longer than need be: this one, or one next to it."""
        return law

    def multipliers(self, numbers: Numbers) -> tuple[float, ...]:
        """What a proof of the least mean needs besides the numbers, in doubles: nothing where it is a vertex's, or the center's."""
        return ()


class Polyhedron(PriorClass):
    """A class of which a vertex with the least mean is known in closed form, for numbers that can be sorted."""

    @abstractmethod
    def least_law(self, numbers: Numbers) -> Numbers:
        """The vertex, in the kind of numbers that the class and `numbers` are of."""

    def least_mean(self, numbers: ArrayLike) -> Any:
        k = as_numbers(numbers)
        return (self.least_law(k) * k).sum()

    def exact_law(self, numbers: Numbers) -> Numbers:
        return self.least_law(numbers)

    def below(self, numbers: Numbers) -> Any:
        return (self.least_law(numbers) * numbers).sum()

    def support(self, inputs: int) -> NDArray[np.bool_]:
        return np.ones(inputs, dtype=bool)


@dataclass(frozen=True)
class AllPriors(Polyhedron):
    """Every law: the least mean is min k.

    >>> float(AllPriors().least_mean([0.5, 0.25]))
    0.25
    """

    def least_law(self, numbers: Numbers) -> Numbers:
        return _unit(numbers, 1)


@dataclass(frozen=True)
class PriorFloor(Polyhedron):
    """P(x) >= c for every x: the least mean is c sum k + (1 - n c) min k.

    >>> round(float(PriorFloor(0.1).least_mean([0.5, 0.25])), 12)
    0.275
    """

    floor: Any

    def least_law(self, numbers: Numbers) -> Numbers:
        rest = 1 - numbers.size * self.floor
        if rest < (0 if isinstance(self.floor, fmpq) else -ROUNDING):
            raise InputError(
                f"priors: {numbers.size} probabilities of at least {self.floor} each sum to more than 1; lower the floor"
            )
        return self.floor + _unit(numbers, rest)


@dataclass(frozen=True, eq=False)
class PriorPolytope(Polyhedron):
    """All laws between listed ones, the vertices, (vertices, inputs).

    >>> round(float(PriorPolytope([[0.5, 0.5], [0.9, 0.1]]).least_mean([0.5, 0.25])), 12)
    0.375
    """

    vertices: ArrayLike

    def least_law(self, numbers: Numbers) -> Numbers:
        laws = as_numbers(self.vertices)
        return np.asarray(laws[np.argmin((laws * numbers).sum(axis=1))])

    def support(self, inputs: int) -> NDArray[np.bool_]:
        return np.asarray((as_numbers(self.vertices) > 0).any(axis=0), dtype=bool)


@dataclass(frozen=True, eq=False)
class PriorBox(Polyhedron):
    """low(x) <= P(x) <= high(x): what is free beyond `low` goes to the smallest numbers first.

    >>> round(float(PriorBox([0.4, 0.2], [0.8, 0.6]).least_mean([0.5, 0.25])), 12)
    0.35
    """

    low: Law
    high: Law

    def least_law(self, numbers: Numbers) -> Numbers:
        low, high = as_numbers(self.low), as_numbers(self.high)
        free, law, rounding = 1 - low.sum(), low.copy(), 0 if is_exact(low) else ROUNDING
        if free < -rounding or high.sum() < 1 - rounding or (low > high).any():
            raise InputError(
                "priors: no law lies in this box; the lower ends must sum to at most 1, the upper to at least 1"
            )
        for x in np.argsort(numbers, kind="stable"):
            law[x] += min(max(free, 0), high[x] - low[x])
            free -= law[x] - low[x]
        return law

    def support(self, inputs: int) -> NDArray[np.bool_]:
        low, high = as_numbers(self.low), as_numbers(self.high)
        return np.asarray((high if low.sum() < 1 else low) > 0, dtype=bool)


@dataclass(frozen=True, eq=False)
class PriorBall(Polyhedron):
    """sum_x |P(x) - P0(x)| <= r: half of r moves from the largest numbers to the smallest.

    >>> round(float(PriorBall([0.5, 0.5], 0.2).least_mean([0.5, 0.25])), 12)
    0.35
    """

    center: Law
    radius: Any

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

    def support(self, inputs: int) -> NDArray[np.bool_]:
        return np.asarray((as_numbers(self.center) > 0) | bool(self.radius > 0), dtype=bool)


@dataclass(frozen=True, eq=False)
class Ball(PriorClass):
    """The laws P with a divergence to P0 of at most r; the inputs without mass under P0 have none."""

    center: Law
    radius: Any

    @abstractmethod
    def law(self, k: Floats, center: Floats, radius: float) -> tuple[Floats, tuple[float, ...]]:
        """In doubles a law with the least mean of k, which is not constant, and what proves that; all of `center` is above 0."""

    @abstractmethod
    def dual(self, k: Numbers, center: Numbers, proof: tuple[float, ...]) -> Any:
        """A number that is not above the least mean, whatever `proof` is."""

    @abstractmethod
    def distance(self, law: Numbers, center: Numbers) -> Any:
        """The divergence of a law to P0, exactly or as a ball."""

    def least_mean(self, numbers: ArrayLike) -> Any:
        k, (law, _) = as_numbers(numbers), self._solved(as_numbers(numbers))
        return float(law @ _doubles(k))

    def multipliers(self, numbers: Numbers) -> tuple[float, ...]:
        return self._solved(numbers)[1]

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

    def distance(self, law: Numbers, center: Numbers) -> Any:
        return arb(divergence(law, center).item())


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

    def distance(self, law: Numbers, center: Numbers) -> Any:
        return ((law - center) ** 2 / center).sum()


def alike_letters(priors: PriorClass, letters: int) -> list[Hashable]:
    """A key for every letter, equal where the class says the same of both.

    >>> alike_letters(PriorBall(np.array([fmpq(1, 4), fmpq(1, 4), fmpq(1, 2)]), fmpq(1, 10)), 3)
    [1/4, 1/4, 1/2]
    """
    match priors:
        case PriorBox(low=low, high=high):
            return list(zip(as_numbers(low), as_numbers(high), strict=True))
        case PriorBall(center=center) | KLBall(center=center) | ChiSquareBall(center=center):
            return list(as_numbers(center))
        case PriorPolytope(vertices=vertices):
            return [tuple(column) for column in as_numbers(vertices).T]
    return [0] * letters


def _unit(numbers: Numbers, mass: Any) -> Numbers:
    """All of a mass on the smallest number."""
    law = np.full(numbers.shape, fmpq(0), dtype=object) if is_exact(numbers) else np.zeros(numbers.shape)
    law[np.argmin(numbers)] = mass
    return law


def _tilted(k: Floats, center: Floats, rate: float) -> tuple[Floats, float]:
    """The law P that is proportional to P0 e^(-rate k), and D(P || P0); min k is 0."""
    weights, far = center * np.exp(-rate * k), rate * (k - center @ k)
    if np.abs(far).max() > 0.01:
        total = weights.sum()
        return weights / total, float(-rate * (weights @ k) / total - np.log(total))
    curved = far**2 / 2.0 - far**3 / 6.0 + far**4 / 24.0 - far**5 / 120.0 + far**6 / 720.0  # e^-far - 1 + far
    more = float(center @ curved)
    return weights / weights.sum(), float(-(center * far) @ np.expm1(-far) / (1.0 + more) - np.log1p(more))


def _exactly(law: Floats) -> Numbers:
    """The doubles of a law, divided by their exact sum."""
    weights = np.array([rational(max(x, 0.0)) for x in law.tolist()], dtype=object)
    return np.asarray(weights / weights.sum())


def _doubles(numbers: Numbers) -> Floats:
    return np.array([float(arb(x)) for x in numbers]) if is_exact(numbers) else numbers
