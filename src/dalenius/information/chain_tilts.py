"""Stationary binary chains with very many records: a leakage from below in closed form, and the law of the count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

from dalenius.information.arrays import Floats

_Complex = NDArray[np.complex128]
ROUNDS, BITS = 30, 128  # of a ternary search; of balls


class Tilted(NamedTuple):
    """A lower bound of I(X_i; Y) in nats, and the slopes in y of the functions that prove it, for the letters 0 and 1."""

    leakage: float
    tilts: tuple[float, float]


def tilted(count: int, record: int, point: Floats, epsilon: float) -> Tilted:
    """What the number of ones with two-sided geometric noise tells about a record, at least.

    It is the sum over x of pi_x max over t of t E_x Y - log E e^(tY), by D(P || M) >= E_P f - log E_M e^f (Donsker and
    Varadhan) with f(y) = t y; little is lost where Y is nearly normal.

    >>> round(tilted(100_000, 50_000, np.array([0.01, 0.01]), 0.5).leakage, 6)
    0.000495
    """
    alpha, beta = float(point[0]), float(point[1])
    pi, stay = alpha / (alpha + beta), 1.0 - alpha - beta
    near = 1.0 + stay * (2.0 - stay**record - stay ** (count - 1 - record)) / (1.0 - stay)
    tilts = [_best((letter - pi) * near, count, alpha, beta, epsilon) for letter in (0, 1)]
    return Tilted(_exactly(count, record, (alpha, beta), epsilon, tilts), (tilts[0], tilts[1]))


def _exactly(count: int, record: int, moves: tuple[float, float], epsilon: float, tilts: Sequence[float]) -> float:
    """The sum for given tilts, in balls: in doubles a matrix power of 10^5 steps is wrong by as many last digits."""
    with ctx.workprec(BITS):
        alpha, beta = map(arb, moves)
        pi, stay, q = alpha / (alpha + beta), 1 - alpha - beta, (-arb(epsilon)).exp()
        near = 1 + stay * (2 - stay**record - stay ** (count - 1 - record)) / (1 - stay)
        total = arb(0)
        for letter, share in ((0, 1 - pi), (1, pi)):
            t = arb(tilts[letter])
            step = arb_mat([[1 - alpha, alpha * t.exp()], [beta, (1 - beta) * t.exp()]])
            ones = step ** (count - 1) * arb_mat([[1], [1]])
            noise = (1 - q) ** 2 / ((1 - q * t.exp()) * (1 - q * (-t).exp()))
            mean = ((1 - pi) * ones[0, 0] + pi * t.exp() * ones[1, 0]) * noise
            total += share * (t * (count * pi + (letter - pi) * near) - mean.log())
        return float(total.mid())


def _best(shift: float, count: int, alpha: float, beta: float, epsilon: float) -> float:
    """t with the largest t shift - log E e^(t (Y - E Y)), |t| < epsilon, by ternary search: it is concave in t."""
    spread = count * (2.0 - alpha - beta) / (alpha + beta) * alpha * beta / (alpha + beta) ** 2
    reach = min(4.0 * abs(shift) / spread, 0.99 * epsilon)
    low, high = (0.0, reach) if shift >= 0.0 else (-reach, 0.0)

    def value(t: float) -> float:
        return t * shift - _log_mean(t, count, alpha, beta, epsilon)

    for _ in range(ROUNDS):
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        if value(left) < value(right):
            low = left
        else:
            high = right
    return float(np.float32(0.5 * (low + high)))  # few digits: a certificate writes it


def _log_mean(t: float, count: int, alpha: float, beta: float, epsilon: float) -> float:
    """log E e^(t (Y - E Y))."""
    pi = alpha / (alpha + beta)
    steps = np.array([[1.0 - alpha, alpha], [beta, 1.0 - beta]])
    tilt = np.array([math.exp(-t * pi), math.exp(t * (1.0 - pi))])
    ones = tilt * (np.linalg.matrix_power(steps * tilt, count - 1) @ np.ones(2))
    noise = (
        2.0 * math.log(-math.expm1(-epsilon)) - math.log(-math.expm1(t - epsilon)) - math.log(-math.expm1(-t - epsilon))
    )
    return math.log((1.0 - pi) * ones[0] + pi * ones[1]) + noise


def count_law(count: int, record: int, point: Floats) -> Floats:
    """P(X_i = x, s ones), (2, count + 1), by a Fourier transform: exact up to rounding.

    >>> count_law(2, 0, np.array([0.25, 0.25])).round(9).tolist()
    [[0.375, 0.125, 0.0], [0.0, 0.125, 0.375]]
    """
    alpha, beta = float(point[0]), float(point[1])
    pi = alpha / (alpha + beta)
    z = np.exp(-2j * np.pi * np.arange(count + 1) / (count + 1))
    step = (np.full(count + 1, 1.0 - alpha), alpha * z, np.full(count + 1, beta), (1.0 - beta) * z)
    sides = [_sums_of_power(step, k) for k in (record, count - 1 - record)]
    both = [share * left * right for share, left, right in zip((1.0 - pi, pi * z), *sides, strict=True)]
    return np.maximum(np.fft.ifft(both, axis=1).real, 0.0)


def _sums_of_power(matrix: tuple[_Complex, ...], exponent: int) -> tuple[_Complex, _Complex]:
    """The row sums of powers of 2 x 2 matrices, entry by entry: (1, 1) is multiplied by squares."""
    one = np.ones_like(matrix[1])
    sums = one, one
    a, b, c, d = matrix
    while exponent:
        if exponent % 2:
            sums = a * sums[0] + b * sums[1], c * sums[0] + d * sums[1]
        exponent //= 2
        both, trace = b * c, a + d
        a, b, c, d = a * a + both, b * trace, c * trace, d * d + both
    return sums
