"""What a mechanism tells, in closed form: definitions, ball arithmetic for tiny leakages, bounds for any numbers, bad input."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from campaigns import each
from dalenius.programs.mechanism import Leakages
from definitions import information
from support import refuses

SHAPES = [(1, 1, 1), (2, 2, 2), (3, 5, 4), (6, 2, 3)]  # letters, inputs, outputs


def random_leakages(rng, letters, inputs, priors=2):
    return Leakages(
        "test", [rng.dirichlet(np.full(letters * inputs, 0.5)).reshape(letters, inputs) for _ in range(priors)], inputs
    )


def exact(masses, Q):
    """I(A; Y) in ball arithmetic, all masses and rows normalised."""
    P = [[arb(float(m)) for m in row] for row in masses]
    total = sum((sum(row, arb(0)) for row in P), arb(0))
    rows = [[arb(float(x)) for x in row] for row in Q]
    sums = [sum(row, arb(0)) for row in rows]
    u = [
        [
            sum((m / total * row[y] / s for m, row, s in zip(ms, rows, sums, strict=True)), arb(0))
            for y in range(Q.shape[1])
        ]
        for ms in P
    ]
    pi, r = [sum(row, arb(0)) for row in u], [sum(column, arb(0)) for column in zip(*u, strict=True)]
    terms = [
        w * (w / (p * c)).log() for row, p in zip(u, pi, strict=True) for w, c in zip(row, r, strict=True) if w != 0
    ]
    return sum(terms, arb(0))


@each("shape", *SHAPES)
def test_values_are_mutual_informations(instances, shape):
    rng = np.random.default_rng(1)
    letters, inputs, outputs = shape
    for _ in range(10):
        leakages = random_leakages(rng, letters, inputs)
        Q = rng.dirichlet(np.full(outputs, 0.2), size=inputs)
        u = np.split(leakages.masses @ Q, leakages.first[1:])
        assert leakages.values(Q) == pytest.approx([information(part) for part in u], abs=1e-14)
        assert leakages.letter_entropies() == pytest.approx(
            [-np.sum(p * np.log(p)) for p in np.split(leakages.pi, leakages.first[1:])]
        )


@each("size", 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
def test_a_tiny_leakage_is_right_relative_to_itself(size):
    """Sums of u log u would be wrong by 1e-16, so that a budget of 0 would allow an error of 1e-8 in a mechanism."""
    ctx.prec = 300
    rng = np.random.default_rng(2)
    for _ in range(5):
        leakages = random_leakages(rng, 3, 4, priors=1)
        Q = np.tile(rng.dirichlet(np.ones(5)), (4, 1)) * (1.0 + size * rng.uniform(-1.0, 1.0, size=(4, 5)))
        Q /= Q.sum(axis=1, keepdims=True)
        truth = float(exact(leakages.masses, Q).mid())
        assert abs(leakages.values(Q)[0] - truth) <= 1e-15 * np.sqrt(truth) + 1e-30


def test_telling_nothing_is_worth_nothing():
    rng = np.random.default_rng(3)
    for _ in range(20):
        leakages = random_leakages(rng, 4, 5)
        assert leakages.values(np.tile(rng.dirichlet(np.full(3, 0.3)), (5, 1))).max() <= 1e-30


def test_ratios_are_those_of_the_posteriors_even_of_outputs_that_die():
    rng = np.random.default_rng(4)
    leakages = random_leakages(rng, 3, 4)
    for dying in (1e-3, 1e-30, 1e-200, 0.0):
        Q = rng.dirichlet(np.ones(3), size=4)
        Q[:, 0] *= dying
        ratios, u = leakages.log_ratios(Q), leakages.masses @ Q
        phi = u / np.where(u > 0.0, leakages.sums(u)[leakages.owner], 1.0)
        assert np.allclose(
            leakages.pi[:, None] * np.exp(ratios), np.where(u > 0.0, phi, leakages.pi[:, None]), rtol=1e-12
        )
        assert np.allclose(leakages.normalised(ratios), ratios, atol=1e-14)


@each("kind", "any", "huge", "tiny", "broken", "impossible")
def test_scores_bound_every_leakage_whatever_the_numbers(kind):
    rng = np.random.default_rng(5)
    for _ in range(30):
        leakages = random_leakages(rng, *rng.integers(1, 6, size=2))
        shape = (len(leakages.masses), 4)
        raw = rng.normal(size=shape) * {"huge": 1e200, "tiny": 1e-12}.get(kind, 3.0)
        if kind == "broken":
            raw = np.where(rng.random(shape) < 0.5, rng.choice([np.nan, np.inf, -np.inf], size=shape), raw)
        if kind == "impossible":
            raw[:] = -np.inf
        weights = rng.random(2) * 10.0 ** rng.uniform(-3, 9)
        scores, size = leakages.scores(weights, raw)
        laws = leakages.sums(leakages.pi[:, None] * np.exp(leakages.normalised(raw)))
        assert np.allclose(laws, 1.0, rtol=0.0, atol=1e-13)
        assert np.all(np.isfinite(scores))
        for _ in range(10):
            Q = rng.dirichlet(np.full(4, rng.choice([0.1, 1.0])), size=leakages.masses.shape[1])
            assert np.sum(Q * scores) <= weights @ leakages.values(Q) + 1e-15 * (np.sum(Q * size) + weights.sum())


def test_small_ratios_keep_their_relative_accuracy():
    """Multipliers of a budget near 0 are huge, and what they multiply is tiny."""
    rng = np.random.default_rng(6)
    leakages = random_leakages(rng, 3, 4, priors=1)
    z = rng.normal(size=(3, 2))
    scores, _ = leakages.scores(np.array([1e12]), z * 1e-12)
    assert np.allclose(scores, (leakages.masses.T @ (z - leakages.pi @ z)), rtol=0.0, atol=1e-10)


def test_a_tiny_letters_large_ratio_does_not_blur_the_small_one_of_the_others():
    pi = 1e-15
    leakages = Leakages("test", [np.array([[1.0 - pi, 0.0], [0.0, pi]])], 2)
    scores, _ = leakages.scores(np.ones(1), np.array([[0.0], [10.0]]))
    assert scores[0, 0] == pytest.approx(-pi * math.expm1(10.0), rel=1e-9)


def test_the_own_posteriors_score_the_leakage_itself():
    rng = np.random.default_rng(7)
    for _ in range(10):
        leakages, weights = random_leakages(rng, 3, 4), rng.random(2)
        Q = rng.dirichlet(np.ones(5), size=4)
        scores, _ = leakages.scores(weights, leakages.log_ratios(Q))
        assert np.sum(Q * scores) == pytest.approx(weights @ leakages.values(Q), abs=1e-14)


def test_letters_without_mass_are_dropped():
    prior = np.array([[0.5, 0.0], [0.0, 0.0], [0.25, 0.25]])
    leakages = Leakages("test", [prior, np.array([[0.5, 0.5]])], 2)
    assert leakages.masses.shape == (3, 2)
    assert leakages.owner.tolist() == [0, 0, 1]


test_bad_priors_are_refused = refuses(
    ([], "at least one prior"),
    ([np.full((2, 3), 1 / 6)], "prior 0: expected masses (letters, 2)"),
    ([np.eye(2) / 2, np.full(2, 0.5)], "prior 1: expected masses"),
    ([np.zeros((0, 2))], "expected masses"),
    ([np.eye(2)], "with sum 1"),
    ([np.array([[1.5, -0.5]])], "of at least 0"),
    ([np.array([[np.nan, 1.0]])], "of at least 0"),
    ([np.array([[np.inf, 1.0]])], "with sum 1"),
    ([np.zeros((2, 2))], "with sum 1"),
    by=lambda priors: Leakages("test", priors, 2),
)
