"""The best mixture of laws where something is given besides: against a cone program, and where nothing is, the capacity's own."""

import cvxpy as cp
import numpy as np
import pytest

from campaigns import draws, each
from dalenius.information.capacity import best_mixture
from dalenius.information.law_classes import GivenChannel, best_given_mixture, worst_law
from dalenius.information.measures import AllPriors
from dalenius.information.measures.numbers import doubles


def value(w, joints, negentropy):
    mixed = np.tensordot(w, joints, axes=1)
    masses = mixed.sum(axis=1, keepdims=True)
    shares = np.divide(mixed, masses, out=np.ones_like(mixed), where=mixed > 0.0)
    return float(w @ negentropy - np.sum(mixed * np.log(shares)))


@each("seed", *range(draws(2, 60)))
def test_mixtures_are_the_best_there_are(seed):
    draw = np.random.default_rng(seed)
    laws, values, outputs = draw.integers(2, 30), draw.integers(1, 5), draw.integers(2, 6)
    joints = draw.dirichlet(np.full(values * outputs, 0.5), laws).reshape(laws, values, outputs)
    negentropy = draw.normal(size=laws) * 0.05
    found = best_given_mixture(joints, negentropy)
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(1.0)
    w = cp.Variable(laws, nonneg=True)
    goal = negentropy @ w
    for c in range(values):
        goal -= sum(cp.rel_entr(w @ joints[:, c, y], w @ joints[:, c].sum(axis=1)) for y in range(outputs))
    best = float(cp.Problem(cp.Maximize(goal), [cp.sum(w) == 1]).solve(solver=cp.CLARABEL))
    assert value(found, joints, negentropy) >= best - 1e-8
    if values == 1:
        assert value(found, joints, negentropy) == pytest.approx(
            value(best_mixture(joints[:, 0], negentropy), joints, negentropy)
        )


def test_over_all_laws_the_value_with_the_largest_capacity_has_all_the_mass():
    rows = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.4, 0.6]])
    channel = GivenChannel(rows, np.arange(4), np.array([0, 0, 1, 1]), np.full((2, 2), 0.5))
    assert doubles(worst_law(channel, AllPriors()).law)[:2].sum() == pytest.approx(1.0, abs=1e-6)
