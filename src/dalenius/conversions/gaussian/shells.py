"""Inputs on spheres around the origin, and Gaussian noise: divergences as integrals over the length of the output."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import ceil, isqrt, log

import numpy as np
from flint import arb
from scipy.special import ive, loggamma

from dalenius.information.arrays import Floats
from dalenius.information.balls import ball

ACCURACY = 70  # bits of an integral, more where inputs are short
FAR = 10  # standard deviations beyond what is likely that are integrated; the rest is bounded
STRIP, HIGHEST = 1.3, 3.0  # height of an ellipse: times R, below pi/2; and most
GRID, NODES = 200, 1200  # lengths of inputs and outputs of the search in doubles
ROUNDS = 10
ENOUGH = 1e-11  # by which no length may be better, in nats
NEAR = 1e-3  # of the amplitude: spheres that are one
SHORT = 2**40  # denominators of what the search ends with


@dataclass(frozen=True)
class Shells:
    """An input law, uniform on spheres.

    Attributes
    ----------
    radii, weights : tuples of Fraction
    dimension : int
    """

    radii: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    dimension: int

    def divergence(self, radius: Fraction | arb) -> arb:
        """A ball around D(N(x, 1) || f) in nats, |x| = radius at most R, the largest of the radii; f is the density of the outputs.

        It is r^2/2 - E log m(|x + Z|), m(s) = sum_i w_i exp(-r_i^2/2) F(r_i s), where F(t) = 0F1(; d/2; t^2/4) is the mean of exp(t u)
        over a coordinate u of the sphere. The length |x + Z| has the density p(s) = c s^(d-1) exp(-(s^2 + r^2)/2) F(r s). Its integral
        is a sum over points that all r share (`_Lengths`).
        """
        r, half = radius if isinstance(radius, arb) else ball(radius), arb(self.dimension) / 2
        if r > ball(max(self.radii)):
            raise ValueError("a length beyond the largest of the radii")
        lengths = self._lengths
        quarter = r**2 / 4
        mean = sum((part * (square * quarter).hypgeom_0f1(half) for square, part in lengths.parts), arb(0))
        return r**2 / 2 - (-(r**2) / 2).exp() * mean + lengths.error

    @cached_property
    def _lengths(self) -> _Lengths:
        return _Lengths.of(self)

    def log_mean(self, square: arb) -> arb:
        """log m(s) at s^2 = square."""
        half = arb(self.dimension) / 2
        terms = (
            ball(w) * (-(ball(r) ** 2) / 2).exp() * (square * (ball(r) ** 2 / 4)).hypgeom_0f1(half)
            for r, w in zip(self.radii, self.weights, strict=True)
        )
        return sum(terms, arb(0)).log()


@dataclass(frozen=True)
class _Lengths:
    """Points s in 0 .. S, a part c s^(d-1) exp(-s^2/2) log m(s) of the integral for each, and the error of their sum.

    They are those of Gauss and Legendre, n in each interval of length 1. *Bound because* the integrand is analytic where
    |Im s| R < pi/2: there m(s) = E exp(s W) / const with |W| <= R, so m(a + ib)/m(a) is a mean of exp(ibW), whose angles are
    at most bR, and |log m(a + ib)| <= |log m(a)| + |log cos bR| + bR, where -R^2/2 <= log m(a) <= R |a|. Its density is

        |p(a + ib)| <= c |s|^(d-1) exp(b^2/2 - (a^2 + r^2)/2) F(r |a|) <= c |s|^(d-1) exp(b^2/2 - (|a| - r)^2/2).

    So it is at most M on the ellipse of height b around an interval, of parameter rho, and Chebyshev coefficients are at most
    2 M rho^(-k); the rule is exact up to k = 2n-1, its weights are positive, and so it is wrong by at most
    4 * 2 M rho^(-2n) / (1 - 1/rho) for an interval of length 2. Beyond S = R + sqrt(d) + 10 the integral is at most
    E (R (R + |Z|) + R^2/2) 1{|Z| > S - R}.
    """

    parts: tuple[tuple[arb, arb], ...]  # s^2, and the part
    error: arb

    @classmethod
    def of(cls, law: Shells) -> _Lengths:
        most, d = max(law.radii), law.dimension
        half = arb(d) / 2
        scale = arb(2) ** (1 - half) / half.gamma()
        away = isqrt(d - 1) + 1 + FAR
        intervals = ceil(most) + away
        height = arb(min(STRIP / max(float(most), 1e-3), HIGHEST))
        rho = 2 * height + (1 + 4 * height**2).sqrt()
        largest = scale * reduce(arb.max, (_largest_integrand(most, d, k, height) for k in range(intervals)))
        small = ACCURACY * log(2.0) - 2 * log(min(float(most), 1.0))
        count = ceil((float(largest.log().mid()) + small) / float(2 * rho.log().mid())) + 1
        wrong = intervals * 4 * largest * rho ** (-2 * count) / (1 - 1 / rho)
        tail = ball(most) * (_tail_mean(d, away) + ball(most) * _tail(d, away)) + ball(most) ** 2 / 2 * _tail(d, away)
        rule = [arb.legendre_p_root(count, k, weight=True) for k in range(count)]
        parts = []
        for k in range(intervals):
            for point, weight in rule:
                s = k + (1 + point) / 2
                square = s**2
                parts.append((square, scale * weight / 2 * s ** (d - 1) * (-square / 2).exp() * law.log_mean(square)))
        return cls(tuple(parts), arb(0, (wrong + tail).upper()))


def _largest_integrand(most: Fraction, dimension: int, k: int, height: arb) -> arb:
    """A bound on the integrand without c around k .. k+1, whatever r is: M."""
    size = ball(most)
    reach = (height**2 + arb(1) / 4).sqrt()  # half of the width of the ellipse
    right, left = k + arb(1) / 2 + reach, k + arb(1) / 2 - reach
    beyond = (left - size).max(arb(0))
    angle = height * size
    logarithm = size * right + size**2 / 2 - angle.cos().log() + angle
    return (right**2 + height**2) ** (arb(dimension - 1) / 2) * ((height**2 - beyond**2) / 2).exp() * logarithm


def best_shells(amplitude: Fraction, dimension: int) -> Shells:
    """Spheres found in doubles: weights by Newton's method, lengths moved to where the divergence is largest, until none is larger.

    The last radius is the amplitude, not more by a rounding either: inputs beyond it may reveal more than the capacity.

    >>> [float(r) for r in best_shells(Fraction(2), 1).radii]
    [0.0, 2.0]
    """
    end = float(amplitude)
    found = _Search(end, dimension)
    radii, weights = np.array([end]), np.ones(1)
    grid = np.linspace(0.0, end, GRID)
    for _ in range(ROUNDS):
        values = found.divergences(grid, radii, weights)
        if values.max() <= weights @ found.divergences(radii, radii, weights) + ENOUGH:
            break
        radii = np.append(radii, grid[values.argmax()])
        weights = np.append(weights * 0.9, 0.1)
        radii, weights = found.moved(*found.weighed(radii, weights))
    exact = [*(Fraction(round(x * SHORT), SHORT) for x in radii[:-1]), amplitude]
    shares = [Fraction(max(round(w * SHORT), 1), SHORT) for w in weights]
    return Shells(tuple(exact), tuple(share / sum(shares) for share in shares), dimension)


class _Search:
    """Divergences in doubles, by the trapezoid rule over the length of the output."""

    def __init__(self, amplitude: float, dimension: int) -> None:
        self.amplitude, self.dimension = amplitude, dimension
        self.nodes = np.linspace(0.0, amplitude + 10.0, NODES)

    def log_means(self, radii: Floats) -> Floats:
        """log exp(-r^2/2) F(r s), a row for each r."""
        half = self.dimension / 2.0
        t = radii[:, None] * self.nodes[None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            bessel = np.log(ive(half - 1.0, t)) + t - (half - 1.0) * np.log(t / 2.0) + loggamma(half).real
        return np.where(t < 1e-5, t**2 / (4.0 * half), bessel) - radii[:, None] ** 2 / 2.0

    def laws(self, radii: Floats) -> Floats:
        """The laws of the output's length, a row for each r."""
        base = (self.dimension - 1) * np.log(np.maximum(self.nodes, 1e-300)) - self.nodes**2 / 2.0
        log_density = base + self.log_means(radii)
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        if self.dimension == 1:
            density[:, 0] *= 0.5
        return density / density.sum(axis=1, keepdims=True)

    def divergences(self, at: Floats, radii: Floats, weights: Floats) -> Floats:
        """D(r) for every r in `at`."""
        mean = np.logaddexp.reduce(np.log(weights)[:, None] + self.log_means(radii), axis=0)
        return at**2 / 2.0 - self.laws(at) @ mean

    def weighed(self, radii: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """The best weights of these spheres; those without any are dropped but for the outermost, and close ones become one."""
        order = np.argsort(radii)
        radii, weights = radii[order], weights[order]
        close = np.flatnonzero(np.diff(radii) < NEAR * self.amplitude)
        for k in close[::-1]:
            weights[k + 1] += weights[k]
            radii, weights = np.delete(radii, k), np.delete(weights, k)
        weights = self.balanced(radii, weights)
        kept = weights > 1e-9
        kept[-1] = True
        return radii[kept], weights[kept] / weights[kept].sum()

    def balanced(self, radii: Floats, weights: Floats) -> Floats:
        """The best weights: Newton's method on the information, which is concave in them, not beyond 0."""
        laws, means = self.laws(radii), self.log_means(radii)
        for _ in range(60):
            total = np.logaddexp.reduce(np.log(weights)[:, None] + means, axis=0)
            values = radii**2 / 2.0 - laws @ total
            bend = laws @ np.exp(means - total).T
            system = np.block([[bend, np.ones((radii.size, 1))], [np.ones((1, radii.size)), np.zeros((1, 1))]])
            step = np.linalg.lstsq(system, np.append(values, 0.0))[0][:-1]
            share = min(1.0, float((0.9 * weights / np.maximum(-step, 1e-300)).min()))
            weights = np.maximum(weights + share * step, 1e-200)
            if np.abs(step).max() < 1e-14:
                break
        return weights

    def moved(self, radii: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """The best lengths near these, but of the outermost and the origin: a quasi-Newton method, weights at their best."""
        from scipy.optimize import minimize

        free = (radii > 0.0) & (radii < self.amplitude * (1.0 - 1e-9))
        reach = 1e-4 * self.amplitude

        def loss(lengths: Floats) -> tuple[float, Floats]:
            nonlocal weights
            new = radii.copy()
            new[free] = np.clip(lengths, reach, self.amplitude - reach)
            weights = self.balanced(new, weights)
            slopes = self.divergences(new + reach, new, weights) - self.divergences(new - reach, new, weights)
            value = weights @ self.divergences(new, new, weights)
            return -float(value), -(weights * slopes / (2.0 * reach))[free]

        if free.any():
            lengths = minimize(loss, radii[free], jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 60}).x
            radii = radii.copy()
            radii[free] = np.clip(lengths, 0.0, self.amplitude)
        return self.weighed(radii, weights)


def _tail(dimension: int, away: int) -> arb:
    """P(|Z| > away)."""
    half = arb(dimension) / 2
    return (arb(away) ** 2 / 2).gamma_upper(half) / half.gamma()


def _tail_mean(dimension: int, away: int) -> arb:
    """E |Z| 1{|Z| > away}."""
    half = arb(dimension) / 2
    return arb(2).sqrt() * (arb(away) ** 2 / 2).gamma_upper(half + arb(1) / 2) / half.gamma()
