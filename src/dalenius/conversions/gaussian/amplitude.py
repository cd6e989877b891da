"""The capacity of Gaussian noise on inputs of bounded length, with a proof that an input law is optimal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from dalenius.conversions.gaussian.interpolant import DivergenceOfLengths
from dalenius.conversions.gaussian.shells import Shells, best_shells
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer
from dalenius.information.balls import above, ball, below

__all__ = ["AmplitudeCapacity", "amplitude_capacity", "amplitude_of"]

BITS = 90  # of the balls
MOST_AMPLITUDE = 12
MOST_DIMENSION = 64
MOST_WANTED, MOST_STEPS = 8, 40  # nats, and steps, of the amplitude for a capacity


@dataclass(frozen=True)
class AmplitudeCapacity:
    """max I(X; X + Z) over |X| <= R, Z standard normal in d dimensions: lower <= capacity <= upper, in nats.

    Attributes
    ----------
    lower, upper : float
        Of balls around integrals, rounded outward.
    radii, weights : tuples of Fraction
        The input law that attains `lower`: uniform on spheres of these radii, with these probabilities.
    optimal : bool
        Whether it is proved that this law is the best: then the interval is one number, as far as doubles go.
    """

    lower: float
    upper: float
    radii: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    optimal: bool


def amplitude_capacity(amplitude: Number, dimension: Integer = 1) -> AmplitudeCapacity:
    """The capacity, and an input law: one sphere where that is proved to be best, else several, found by a search.

    Parameters
    ----------
    amplitude : Number
        R, in standard deviations of the noise; at most 12.
    dimension : int
        At most 64.

    Notes
    -----
    *Bound because* for every law of the outputs with density f the capacity is at most the largest D(r) = D(N(x, 1) || f) with
    |x| = r <= R, and at least the mean of D under the input law whose outputs f is. D is enclosed at every r by a few integrals
    (`DivergenceOfLengths`). At the end, where D comes as near to D(R) as one likes, it rises: along a ray 1 - R^2 <= D'' <= 1, as the
    second derivative of log f is a variance of inputs less 1, and where D rises by more than h max(1, R^2-1) per unit length over an
    interval of length h it rises throughout.

    Source: eq. (8) of Ngo et al.; Smith, *The information capacity of amplitude- and variance-constrained scalar Gaussian channels*.

    Raises
    ------
    InputError
        If a number is out of range.

    >>> found = amplitude_capacity(1)
    >>> found.optimal, round(found.lower, 12), round(found.upper, 12)
    (True, 0.336830820347, 0.336830820347)
    >>> found = amplitude_capacity(2)  # two inputs are not enough any more: 0 and +-2
    >>> found.optimal, round(found.lower, 9), round(found.upper, 9)
    (False, 0.652868812, 0.652868812)
    """
    size = as_fraction(amplitude, "amplitude")
    if not 0 < size <= MOST_AMPLITUDE:
        raise InputError(f"amplitude: expected a number above 0 and at most {MOST_AMPLITUDE}, got {float(size):g}")
    d = as_integer(dimension, "dimension", at_least=1, at_most=MOST_DIMENSION)
    with ctx.workprec(BITS):
        one = Shells((size,), (Fraction(1),), d)
        told = one.divergence(size)
        curve = DivergenceOfLengths.of(one)
        if curve.most(_rises_from(curve), told.lower()) <= told.lower():
            return AmplitudeCapacity(below(told), above(told), (size,), (Fraction(1),), True)
        law = best_shells(size, d)
        told = sum((ball(w) * law.divergence(r) for r, w in zip(law.radii, law.weights, strict=True)), arb(0))
        most = DivergenceOfLengths.of(law).most(size, told.lower())
        return AmplitudeCapacity(below(told), above(most), law.radii, law.weights, False)


def amplitude_of(capacity: Number, dimension: Integer = 1) -> float:
    """The amplitude at which one sphere tells this much, in nats, by secants in doubles; below the threshold that is the capacity.

    >>> round(amplitude_of(0.33683082034683), 9)
    1.0
    """
    wanted, d = float(as_fraction(capacity, "capacity")), int(dimension)
    if not 0.0 < wanted < MOST_WANTED:
        raise InputError(f"capacity: expected a number above 0 and below {MOST_WANTED}, got {wanted:g}")

    def excess(amplitude: float) -> float:
        size = Fraction(amplitude)
        return float(Shells((size,), (Fraction(1),), d).divergence(size).mid()) - wanted

    before, now = math.sqrt(2.0 * wanted), 1.1 * math.sqrt(2.0 * wanted)
    with ctx.workprec(BITS):
        last, value = excess(before), excess(now)
        for _ in range(MOST_STEPS):
            if value == last or abs(now - before) <= 1e-15 * now:
                break
            before, now = now, max(now - value * (now - before) / (value - last), 0.5 * now)
            last, value = value, excess(now)
    return now


def _rises_from(curve: DivergenceOfLengths) -> Fraction:
    """A length from which on D certainly rises to the end."""
    size = curve.size
    curvature = max(Fraction(1), size**2 - 1)
    step = size / 4
    while step > size / 2**12:
        slope = (curve.at(size) - curve.at(size - step)) / ball(step)
        if slope > ball(curvature * step):
            return size - step
        step /= 2
    return size
