"""Theorems 8 and 9: the closed forms against finite differences of plain sums over datasets."""

import numpy as np
import pytest

from dalenius.baselines.gradients import (
    channel_gradient,
    conditional_entropy_gradient,
    conditional_gradient,
    joint_entropy_gradient,
    leakage,
    marginal_entropy_gradient,
    marginal_gradient,
    through,
)

STEP = 1e-6


@pytest.fixture(params=range(4))
def instance(request):
    """pi (letters,), w (letters, cells), Q (letters, cells, outputs), all positive."""
    rng = np.random.default_rng(request.param)
    letters, cells, outputs = rng.integers(2, 5, size=3)
    pi, w = rng.dirichlet(np.full(letters, 5.0)), rng.dirichlet(np.full(cells, 5.0), size=letters)
    return pi, w, rng.dirichlet(np.full(outputs, 5.0), size=(letters, cells))


def information(pi, w, Q):
    """I by its definition, with every coordinate free: sum u log(u / (pi r)), u = pi w Q."""
    u = np.einsum("a,ak,aky->ay", pi, w, Q)
    K, r = u / pi[:, None], u.sum(axis=0)
    return float(np.sum(u * np.log(K / r)))


def joint_entropy(pi, w):
    """H(X_i) + sum_a pi_a H(w_a), with every coordinate free."""
    return float(-np.sum(pi * np.log(pi)) - np.sum(pi[:, None] * w * np.log(w)))


def differences(function, at):
    """Central differences in every coordinate."""
    slopes = np.empty(at.shape)
    for place in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[place] += STEP
        down[place] -= STEP
        slopes[place] = (function(up) - function(down)) / (2 * STEP)
    return slopes


def test_leakage_is_the_definition(instance):
    pi, w, Q = instance
    assert leakage(pi, through(w, Q)) == pytest.approx(information(pi, w, Q), abs=1e-14)


def test_of_the_channel(instance):
    """Theorem 8.1, on datasets: an input belongs to one letter."""
    pi, w, Q = instance
    letters, cells, outputs = Q.shape
    masses = np.zeros((letters, letters * cells))
    for a in range(letters):
        masses[a, a * cells : (a + 1) * cells] = pi[a] * w[a]
    found = channel_gradient(masses, Q.reshape(-1, outputs)).reshape(Q.shape)
    assert found == pytest.approx(differences(lambda q: information(pi, w, q), Q), abs=1e-8)


def test_of_a_channel_that_letters_share(instance):
    pi, w, Q = instance
    masses = pi[:, None] * w
    slopes = differences(lambda q: information(pi, w, np.broadcast_to(q, Q.shape)), Q[0])
    assert channel_gradient(masses, Q[0]) == pytest.approx(slopes, abs=1e-8)
    stacked = channel_gradient(np.stack([masses, masses[::-1]]), Q[0])
    assert stacked[0] == pytest.approx(slopes, abs=1e-8)


def test_of_the_marginal(instance):
    """Theorem 8.2."""
    pi, w, Q = instance
    slopes = differences(lambda p: information(p, w, Q), pi)
    assert marginal_gradient(pi, through(w, Q)) == pytest.approx(slopes, abs=1e-8)


def test_of_the_conditional(instance):
    """Theorem 8.3."""
    pi, w, Q = instance
    slopes = differences(lambda v: information(pi, v, Q), w)
    for a in range(len(pi)):
        assert conditional_gradient(pi, through(w, Q), a, Q[a]) == pytest.approx(slopes[a], abs=1e-8)


def test_of_the_entropy(instance):
    """Theorem 9."""
    pi, w, _ = instance
    law = (pi[:, None] * w).ravel()
    assert joint_entropy_gradient(law) == pytest.approx(
        differences(lambda p: float(-np.sum(p * np.log(p))), law), abs=1e-7
    )
    spread = -np.sum(w * np.log(w), axis=1)
    slopes = differences(lambda p: joint_entropy(p, w), pi)
    assert marginal_entropy_gradient(pi, spread) == pytest.approx(slopes, abs=1e-7)
    slopes = differences(lambda v: joint_entropy(pi, v), w)
    for a in range(len(pi)):
        assert conditional_entropy_gradient(pi, a, w[a]) == pytest.approx(slopes[a], abs=1e-7)


def test_of_the_entropy_with_counts(instance):
    pi, w, _ = instance
    counts = np.arange(1.0, w.shape[1] + 1.0)
    slopes = differences(lambda v: joint_entropy(pi, v) + float(np.sum(pi[:, None] * v * np.log(counts))), w)
    assert conditional_entropy_gradient(pi, 0, w[0], np.log(counts)) == pytest.approx(slopes[0], abs=1e-7)


def test_the_marginal_gradient_is_flat_at_the_capacity():
    """Kuhn and Tucker: at a maximum over pi all D(K_a || r) are equal."""
    K = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert np.ptp(marginal_gradient(np.array([0.5, 0.5]), K)) == pytest.approx(0.0, abs=1e-15)
