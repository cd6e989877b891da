"""Gaussian and Laplace noise on the real line: no matrix, and a quadrature in its place."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, NoReturn, Self

import numpy as np
from flint import arb

from dalenius.errors import InputError, brief
from dalenius.exact import Number
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.information.noise_formulas import (
    gaussian_variance_of_sensitivity,
    laplace_scale,
    laplace_scale_by_radius,
)
from dalenius.model.fields import Exact, Given, declared, number
from dalenius.model.mechanisms.base import ExactEntries, WholeNoise
from dalenius.model.mechanisms.noise import DiscreteGaussian, DiscreteLaplace, ScaledNoise

LEAST, MOST = Fraction(1, 1000), 10**6  # of a scale
MAX_VALUES = 64
LEAST_WHOLE = 2  # scale of Gaussian noise from which on discrete noise stands in for it
MAX_SPAN = 64  # scales from the least value to the greatest
KNOWN = (
    "known against product_priors, entropy_at_least = 0, classes of laws, listed priors (about secrets against these alone) and, of "
    "counts and sums, blocks without entropy"
)


@declared
class RealNoise(ScaledNoise):
    """The query's value with noise on the real line: y has the density g((y - v) / scale) / scale.

    There is no matrix. An information is an integral, which a quadrature gives here, and the checker encloses.
    """

    repeated: ClassVar[bool] = False
    on_a_line: ClassVar[bool] = True
    reach: ClassVar[
        int
    ]  # scales beyond the outermost values from which on hardly any noise, or nothing to tell apart, is left
    scale: Exact = Given(number(at_least=LEAST, at_most=MOST))

    @classmethod
    def of_scale(cls, scale: Number) -> Self:
        return cls(scale)

    @property
    def spread(self) -> Fraction:
        return self.scale

    def spreads(self, span: int) -> tuple[Fraction, Fraction]:
        return max(LEAST, Fraction(span, MAX_SPAN)), Fraction(MOST)

    @abstractmethod
    def rows(self, points: Floats) -> Floats:
        """A channel (points, nodes) with the divergences of noise of scale 1 around these points, which ascend, up to rounding."""

    @abstractmethod
    def above(self, point: Fraction) -> arb:
        """The probability that noise of scale 1 is above this point."""

    @abstractmethod
    def density(self, point: Fraction) -> arb:
        """The density of noise of scale 1 at this point, up to a factor."""

    def quadrature(self, values: Integers) -> Floats:
        """The same around these values, which ascend; `InputError` if they are too many, or too far apart."""
        if values.size > MAX_VALUES:
            raise InputError(
                f"mechanism: {self.kind} noise is integrated for at most {MAX_VALUES} values of the query (against independent_blocks,"
                f" of what one household adds), here are {values.size}; coarsen them, or release with discrete_{self.kind} noise"
            )
        span = int(values[-1] - values[0])
        if span > MAX_SPAN * self.scale:
            raise InputError(
                f"mechanism: {self.kind} noise is integrated where the values span at most {MAX_SPAN} scales, here {span} with scale "
                f"{brief(float(self.scale))}: nearly everything is revealed; raise the scale"
            )
        return self.rows((values - values[0]) / float(self.scale))

    def channel(self, values: Integers) -> Floats:
        self._no_matrix()

    def exact_entries(self, values: Integers) -> ExactEntries:
        self._no_matrix()

    def _no_matrix(self) -> NoReturn:
        raise InputError(
            f"mechanism: {self.kind} noise is on the real line and has no matrix, as discrete_{self.kind} has; it is {KNOWN}"
        )


class Laplace(RealNoise):
    """Laplace noise on the real line: of the value v any real number y comes out, with a density that falls on both sides.

    g(y) = e^(-|y - v| / scale) / (2 scale).

    Parameters
    ----------
    scale : number in [1/1000, 10^6]
        b; the standard deviation is sqrt(2) b.

    Raises
    ------
    InputError
        If `scale` is out of range. `WorstCaseLeakage` raises it against an adversary for whom it is not known what such noise reveals,
        and for queries of more than 64 values, or values that span more than 64 scales.

    >>> import dalenius as dl
    >>> result = dl.solve(dl.WorstCaseLeakage(records=dl.Records(1, alphabet=2), query=dl.Count(),
    ...     mechanism=dl.laplace(1), adversary=dl.ProductPriors()))
    >>> 0.0885196402 < result.lower <= result.upper < 0.0885196403
    True
    """

    kind: ClassVar[str] = "laplace"
    words: ClassVar[str] = "Laplace noise"
    reach: ClassVar[int] = 0
    for_epsilon: ClassVar[str] = ", 'laplace scale = 1/e' for epsilon e where one record moves the query by 1"

    def enough(self, nats: float, span: int) -> list[tuple[float, str]]:
        return [
            (laplace_scale_by_radius(nats, span), "divergence from the middle"),
            (laplace_scale(nats, 0.5 * span), "Theorem 3"),
            (laplace_scale(nats, span / math.sqrt(2.0)), "Corollary 2 (proved for d <= 2)"),
            *super().enough(nats, span),
        ]

    @property
    def mean_error(self) -> float:
        return float(self.scale)

    @property
    def epsilon_per_step(self) -> Fraction:
        return 1 / self.scale

    def on_whole_numbers(self) -> WholeNoise:
        alike = DiscreteLaplace(1 / self.scale)
        return WholeNoise(alike, alike, math.cosh(0.5 / self.scale))

    def rows(self, points: Floats) -> Floats:
        return laplace_rows(points)

    def above(self, point: Fraction) -> arb:
        at = arb(rational(point))
        return (-at).exp() / 2 if point >= 0 else 1 - at.exp() / 2

    def density(self, point: Fraction) -> arb:
        return arb(rational(-abs(point))).exp()


laplace = Laplace


class Gaussian(RealNoise):
    """Gaussian noise on the real line: of the value v any real number y comes out, with a Gaussian density around it.

    g(y) = e^(-(y - v)^2 / (2 scale^2)) / (scale sqrt(2 pi)).

    Parameters
    ----------
    scale : number in [1/1000, 10^6]
        sigma, the standard deviation.

    Raises
    ------
    InputError
        If `scale` is out of range. `WorstCaseLeakage` raises it against an adversary for whom it is not known what such noise reveals,
        and for queries of more than 64 values, or values that span more than 64 scales.

    >>> import dalenius as dl
    >>> result = dl.solve(dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Count(),
    ...     mechanism=dl.gaussian(2), adversary=dl.IndependentBlocks(4)))
    >>> 0.33683082034 < result.lower <= result.upper < 0.33683082035
    True
    """

    kind: ClassVar[str] = "gaussian"
    words: ClassVar[str] = "Gaussian noise"
    reach: ClassVar[int] = 10

    def enough(self, nats: float, span: int) -> list[tuple[float, str]]:
        variance = gaussian_variance_of_sensitivity(nats, span)
        return [
            (math.sqrt(variance), "Theorem 4, Corollary 3 (d = 1)"),
            (math.sqrt(2.0 * variance), "Corollary 3 for every d"),
        ]

    @property
    def mean_error(self) -> float:
        return float(self.scale) * math.sqrt(2.0 / math.pi)

    def on_whole_numbers(self) -> WholeNoise:
        if self.scale < LEAST_WHOLE:
            raise InputError(
                f"mechanism: gaussian noise behind more than {MAX_VALUES} values is known of a scale of at least {LEAST_WHOLE}, got "
                f"{brief(float(self.scale))}; coarsen the values, or raise the scale"
            )
        first, second = (self.scale + sign / self.scale for sign in (-1, 1))
        rest, more = self.scale**2 - first**2, second**2 - self.scale**2
        lost = _rippled(rest * first**2 / self.scale**2) + _rippled(first**2)
        off = _rippled(more) + _rippled(second**2)
        return WholeNoise(DiscreteGaussian(scale=first), DiscreteGaussian(scale=second), 1.0, lost, off)

    def rows(self, points: Floats) -> Floats:
        return gaussian_rows(points)

    def above(self, point: Fraction) -> arb:
        return (arb(rational(point)) / arb(2).sqrt()).erfc() / 2

    def density(self, point: Fraction) -> arb:
        return arb(rational(-(point**2) / 2)).exp()


gaussian = Gaussian


def _rippled(variance: Fraction) -> float:
    """Distance from 1, at most, of the sum of a normal density over shifted whole numbers; the variance is at least 1/2."""
    return 3.0 * math.exp(-2.0 * math.pi**2 * float(variance))


# Channels that can be written out: nodes of a quadrature are outputs, its weights part of their densities.
#
# Divergences, informations and capacities of the rows are those of the noise up to rounding: the quadrature of an integral of
# R log(R/r) is D(R || r) of the rows at its nodes. A checker evaluates the same integrals in balls (docs/certificate-format.md).


REACH = 12.0  # standard deviations beyond the points that nodes go
NODES = 14  # Gauss and Legendre's, of a piece of at most PIECE scales
PIECE = 1.0


def gaussian_rows(points: Floats) -> Floats:
    """Standard Gaussian noise around each point, (points, nodes): the trapezoidal rule, whose error falls exponentially.

    The ratio of a mixture of such densities to one of them has no zero y with |Im y| < pi/A, A what the points span.

    Parameters
    ----------
    points : (points,)
        In standard deviations, ascending.

    >>> rows = gaussian_rows(np.array([-1.0, 1.0]))
    >>> law = rows.mean(axis=0)
    >>> float((rows[0] * np.log(rows[0] / law)).sum().round(13))
    0.3368308203468
    """
    span = float(points[-1] - points[0])
    strip = min(2.0 / span, 6.0) if span else 6.0
    step = 6.0 * strip / (60.0 + 0.5 * strip**2)
    nodes = points[0] - REACH + step * np.arange(int(np.ceil((span + 2.0 * REACH) / step)) + 1)
    weights = np.exp(-0.5 * (nodes - points[:, None]) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)


def laplace_rows(points: Floats) -> Floats:
    """Laplace noise of scale 1 around each point, (points, nodes): Gauss and Legendre between them, and an output beyond each end.

    Beyond an end all densities are multiples of one another, so that nothing is lost.

    Parameters
    ----------
    points : (points,)
        In scales, ascending.

    >>> rows = laplace_rows(np.array([0.0, 1.0]))
    >>> law = rows.mean(axis=0)
    >>> float((rows[0] * np.log(rows[0] / law)).sum().round(13))
    0.0885196402013
    """
    x, w = np.polynomial.legendre.leggauss(NODES)
    nodes, weights = list[Floats](), list[Floats]()
    for low, high in pairwise(points.tolist()):
        ends = np.linspace(low, high, int(np.ceil((high - low) / PIECE)) + 1)
        half = 0.5 * np.diff(ends)[:, None]
        nodes.append((0.5 * (ends[:-1] + ends[1:])[:, None] + half * x).ravel())
        weights.append((half * w).ravel())
    distance = np.abs(np.concatenate(nodes or [np.empty(0)]) - points[:, None])
    inside = 0.5 * np.exp(-distance) * np.concatenate(weights or [np.empty(0)])
    ends = 0.5 * np.exp(-np.abs(points[:, None] - points[[0, -1]]))
    rows = np.concatenate([ends[:, :1], inside, ends[:, 1:]], axis=1)
    return rows / rows.sum(axis=1, keepdims=True)
