"""The law of a class that is nearest to a point, where letters that the class treats alike share a number.

A ball or box that treats letters alike, and a measure that does, too, have a worst law that is constant on such letters: measures are
concave, and the mean of a law's images under exchanges of these letters is in the class. So a domain of 1,000 letters with three
probabilities is a problem in three numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy  # its parts are imported when they are first used
from flint import fmpq

from dalenius.information.arrays import Floats, Integers
from dalenius.information.measures.numbers import Numbers, as_numbers, doubles, rationals
from dalenius.information.measures.prior_classes import (
    AllPriors,
    ChiSquareBall,
    KLBall,
    PriorBall,
    PriorBox,
    PriorClass,
    PriorFloor,
    PriorPolytope,
)

__all__ = ["SharedLetters", "exact_law_near"]

SHARP = 1e-15  # relative tolerance of multipliers
WIDEST = 1e12  # of a ball's multiplier


@dataclass(frozen=True)
class SharedLetters:
    """A class of laws in one number for each group of letters that it treats alike.

    Attributes
    ----------
    priors : PriorClass
        In exact numbers.
    first, sizes : (groups,)
        A letter of each group, and how many it has.
    """

    priors: PriorClass
    first: Integers
    sizes: Integers

    def start(self) -> Floats:
        """A law of the class: the center of a ball, the middle of what else there is."""
        match self.priors:
            case PriorBall(center=center) | KLBall(center=center) | ChiSquareBall(center=center):
                return self._of(center)
            case PriorPolytope(vertices=vertices):
                return np.asarray(doubles(as_numbers(vertices)).mean(axis=0)[self.first])
        low, high = self._box()
        free = (1.0 - float(self.sizes @ low)) / max(float(self.sizes @ (high - low)), 1e-300)
        return np.asarray(low + min(max(free, 0.0), 1.0) * (high - low))

    def nearest(self, point: Floats) -> Floats:
        """The law of the class with the least sum of squares to this point; not of a polytope, whose vertices have weights."""
        match self.priors:
            case PriorBall(center=center, radius=radius):
                return self._within(point, self._of(center), float(_double(radius)), _to_center, _distance)
            case KLBall(center=center, radius=radius):
                return self._within(point, self._of(center), float(_double(radius)), _to_tilted, _divergence)
            case ChiSquareBall(center=center, radius=radius):
                return self._within(point, self._of(center), float(_double(radius)), _to_scaled, _squares)
        low, high = self._box()
        return self._sums_to_one(lambda shift: np.clip(point - shift, low, high), point)

    def _of(self, numbers: Any) -> Floats:
        return doubles(as_numbers(numbers)[self.first])

    def _box(self) -> tuple[Floats, Floats]:
        match self.priors:
            case PriorBox(low=low, high=high):
                return self._of(low), self._of(high)
            case PriorFloor(floor=floor):
                return np.full(len(self.first), _double(floor)), np.ones(len(self.first))
        assert isinstance(self.priors, AllPriors)
        return np.zeros(len(self.first)), np.ones(len(self.first))

    def _within(
        self,
        point: Floats,
        center: Floats,
        radius: float,
        move: Callable[[Floats, Floats, float], Floats],
        far: Callable[[Floats, Floats], Floats],
    ) -> Floats:
        """The nearest law at most `radius` from the center, by the ball's multiplier."""
        if radius == 0.0:
            return center
        kept = center > 0.0 if move is not _to_center else np.ones(len(center), dtype=bool)
        sizes, found = self.sizes[kept], np.zeros(len(center))
        z, q = point[kept], center[kept]

        def law(weight: float) -> Floats:
            return _normal(lambda shift: move(z - shift, q, weight), z, sizes)

        def excess(weight: float) -> float:
            return float(sizes @ far(law(weight), q)) - radius

        weight = 0.0 if excess(0.0) <= 0.0 else _root(excess)
        found[kept] = law(weight)
        return found

    def _sums_to_one(self, law: Callable[[float], Floats], point: Floats) -> Floats:
        return _normal(law, point, self.sizes)


