"""The capacity of Gaussian noise on inputs of bounded length, with a proof that an input law is optimal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq

from dalenius.conversions.gaussian.shells import Shells, best_shells
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer
from dalenius.information.balls import above

__all__ = ["AmplitudeCapacity", "amplitude_capacity", "amplitude_of"]

BITS = 90  # of the balls
MOST_AMPLITUDE = 12
MOST_PARTS = 4000  # of the interval of lengths, before a wider bound is good enough
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


def amplitude_capacity(amplitude: Number, dimension: Integer = 1, *, gap: float = 1e-6) -> AmplitudeCapacity:
    """The capacity, and an input law: one sphere where that is proved to be best, else several.

    Parameters
    ----------
    amplitude : Number
        R, in standard deviations of the noise; at most 12.
    dimension : int
        At most 64.
    gap : float
        Of the interval, in nats, where one sphere is not the best.

    Notes
    -----
    *Bound because* for every law of the outputs with density f the capacity is at most the largest D(r) = D(N(x, 1) || f) with
    |x| = r <= R, and at least the mean of D under the input law whose outputs f is. Along a ray 1 - R^2 <= D'' <= 1, as the second
    derivative of log f is a variance of inputs less 1; so D is at most (R^2-1)_+ h^2/8 above the chord of an interval of length h,
    and where it rises by more than h max(1, R^2-1) per unit length it rises throughout.

    Source: eq. (8) of Ngo et al.; Smith, *The information capacity of amplitude- and variance-constrained scalar Gaussian channels*.

    Raises
    ------
    InputError
        If a number is out of range.

    >>> found = amplitude_capacity(1)
    >>> found.optimal, round(found.lower, 12), round(found.upper, 12)
    (True, 0.336830820347, 0.336830820347)
    """
    size = as_fraction(amplitude, "amplitude")
    if not 0 < size <= MOST_AMPLITUDE:
        raise InputError(f"amplitude: expected a number above 0 and at most {MOST_AMPLITUDE}, got {float(size):g}")
    d = as_integer(dimension, "dimension", at_least=1, at_most=MOST_DIMENSION)
    with ctx.workprec(BITS):
        one = Shells((size,), (Fraction(1),), d)
        divergence = _remembered(one)
        lower = divergence(size)
        rises = _rises_from(size, divergence)
        largest = _largest(rises, size, divergence, lower.lower())
        if largest is not None:
            return AmplitudeCapacity(_below(lower), above(lower), (size,), (Fraction(1),), True)
        law = best_shells(float(size), d)
        divergence = _remembered(law)
        lower = sum((_ball(w) * divergence(r) for r, w in zip(law.radii, law.weights, strict=True)), arb(0))
        target = lower.lower() + gap
        while _largest(size, size, divergence, target) is None:
            target = lower.lower() + 2 * (target - lower.lower())
        return AmplitudeCapacity(_below(lower), above(target), law.radii, law.weights, False)


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


Divergence = Callable[[Fraction], arb]


def _remembered(law: Shells) -> Divergence:
    """D(r), each r once."""
    known: dict[Fraction, arb] = {}

    def divergence(radius: Fraction) -> arb:
        if radius not in known:
            known[radius] = law.divergence(radius)
        return known[radius]

    return divergence


def _rises_from(size: Fraction, divergence: Divergence) -> Fraction:
    """A length from which on D certainly rises to the end."""
    curvature = max(Fraction(1), size**2 - 1)
    step = size / 4
    while step > size / 2**12:
        slope = (divergence(size) - divergence(size - step)) / _ball(step)
        if slope > _ball(curvature * step):
            return size - step
        step /= 2
    return size


def _largest(end: Fraction, size: Fraction, divergence: Divergence, target: arb) -> arb | None:
    """The target, if D is proved to be at most that from 0 to `end`; None if it is not, or takes too many parts."""
    bend = _ball(max(Fraction(0), size**2 - 1)) / 8
    parts, used = [(Fraction(0), end)], 0
    while parts:
        low, high = parts.pop()
        used += 1
        ends = divergence(low).max(divergence(high))
        if ends + bend * _ball((high - low) ** 2) <= target:
            continue
        if used > MOST_PARTS or ends > target or high - low < size / 2**22:
            return None
        middle = (low + high) / 2
        parts += [(middle, high), (low, middle)]
    return target


def _ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def _below(value: arb) -> float:
    return math.nextafter(float(value.lower()), -math.inf)
