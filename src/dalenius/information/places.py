"""Counts at equal steps, seen through two-sided geometric noise in bins around them: products with the channel by two recursions.

The channel from place j to bin l has the entries (a = e^-epsilon, s the step, q = (s - 1)/2)

    S(j,l) = a^(s |j-l| - q) (1 - a^s) / (1 + a),     S(j,j) = 1 - 2 a^(q+1) / (1 + a),

and at the two ends of the bins, which reach to infinity, a^(s |j-l| - q) / (1 + a) and 1 - a^(q+1) / (1 + a)
(docs/certificate-format.md, wide counts).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.information.arrays import Floats

GONE = 700.0  # nats: e^-700 is next to no number


@dataclass(frozen=True)
class Places:
    """The counts least, least + step, ..., least + last step, with noise of this epsilon; the step is odd.

    >>> places = Places(10, 1, 2, 0.5)
    >>> places.through(np.eye(3)).round(4).tolist()
    [[0.6225, 0.1486, 0.229], [0.3775, 0.2449, 0.3775], [0.229, 0.1486, 0.6225]]
    """

    least: int
    step: int
    last: int
    epsilon: float

    @property
    def counts(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(self.least, self.least + self.step * self.last + 1, self.step))

    def through(self, masses: Floats) -> Floats:
        """The laws of the bins (..., places) under masses on the places (..., places): masses S."""
        return self._to_others * self._beside(masses) + self._stay * masses

    def scores(self, values: Floats) -> Floats:
        """The means of values of the bins (..., places), by place: S values."""
        return self._beside(self._to_others * values) + self._stay * values

    def _beside(self, values: Floats) -> Floats:
        """At every place the sum over all others, at the distance d, of values a^(s (d - 1))."""
        found = np.zeros(values.shape)
        found[..., 1:] = self._until(values)[..., :-1]
        found[..., :-1] += self._until(values[..., ::-1])[..., -2::-1]
        return found

    def _until(self, values: Floats) -> Floats:
        """At every place the sum over it and those before, at the distance d, of values a^(s d): windows twice as long each time."""
        found, length, rate = np.array(values, dtype=float), 1, self.epsilon * self.step
        while length <= self.last and rate * length < GONE:
            found[..., length:] += math.exp(-rate * length) * found[..., :-length]
            length *= 2
        return found

    @property
    def _near(self) -> float:
        """a^(q+1) / (1 + a): the probability of noise beyond the bin on one side."""
        return math.exp(-self.epsilon * (self.step + 1) / 2) / (1.0 + math.exp(-self.epsilon))

    @cached_property
    def _to_others(self) -> Floats:
        found = np.full(self.last + 1, -self._near * math.expm1(-self.epsilon * self.step))
        found[[0, -1]] = self._near
        return found

    @cached_property
    def _stay(self) -> Floats:
        found = np.full(self.last + 1, 1.0 - 2.0 * self._near)
        found[[0, -1]] = 1.0 - self._near
        return found


def log_shares(records: int, contributions: tuple[int, ...], counts: Floats) -> Floats:
    """log(N(x,k) / |X|) by letter, then by count: how many datasets have this letter in one record, and this count, as a share.

    1/A times a binomial probability, by Loader's formula, in which nothing of the size of log |X| is subtracted
    (C. Loader, Fast and accurate computation of binomial probabilities, 2000).

    >>> np.exp(log_shares(3, (0, 1), np.arange(4.0))).round(6).tolist()
    [[0.125, 0.25, 0.125, 0.0], [0.0, 0.125, 0.25, 0.125]]
    """
    share, others = sum(contributions) / len(contributions), records - 1
    rows = [_log_binomial(others, share, counts - own) for own in contributions]
    return np.array(rows) - math.log(len(contributions))


def _log_binomial(n: int, p: float, k: Floats) -> Floats:
    inside = (k > 0) & (k < n)
    x = np.where(inside, k, 1.0)
    y = n - x
    found = _stirling(n) - _stirling(x) - _stirling(y) - _excess(x, n * p) - _excess(y, n * (1.0 - p))
    found += 0.5 * np.log(n / (2.0 * math.pi * x * y))
    ends = np.where(k == 0, n * _log(1.0 - p), np.where(k == n, n * _log(p), -np.inf))
    return np.where(inside, found, ends)


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _excess(x: Floats, mean: float) -> Floats:
    """x log(x / mean) + mean - x, at least 0."""
    if mean <= 0.0:
        return np.full_like(x, np.inf)
    away = (x - mean) / mean
    return np.asarray(x * np.log1p(away) - mean * away)


def _stirling(x: Floats | float) -> Floats:
    """log x! - x log x + x - log(2 pi x)/2."""
    x = np.asarray(x, dtype=float)
    z = np.maximum(x, 16.0)
    series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * z * z)) / (z * z)) / (z * z)) / z
    small = np.array(
        [math.lgamma(k + 1.0) - (k * math.log(k) - k + 0.5 * math.log(2.0 * math.pi * k)) for k in range(1, 16)]
    )
    return np.where(x < 16.0, small[np.clip(x, 1, 15).astype(int) - 1], series)
