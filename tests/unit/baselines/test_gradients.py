"""Theorem 8: the closed forms against finite differences of plain sums over datasets."""

import numpy as np
import pytest
from scipy.optimize import minimize

from campaigns import each
from dalenius.baselines.gradients import (
    channel_gradient,
    conditional_gradient,
    leakage,
    on_entropy_boundary,
    on_simplex,
    projected_step,
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
    assert channel_gradient(np.stack([masses, masses[::-1]]), Q[0])[0] == pytest.approx(slopes, abs=1e-8)


def test_of_the_conditional(instance):
    """Theorem 8.3."""
    pi, w, Q = instance
    slopes = differences(lambda v: information(pi, v, Q), w)
    for a in range(len(pi)):
        assert conditional_gradient(pi, through(w, Q), a, Q[a]) == pytest.approx(slopes[a], abs=1e-8)


# Algorithms 4 and 5 against general-purpose optimisers.


def entropy(law, log_counts):
    return float(law @ log_counts - np.sum(law * np.log(np.maximum(law, 1e-300))))


def random_row(seed):
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(2, 7))
    counts = rng.integers(1, 20, size=cells) if seed % 2 else np.ones(cells)
    return rng, rng.dirichlet(np.ones(cells)), np.log(counts.astype(float))


@each("seed", *range(8))
def test_the_simplex_projection_is_the_nearest_law(seed):
    rng, _, log_counts = random_row(seed)
    shares = np.exp(log_counts) / np.exp(log_counts).sum()
    x = rng.normal(size=shares.size)
    w = on_simplex(x, shares)
    assert w.sum() == pytest.approx(1.0)
    assert w.min() >= 0.0
    found = minimize(
        lambda v: np.sum((v - x) ** 2 / shares),
        shares,
        bounds=[(0, 1)] * x.size,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1.0},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert np.sum((w - x) ** 2 / shares) <= found.fun + 1e-9
    assert w == pytest.approx(found.x, abs=1e-4)


@each("seed", *range(8))
def test_the_entropy_projection_is_the_nearest_law_with_that_entropy(seed):
    """min D(q || w) with H(q) >= target, for a target above H(w): a convex program."""
    rng, w, log_counts = random_row(seed)
    least, most = entropy(w, log_counts), float(np.log(np.exp(log_counts).sum()))
    target = least + rng.uniform(0.2, 0.8) * (most - least)
    q = on_entropy_boundary(w, log_counts, target)
    assert entropy(q, log_counts) == pytest.approx(target, abs=1e-9)

    def distance(v):
        return float(np.sum(v * np.log(np.maximum(v, 1e-300) / w)))

    found = minimize(
        distance,
        np.exp(log_counts) / np.exp(log_counts).sum(),
        bounds=[(1e-12, 1)] * w.size,
        constraints=[
            {"type": "eq", "fun": lambda v: v.sum() - 1.0},
            {"type": "ineq", "fun": lambda v: entropy(v, log_counts) - target},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert distance(q) <= found.fun + 1e-7


@each("seed", *range(20))
def test_every_entropy_above_the_sharpest_power_is_met_from_either_side(seed):
    rng, w, log_counts = random_row(seed)
    counts = np.exp(log_counts)
    top = np.argmax(w / counts)
    low, high = log_counts[top], float(np.log(counts.sum()))
    target = low + rng.uniform(0.01, 0.99) * (high - low)
    q = on_entropy_boundary(w, log_counts, target)
    assert entropy(q, log_counts) == pytest.approx(target, abs=1e-9)
    assert np.argmax(q / counts) == top


def test_what_cannot_be_met():
    ties = on_entropy_boundary(np.array([0.4, 0.4, 0.2]), np.zeros(3), 0.1)
    assert ties == pytest.approx([0.5, 0.5, 0.0], abs=1e-6)
    assert on_entropy_boundary(np.array([0.9, 0.1]), np.zeros(2), 5.0) == pytest.approx([0.5, 0.5])
    assert on_entropy_boundary(np.full(4, 0.25), np.zeros(4), 0.3) == pytest.approx([0.25] * 4)
    assert entropy(on_entropy_boundary(np.array([1.0, 0.0, 0.0]), np.zeros(3), 0.5), np.zeros(3)) == pytest.approx(0.5)


@each("seed", *range(10))
def test_a_step_is_feasible_and_seen_the_same_through_classes(seed):
    """Datasets with equal rows, each with its share of the class's mass, against the class itself."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, size=4)
    w, gradient = rng.dirichlet(np.ones(4)), rng.normal(size=4)
    target = rng.uniform(0.6, 0.95) * np.log(counts.sum())
    by_class = projected_step(w, gradient, 3.0, np.log(counts), target)
    by_dataset = projected_step(
        np.repeat(w / counts, counts), np.repeat(gradient, counts), 3.0, np.zeros(counts.sum()), target
    )
    assert by_dataset == pytest.approx(np.repeat(by_class / counts, counts), abs=1e-9)
    assert by_class.sum() == pytest.approx(1.0)
    assert entropy(by_class, np.log(counts)) >= target - 1e-10
