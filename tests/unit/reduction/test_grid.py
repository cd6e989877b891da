"""Counts rounded to a grid: the smaller question is what its definition says, and bounds what the count itself tells any prior."""

import math
from fractions import Fraction

import numpy as np

from campaigns import draws, each
from dalenius.information import mutual_information
from dalenius.model.problems.large import WideCount
from dalenius.reduction import Grid, record_channels

FAR = 2000


def noise(epsilon, values):
    """Two-sided geometric noise around these values, far out."""
    outputs = np.arange(-FAR, FAR)
    return np.exp(-epsilon * np.abs(outputs - np.array(values)[:, None])) * math.tanh(epsilon / 2)


def entropy(p, numbers):
    """Of masses that are spread evenly."""
    held = p > 0
    return -float(np.sum(p[held] * np.log(p[held] / numbers[held])))


@each("seed", *range(draws(20, 4000)))
def test_no_prior_is_told_more_than_the_rounded_count_says(seed):
    rng = np.random.default_rng(seed)
    n, letters = int(rng.integers(2, 13)), int(rng.integers(2, 4))
    counted, step = int(rng.integers(1, letters)), int(rng.integers(1, n + 1))
    epsilon = Fraction(int(rng.choice([2, 10, 30, 70, 150])), 100)
    own = [int(a < counted) for a in range(letters)]
    numbers = np.zeros((letters, n + 1))
    for a, added in enumerate(own):
        for k in range(n):
            numbers[a, k + added] = math.comb(n - 1, k) * counted**k * (letters - counted) ** (n - 1 - k)
    rounding = np.maximum(0, step - np.abs(np.arange(n + 1)[:, None] - step * np.arange(-(-n // step) + 1))) / step
    grid = Grid(WideCount(n, letters, epsilon, tuple(own)), step)
    problem = grid.problem(0.5)
    channel = record_channels(problem)[0]
    rows, log_shares = problem.channel, channel.completions.log_uniform
    assert np.allclose(np.exp(log_shares), numbers @ rounding / letters**n, rtol=1e-9)
    assert math.isclose(channel.max_knowledge, 0.5, abs_tol=1e-9)
    p = rng.gamma(rng.choice([0.05, 0.3, 1.0]), size=numbers.shape) * (numbers if seed % 2 else numbers > 0)
    p /= p.sum()
    rounded = p @ rounding
    told_by = noise(float(epsilon), range(n + 1))
    told = float(mutual_information(p @ told_by))
    assert told <= grid.lift(float(mutual_information(rounded @ rows))) + 1e-12
    assert entropy(rounded, numbers @ rounding * step) >= entropy(p, numbers) + math.log(step) - 1e-9
    assert math.isclose(grid.lift(grid.apply(0.25)), 0.25, rel_tol=1e-9)
    places = range(0, step * rounding.shape[1], step)
    assert np.all(told_by >= grid.share * rounding @ noise(float(epsilon), places) * (1 - 1e-12))
