"""Local protocols: closed forms at a thousand inputs, and small ones against their channels, written out."""

import math
from fractions import Fraction

import pytest

import dalenius as dl
from campaigns import each, thinned

WEIGHTS = [5] * 300 + [3] * 300 + [2] * 400
LAW = [Fraction(weight, sum(WEIGHTS)) for weight in WEIGHTS]
SMALL = [Fraction(weight, 14) for weight in (3, 3, 3, 3, 2)]
PROTOCOLS = {
    "bits": lambda epsilon, k: dl.optimized_unary_encoding(epsilon),
    "subsets": lambda epsilon, k: dl.subset_selection(epsilon, size=max(k // 4, 2)),
    "hadamard": lambda epsilon, k: dl.hadamard_response(epsilon),
    "hashing": lambda epsilon, k: dl.local_hashing(epsilon, buckets=2 if k < 10 else 4),
    "randomised response": lambda epsilon, k: dl.subset_selection(epsilon, size=1),
}
NEAR = [
    lambda law: dl.KLBallPriors(law, "0.01"),
    lambda law: dl.L1BallPriors(law, "0.2"),
    lambda law: dl.ChiSquareBallPriors(law, "0.02"),
    lambda law: dl.BoxPriors([p * 4 / 5 for p in law], [p * 6 / 5 for p in law]),
    lambda law: dl.FloorPriors(Fraction(1, 2 * len(law))),
    lambda law: dl.PolytopePriors([law, law[::-1]]),
    lambda law: dl.ProductPriors(),
]


def question(support, mechanism, adversary, k):
    return support.problem([k], dl.Identity(), mechanism, adversary)


@pytest.mark.parametrize("size", thinned([100, 1, 500], every=3))
def test_subsets_against_everybody(support, size):
    """All outputs are equally likely under the uniform law, which is the worst by symmetry."""
    inside = size * 3
    exact = (inside * math.log(3.0) - (inside + 1000 - size) * math.log((inside + 1000 - size) / 1000)) / (
        inside + 1000 - size
    )
    result = dl.solve(question(support, dl.subset_selection("log 3", size=size), dl.ProductPriors(), 1000), gap=1e-9)
    assert result.lower - 1e-13 <= exact <= result.upper + 1e-13
    assert result.gap <= 1e-8


@each("name, near", *thinned([(name, j) for name in PROTOCOLS for j in range(len(NEAR))], every=4))
def test_small_ones_against_their_channels(support, name, near):
    mechanism, adversary = PROTOCOLS[name](Fraction(4, 5), 5), NEAR[near](SMALL)
    problem = question(support, mechanism, adversary, 5)
    closed = dl.solve(problem, gap=1e-8)
    assert closed.gap <= 1e-8
    assert not closed.refusals
    written = dl.solve(question(support, dl.Channel(problem.channel.round(15)), adversary, 5), gap=1e-8)
    assert closed.lower <= written.upper + 1e-9
    assert written.lower - 1e-9 <= closed.upper


@pytest.mark.thorough
@pytest.mark.parametrize("name", thinned(list(PROTOCOLS), every=3))
def test_a_thousand_inputs_near_a_law_with_three_probabilities(support, name):
    mechanism = PROTOCOLS[name](1, 1000)
    center = question(support, mechanism, dl.KLBallPriors(LAW, 0), 1000)
    near = question(support, mechanism, dl.KLBallPriors(LAW, "0.01"), 1000)
    alone, result = dl.solve(center, gap=1e-8), dl.solve(near, gap=1e-8)
    assert result.gap <= 1e-8
    assert not result.refusals
    assert alone.upper < result.lower  # the ball matters
    assert dl.verify(near, result.certificate).proved


def test_inputs_that_several_letters_have(support):
    """A threshold's two values are told by randomised response: the letters share an input, and the class still has three."""
    adversary = dl.KLBallPriors([0.5, 0.3, 0.2], 0.1)
    query = dl.Sum([0, 0, 1])
    closed = dl.solve(support.problem([3], query, dl.subset_selection(1, size=1), adversary), gap=1e-8)
    written = dl.solve(support.problem([3], query, dl.randomized_response(1), adversary), gap=1e-8)
    support.assert_overlap(closed, written)
    assert closed.gap <= 1e-8


def test_a_plan_that_would_be_too_large_leaves_a_wide_interval(support):
    law = [Fraction(2 * j + 1, 10000) for j in range(100)]
    result = dl.solve(question(support, dl.subset_selection(1, size=27), dl.KLBallPriors(law, "0.01"), 100), gap=1e-8)
    assert result.lower == 0.0
    assert result.upper < 0.2