def exact_law_near(priors: PriorClass, found: Floats) -> Numbers:
    """An exact law of the class next to one in doubles; not of a polytope.

    *In the class because* it is on the way from a law of the class towards the one that was found, as far as the class goes, in exact
    numbers; or because `PriorClass.settled` says so.

    >>> near = exact_law_near(PriorFloor(fmpq(1, 10)), np.array([0.0999, 0.3, 0.6001]))
    >>> min(near), sum(near)
    (1/10, 1)
    """
    law = rationals(np.maximum(found, 0.0))
    law = law / law.sum()
    if isinstance(priors, KLBall | ChiSquareBall):
        return priors.settled(law)
    if isinstance(priors, PriorBall):
        center = as_numbers(priors.center)
        length = sum(abs(step) for step in law - center)
        return law if length <= priors.radius else np.asarray(center + (law - center) * (priors.radius / length))
    low, high = _exact_box(priors, len(law))
    room = (high - low).sum()
    inside = low + (high - low) * ((1 - low.sum()) / room if room else 0)
    step = np.array([fmpq(0) if a == b else x for a, b, x in zip(low, high, law - inside, strict=True)], dtype=object)
    loose = int(np.argmax(doubles(high - low)))
    step[loose] -= step.sum()
    length = fmpq(1)
    for x in np.flatnonzero(step != 0):
        end = high[x] if step[x] > 0 else low[x]
        length = min(length, (end - inside[x]) / step[x])
    return np.asarray(inside + length * step)


def _exact_box(priors: PriorClass, letters: int) -> tuple[Numbers, Numbers]:
    match priors:
        case PriorBox(low=low, high=high):
            return as_numbers(low), as_numbers(high)
        case PriorFloor(floor=floor):
            return np.full(letters, floor), np.full(letters, fmpq(1))
    return np.full(letters, fmpq(0)), np.full(letters, fmpq(1))


def _normal(law: Callable[[float], Floats], point: Floats, sizes: Integers) -> Floats:
    """The law whose sum is 1, of laws that fall with a shift."""

    def excess(shift: float) -> float:
        return float(sizes @ law(shift)) - 1.0

    low, high = float(point.min()) - 1.0, float(point.max())
    while excess(low) < 0.0:
        low -= high - low + 1.0
    while excess(high) > 0.0:
        high += high - low + 1.0
    return law(float(scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=4 * SHARP, maxiter=200)))


def _root(excess: Callable[[float], float]) -> float:
    """Where a falling number is 0, or just below."""
    high = 1e-6
    while excess(high) > 0.0 and high < WIDEST:
        high *= 8.0
    return float(scipy.optimize.brentq(excess, 0.0 if high == 1e-6 else high / 8.0, high, xtol=1e-300, rtol=4 * SHARP))


# nearest numbers to z with a ball's multiplier, letter by letter, and what they add to its distance


def _to_center(z: Floats, center: Floats, weight: float) -> Floats:
    moved = np.sign(z - center) * np.maximum(np.abs(z - center) - weight, 0.0)
    return np.maximum(center + moved, 0.0)


def _distance(law: Floats, center: Floats) -> Floats:
    return np.abs(law - center)


def _to_tilted(z: Floats, center: Floats, weight: float) -> Floats:
    """p + t log(p / q) + t = z, which is w + log w = y for p = t w."""
    if weight == 0.0:
        return np.maximum(z, 0.0)
    return np.asarray(weight * scipy.special.wrightomega(z / weight - 1.0 + np.log(center / weight)))


def _divergence(law: Floats, center: Floats) -> Floats:
    return np.asarray(scipy.special.rel_entr(law, center))


def _to_scaled(z: Floats, center: Floats, weight: float) -> Floats:
    return np.maximum(z + weight, 0.0) / (1.0 + weight / center)


def _squares(law: Floats, center: Floats) -> Floats:
    return (law - center) ** 2 / center


def _double(x: Any) -> float:
    return float(Fraction(int(x.p), int(x.q))) if isinstance(x, fmpq) else float(x)
