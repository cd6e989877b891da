"""Information of Gaussian inputs through Gaussian noise: the saddle of Theorem 3, its curvature, and what is no covariance."""

import math

import cvxpy as cp
import numpy as np
import pytest
from flint import arb

from campaigns import draws, each
from dalenius.conversions.gaussian import gaussian_information, saddle_value
from dalenius.errors import InputError
from dalenius.programs import certify


def covariance(random, size, trace):
    """A random one with this trace, in eighths of a thousandth, so that doubles hold it."""
    root = random.normal(size=(size, size)) * random.choice([0.2, 1.0, 5.0], size=size)
    found = root @ root.T
    return np.round(found * trace / np.trace(found) * 8000) / 8000 + np.eye(size) / 1000


def told(signal, noise):
    return float(gaussian_information(signal, noise))


@each("dimension, power, noise, bits", (1, 1, 1, 0.5), (10, 1, 10, 0.6875176187497), (3, 4, 5, 1.271995359832))
def test_multiples_of_the_identity(dimension, power, noise, bits):
    one = np.eye(dimension, dtype=int)
    found = gaussian_information(power * one, noise * one)
    assert float(found / arb(2).log()) == pytest.approx(bits, rel=1e-12)
    assert found.overlaps(saddle_value(arb(power), arb(noise), dimension))


def test_the_saddle_and_the_curvature_on_each_side_of_it():
    random = np.random.default_rng(19)
    for _ in range(draws(10, 300)):
        size = int(random.integers(2, 5))
        one, power, noise = np.eye(size), 2.0, 3.0
        value = told(power * one, noise * one)
        signals, noises = ([covariance(random, size, size * least) for _ in range(2)] for least in (power, noise))
        spread = [signal * (size * power / np.trace(signal)) for signal in signals]
        exact = np.linalg.slogdet(np.eye(size) + np.linalg.solve(noises[0], signals[0]))[1] / 2
        assert told(signals[0], noises[0]) == pytest.approx(exact, rel=1e-9)
        for signal, other in zip(spread, noises, strict=True):
            assert told(((signal + signal.T) / 2), noise * one) <= value + 1e-12
            small = other * (size * noise / np.trace(other))
            assert told(power * one, (small + small.T) / 2) >= value - 1e-12
        ends = [told(signal, noises[0]) for signal in signals]
        assert told((signals[0] + signals[1]) / 2, noises[0]) >= sum(ends) / 2
        ends = [told(signals[0], other) for other in noises]
        assert told(signals[0], (noises[0] + noises[1]) / 2) <= sum(ends) / 2


def test_the_least_noise_as_a_convex_program():
    """Eq. (19) in eigenvalues, -log(1 - a/(y+a)): a solver's 1.2719953607 bits, for d = 3, Delta = 2, sigma^2 = 5, certified around
    the closed form."""
    y = cp.Variable(3, bounds=[0.01, 20], name="y")
    model = cp.Problem(cp.Minimize(-cp.sum(cp.log(1 - 4 * cp.inv_pos(y + 4))) / 2), [cp.sum(y) <= 15])
    found = certify(model)
    exact = 3 * math.log(1 + 4 / 5) / 2
    assert found.lower <= exact <= found.upper <= exact + 1e-8
    assert found.lower <= 1.2719953607 * math.log(2) <= found.upper
    np.testing.assert_allclose(found.values["y"], 5, atol=1e-4)


def test_what_is_no_covariance_is_refused():
    one = [[1, 0], [0, 1]]
    assert told([[1, 1], [1, 1]], one) == pytest.approx(math.log(3) / 2)
    assert told([[0, 0], [0, 0]], one) == 0.0
    for signal, noise, reason in (
        ([[0, 1], [1, 0]], one, "semidefinite"),
        ([[1, 2], [2, 1]], one, "semidefinite"),
        ([[-1, 0], [0, 1]], one, "semidefinite"),
        (one, [[1, 1], [1, 1]], "singular"),
        ([[1, 0.5], [0.4, 1]], one, "symmetric"),
        ([[1, 0]], one, "square"),
        ([[1]], one, "size"),
    ):
        with pytest.raises(InputError, match=reason):
            gaussian_information(signal, noise)
