"""The capacity of Gaussian noise on inputs of bounded length, with a proof that an input law is optimal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from math import ceil

from flint import arb, arb_poly, ctx

from dalenius.conversions.gaussian.shells import Shells, best_shells
from dalenius.exact import Integer, Number, as_bounded, as_integer
from dalenius.information.balls import above, ball, below

# The divergences of inputs of every length from one law of outputs, enclosed from their values at a few lengths.


SMALL = -35.0  # log of the error of interpolation that is aimed at, in nats; it is less where inputs are short
PRECISION = 400  # bits of polynomials: as numbers, their coefficients are exact
NEAR, SMALLEST = 2.0**-50, 2.0**-40  # of a bound and a value, and of a cell, that is not divided
HEIGHTS = [k / 4 for k in range(1, 81)]  # of the ellipses that are tried


@dataclass(frozen=True)
class DivergenceOfLengths:
    """D(r) = D(N(x, 1) || f), |x| = r, of a law of outputs f, for every r from 0 to R.

    F(r) = D(r) - r^2/2 = -E log m(|x + Z|) (see `Shells.divergence`) is an even entire function of r, hence one of
    v = 2 (r/R)^2 - 1, which is interpolated at n Chebyshev points of [-1, 1].

    *Bound because* moving the mean of Z to a complex r = p + it multiplies its density by exp(t^2/2) in absolute value, and
    -R^2/2 <= log m(s) <= R s. So on the ellipse of height t around -R .. R, whose half width is w = sqrt(R^2 + t^2), |F| is at most

        M = exp(t^2/2) (R (w + sqrt(d)) + R^2/2).

    It is the ellipse of parameter rho = (w + t)/R in r/R, of rho^2 in v, and there the interpolant of a function that is at most M
    is wrong by at most 4 M rho^(-2(n-1)) / (rho^2 - 1) (Trefethen, *Approximation Theory and Approximation Practice*, theorem 8.2;
    its proof, by the aliases of T_k at the points, is the same for zeros of Chebyshev polynomials as for their extrema).

    Attributes
    ----------
    size : Fraction
        R, the largest radius of the law.
    polynomial : arb_poly
        In v, with exact coefficients: of an approximation of D.
    error : arb
        A bound on what it misses, as a ball around 0.
    """

    size: Fraction
    polynomial: arb_poly
    error: arb

    @classmethod
    def of(cls, law: Shells) -> DivergenceOfLengths:
        """From the law's values at as few lengths as make the error small.

        >>> law = Shells((Fraction(1),), (Fraction(1),), 1)
        >>> curve = DivergenceOfLengths.of(law)
        >>> curve.polynomial.degree(), abs(float((curve.at(Fraction(1, 3)) - law.divergence(Fraction(1, 3))).mid())) < 1e-14
        (10, True)
        """
        size = max(law.radii)
        lengths = ball(size)
        count, height = _fewest(lengths, law.dimension)
        values, angles = [], []
        for k in range(count):
            angle = arb(2 * k + 1) / (4 * count)  # half of the angle of v, in units of pi
            radius = lengths * angle.cos_pi()
            values.append(law.divergence(radius) - radius**2 / 2)
            angles.append(2 * angle)
        error = _error(lengths, law.dimension, count, height)
        exact = []
        for j in range(count):
            c = sum((value * (j * angle).cos_pi() for value, angle in zip(values, angles, strict=True)), arb(0)) / count
            c = c if j == 0 else 2 * c
            error += c.rad()
            exact.append(c.mid())
        return cls(size, _in_powers(exact, lengths), arb(0, error.upper()))

    def at(self, radius: Fraction) -> arb:
        """A ball around D(r)."""
        with ctx.workprec(PRECISION):
            value = self.polynomial(2 * ball(radius / self.size) ** 2 - 1)
        return value + self.error

    def most(self, end: Fraction, enough: arb) -> arb:
        """A bound on D from 0 to `end`: at most `enough`, or as near to the largest value as doubles tell."""
        with ctx.workprec(PRECISION):
            near = NEAR * ball(min(self.size, Fraction(1))) ** 2
            half = ball(end / self.size) ** 2
            cells = [_Cell.of(self.polynomial, (half - 1).mid(), (half + half.rad()).upper())]
            error = self.error.upper()
            while True:
                cell = heappop(cells)
                if cell.bound <= cell.value + near or cell.half < SMALLEST or cell.bound + error <= enough:
                    bound = reduce(arb.max, (c.bound for c in cells), cell.bound) + error
                    return enough if bound <= enough else bound
                for side in (-1, 1):
                    half = cell.half / 2
                    heappush(cells, _Cell.of(self.polynomial, (cell.middle + side * half).mid(), half))


@dataclass(frozen=True)
class _Cell:
    """The values of a polynomial from middle - half to middle + half are at most the bound; `value` is one of them."""

    middle: arb
    half: arb
    value: arb
    bound: arb

    @classmethod
    def of(cls, polynomial: arb_poly, middle: arb, half: arb) -> _Cell:
        """By Taylor's polynomial of the second degree, at its vertex if there is one, and the sizes of what is left."""
        value, slope, bend, *rest = polynomial(arb_poly([middle, 1])).coeffs()
        most = abs(slope) * half
        if bend < 0:
            most = most.min(slope**2 / (-4 * bend))
        else:
            most += abs(bend) * half**2
        left = sum((abs(c) * half**k for k, c in enumerate(rest, 3)), arb(0))
        return cls(middle, half, value, value + most + left)

    def __lt__(self, other: _Cell) -> bool:
        return float(self.bound.mid()) > float(other.bound.mid())


def _in_powers(coefficients: list[arb], size: arb) -> arb_poly:
    """The polynomial with these coefficients of Chebyshev polynomials, and R^2 (v+1)/4 = r^2/2."""
    with ctx.workprec(PRECISION):
        line = arb_poly([0, 1])
        before, now = arb_poly([1]), line
        total = coefficients[0] * before + size**2 / 4 * arb_poly([1, 1])
        for c in coefficients[1:]:
            total += c * now
            before, now = now, 2 * line * now - before
        return total


def _error(size: arb, dimension: int, count: int, height: arb) -> arb:
    """The bound on the error, on the ellipse of this height."""
    width = (size**2 + height**2).sqrt()
    most = (height**2 / 2).exp() * (size * (width + arb(dimension).sqrt()) + size**2 / 2)
    square = _square(size, height)
    return 4 * most / square ** (count - 1) / (square - 1)


def _square(size: arb, height: arb) -> arb:
    """rho^2, by which each point more divides the error."""
    return (((size**2 + height**2).sqrt() + height) / size) ** 2


def _fewest(size: arb, dimension: int) -> tuple[int, arb]:
    """Number of points that makes the bound small, and the height of the ellipse for which they do."""
    small = SMALL + 2 * size.min(arb(1)).log()

    def points(height: arb) -> int:
        wanted = (_error(size, dimension, 1, height).log() - small) / _square(size, height).log()
        return 1 + max(2, ceil(float(wanted.mid())))

    height = min(map(arb, HEIGHTS), key=points)
    return points(height), height


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
    size = as_bounded(amplitude, "amplitude", above=0, at_most=MOST_AMPLITUDE)
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
    """The amplitude at which one sphere reveals this much, in nats, by secants in doubles; below the threshold that is the capacity.

    >>> round(amplitude_of(0.33683082034683), 9)
    1.0
    """
    wanted, d = float(as_bounded(capacity, "capacity", above=0, below=MOST_WANTED)), int(dimension)

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
