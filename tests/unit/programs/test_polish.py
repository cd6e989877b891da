"""The search for a multiplier: as near as Brent's, with fewer values, and over kinks and flat stretches, too."""

import math

import pytest

from campaigns import each
from dalenius.programs.polish import polished


def smooth(mu):
    return math.hypot(1.0, mu - 3.0) + 0.5 * mu


def inverse(mu):
    return mu + 4.0 / mu if mu else math.inf


def kinks(mu):
    return max(1.0 - mu, 0.1 - 0.01 * mu, 3.0 * (mu - 2.0))


def corner(mu):
    return max(1.0 - mu, 1e4 * (mu - 1.0))


@each(
    "function, mu, best, most",
    (inverse, 2.0001, 2.0, 12),  # known but for rounding, as a solver's multiplier is
    (inverse, 0.01, 2.0, 37),
    (smooth, 1.0, 3.0 - math.sqrt(1 / 3), 32),
    (kinks, 1.0, 6.1 / 3.01, 25),
    (corner, 1.0001, 1.0, 10),
    (lambda mu: 1.0 + mu, 1.0, 0.0, 2),
    (lambda mu: abs(mu - 1e-3) if mu > 1e-6 else math.inf, 1e-6, 1e-3, 18),
)
def test_the_least_value_is_found_in_few(function, mu, best, most):
    asked = []
    found = polished(lambda x: asked.append(x) or function(x), mu)
    assert found == pytest.approx(best, rel=1e-4)
    assert function(found) <= min(function(best * (1.0 + step)) for step in (-1e-3, 0.0, 1e-3)) + 1e-13
    assert len(asked) <= most


def test_nothing_below_the_least_multiplier_is_asked_for():
    asked = []
    assert polished(lambda x: asked.append(x) or x * x, 1.0, 0.25) == 0.25
    assert polished(lambda x: asked.append(x) or x * x, 0.25, 0.25) == 0.25
    assert min(asked) == 0.25


@each("mu", 1e-20, 1e-14, 1e14, 1e20)
def test_a_multiplier_far_from_1_is_not_lost(mu):
    def function(x):
        return math.hypot(1.0, x / mu - 1.0)

    assert function(polished(function, mu)) <= 1.0
