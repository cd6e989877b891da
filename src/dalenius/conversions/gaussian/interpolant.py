"""The divergences of inputs of every length from one law of outputs, enclosed from their values at a few lengths."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from math import ceil

from flint import arb, arb_poly, ctx

from dalenius.conversions.gaussian.shells import Shells
from dalenius.information.balls import ball

__all__ = ["DivergenceOfLengths"]

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
    """How many points make the bound small, and the height of the ellipse for which they do."""
    small = SMALL + 2 * size.min(arb(1)).log()

    def points(height: arb) -> int:
        wanted = (_error(size, dimension, 1, height).log() - small) / _square(size, height).log()
        return 1 + max(2, ceil(float(wanted.mid())))

    height = min(map(arb, HEIGHTS), key=points)
    return points(height), height
