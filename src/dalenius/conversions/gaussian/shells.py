"""Inputs on spheres around the origin, and Gaussian noise: divergences as integrals over the length of the output."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb, fmpq
from scipy.special import ive, loggamma

from dalenius.information.arrays import Floats

__all__ = ["Shells", "best_shells"]

ACCURACY = 60  # bits of an integral
REACH = 14  # standard deviations that are integrated; the rest is bounded
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

    def divergence(self, radius: Fraction) -> arb:
        """A ball around D(N(x, 1) || f) in nats, |x| = radius, f the density of the outputs.

        It is r^2/2 - E log m(|x + Z|), m(s) = sum_i w_i exp(-r_i^2/2) F(r_i s), where F(t) = 0F1(; d/2; t^2/4) is the mean of exp(t u)
        over a coordinate u of the sphere. The length |x + Z| has the density c s^(d-1) exp(-(s^2 + r^2)/2) F(r s). Beyond S = r + 14
        it contributes at most E (r_max (r + |Z|) + r_max^2/2) 1{|Z| > 14}, as -r_max^2/2 <= log m(s) <= r_max s.
        """
        half, r = arb(self.dimension) / 2, _ball(radius)
        scale = arb(2) ** (1 - half) / half.gamma()
        masses = [
            (_ball(w) * (-(_ball(q) ** 2) / 2).exp(), _ball(q) ** 2 / 4)
            for q, w in zip(self.radii, self.weights, strict=True)
        ]
        power = self.dimension - 1

        def integrand(s: acb, analytic: bool) -> acb:
            square = s * s
            density = scale * s**power * (-(square + r * r) / 2).exp() * (square * (r * r / 4)).hypgeom_0f1(half)
            mean = sum((mass * (square * quarter).hypgeom_0f1(half) for mass, quarter in masses), acb(0))
            return density * mean.log(analytic=analytic)

        tolerance = arb(2) ** -ACCURACY
        inside = acb.integral(integrand, 0, r + REACH, rel_tol=tolerance, abs_tol=tolerance).real
        most = _ball(max(self.radii))
        tail = most * (_tail_mean(self.dimension) + r * _tail(self.dimension)) + most**2 / 2 * _tail(self.dimension)
        return r**2 / 2 - inside + arb(0, tail.upper())


def best_shells(amplitude: float, dimension: int) -> Shells:
    """Spheres found in doubles: weights by Newton's method, lengths moved to where the divergence is largest, until none is larger.

    >>> len(best_shells(2.0, 1).radii)
    2
    """
    found = _Search(amplitude, dimension)
    radii, weights = np.array([amplitude]), np.ones(1)
    grid = np.linspace(0.0, amplitude, GRID)
    for _ in range(ROUNDS):
        values = found.divergences(grid, radii, weights)
        if values.max() <= weights @ found.divergences(radii, radii, weights) + ENOUGH:
            break
        radii = np.append(radii, grid[values.argmax()])
        weights = np.append(weights * 0.9, 0.1)
        radii, weights = found.moved(*found.weighed(radii, weights))
    exact = [Fraction(round(x * SHORT), SHORT) for x in radii]
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
        return np.asarray(density / density.sum(axis=1, keepdims=True))

    def divergences(self, at: Floats, radii: Floats, weights: Floats) -> Floats:
        """D(r) for every r in `at`."""
        mean = np.logaddexp.reduce(np.log(weights)[:, None] + self.log_means(radii), axis=0)
        return np.asarray(at**2 / 2.0 - self.laws(at) @ mean)

    def weighed(self, radii: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """The best weights of these spheres; those without any are dropped, and close ones become one."""
        order = np.argsort(radii)
        radii, weights = radii[order], weights[order]
        close = np.flatnonzero(np.diff(radii) < NEAR * self.amplitude)
        for k in close[::-1]:
            weights[k + 1] += weights[k]
            radii, weights = np.delete(radii, k), np.delete(weights, k)
        weights = self.balanced(radii, weights)
        kept = weights > 1e-9
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


def _tail(dimension: int) -> arb:
    """P(|Z| > 14)."""
    half = arb(dimension) / 2
    return (arb(REACH) ** 2 / 2).gamma_upper(half) / half.gamma()


def _tail_mean(dimension: int) -> arb:
    """E |Z| 1{|Z| > 14}."""
    half = arb(dimension) / 2
    return arb(2).sqrt() * (arb(REACH) ** 2 / 2).gamma_upper(half + arb(1) / 2) / half.gamma()


def _ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))
