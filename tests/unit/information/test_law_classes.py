"""Parts of classes with few different probabilities: inside the class, and what protocols with many of them are proved with."""

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.information.capacity import best_mixture
from dalenius.information.law_classes import GivenChannel, best_given_mixture, worst_law
from dalenius.information.measures import AllPriors, ChiSquareBall, KLBall, PriorBall, PriorBox, PriorFloor
from dalenius.information.measures.numbers import doubles

WEIGHTS = [100 + 7 * (7 * a % 12) for a in range(24)]
CENTER = np.array([fmpq(w, sum(WEIGHTS)) for w in WEIGHTS], dtype=object)


@each("priors", PriorBall(CENTER, fmpq(1, 5)), KLBall(CENTER, fmpq(1, 50)), ChiSquareBall(CENTER, fmpq(1, 20)))
def test_laws_of_the_part_are_in_the_class(priors):
    rng, part = np.random.default_rng(1), priors.coarser(3)
    assert part is not None
    assert len(set(part.center.tolist())) == 3
    assert 0 < part.radius < priors.radius
    for _ in range(5):
        levels = {x: fmpq(int(k), 100) for x, k in zip(set(part.center.tolist()), rng.integers(0, 100, 3), strict=True)}
        law = part.exact_law(np.array([levels[x] for x in part.center.tolist()], dtype=object))
        if isinstance(priors, PriorBall):
            assert sum(abs(p - q) for p, q in zip(law, CENTER, strict=True)) <= priors.radius
        else:
            assert priors.distance(law, CENTER) <= priors.radius


def test_boxes_and_what_has_no_part():
    box = PriorBox(CENTER * fmpq(9, 10), CENTER * fmpq(11, 10)).coarser(6)
    assert all(low >= q * fmpq(9, 10) for low, q in zip(box.low, CENTER, strict=True))
    assert all(high <= q * fmpq(11, 10) for high, q in zip(box.high, CENTER, strict=True))
    assert AllPriors().coarser(2) == AllPriors()
    assert PriorFloor(fmpq(1, 100)).coarser(2) == PriorFloor(fmpq(1, 100))
    assert KLBall(CENTER, fmpq(1, 10**6)).coarser(2) is None
    assert KLBall(np.array([fmpq(0), fmpq(1)]), fmpq(1, 10)).coarser(2) is None


@each("adversary", dl.KLBallPriors, dl.L1BallPriors)
def test_sets_over_many_different_probabilities(adversary):
    """More than a closed form sums over: there was nothing from below."""
    weights = [100 + 7 * (7 * a % 12) for a in range(48)]
    problem = support.problem(
        dl.Records(1, alphabet=48),
        dl.Identity(),
        dl.subset_selection(1, size=13),
        adversary([f"{w}/{sum(weights)}" for w in weights], "0.1"),
    )
    answer = dl.solve(problem, gap=1e-8)
    assert answer.lower > 0
    assert answer.gap <= 1e-3
    assert dl.verify(problem, answer.certificate).proved


# The best mixture of laws where something is given besides: against a cone program, and where nothing is, the capacity's own.


def value(w, joints, negentropy):
    mixed = np.tensordot(w, joints, axes=1)
    shares = np.divide(mixed, mixed.sum(axis=1, keepdims=True), out=np.ones_like(mixed), where=mixed > 0.0)
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


def test_probabilities_that_nearly_underflow_have_finite_divergences():
    """The mean of two of them was 0, and `solve` ended with an OverflowError."""
    rows = np.array([[1.0, 5e-324], [1.0, 0.0]])
    worst = worst_law(GivenChannel.plain(rows), PriorFloor(fmpq(1, 10)))
    assert sum(worst.law) == 1
