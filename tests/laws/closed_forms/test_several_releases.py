"""Several releases of one value against listing all sequences of outputs, and reference values."""

import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.model.mechanisms.independent_releases import PARTS
from support import refuses

DOCS = (Path(__file__).parents[3] / "docs/model-format.md").read_text()


def one_letter(mechanism, letters=3):
    return support.problem(dl.Records(1, alphabet=letters), dl.Identity(), mechanism, dl.ProductPriors())


def test_the_format_names_the_kinds_that_are_known():
    (named,) = re.findall(r"each of `parts` is a table like `\[mechanism\]` of one of the kinds (.*?), with", DOCS)
    assert re.findall(r"`(\w+)`", named) == [*PARTS]


@each("epsilon, times, bits", (3, 4, 1.5450371213699), (0.1, 64, 0.1010634226316))
def test_ternary_randomised_response(epsilon, times, bits):
    """The linear rule, four times the leakage of one answer, says 4.224 bits of at most log2 3."""
    question = one_letter(dl.several_releases(dl.randomized_response(epsilon), times=times))
    assert question.shape == (3, math.comb(times + 2, 2))
    result = dl.solve(question, gap=1e-6).to("bits")
    assert result.lower - 1e-12 <= bits <= result.upper + 1e-12
    assert result.gap <= 1e-6


def sequences(channels):
    """The channel of all outputs in their order."""
    return np.array(
        [
            [math.prod(chosen) for chosen in itertools.product(*(channel[v] for channel in channels))]
            for v in range(len(channels[0]))
        ]
    )


@each(
    "mechanisms",
    (dl.randomized_response(1), dl.randomized_response(1), dl.randomized_response(1)),
    (dl.geometric(0.5), dl.symmetric(0.2), dl.geometric(0.5)),
    (dl.Channel([["1/2", "1/2", 0], [0, 1, 0], ["1/3", "1/3", "1/3"]]), dl.exponential(1)),
)
def test_types_tell_as_much_as_sequences(support, mechanisms):
    question = one_letter(dl.several_releases(*mechanisms))
    values = np.arange(3)
    listed = sequences([mechanism.channel(values) for mechanism in mechanisms])
    law = np.array([0.5, 0.2, 0.3])
    told = law @ support.divergences(question.channel, law @ question.channel)
    assert told == pytest.approx(law @ support.divergences(listed, law @ listed), rel=1e-12)
    support.assert_contains(dl.solve(question), support.capacity(listed)[0], gap=1e-5)
    entries = question.mechanism.exact_entries(values)
    doubles = np.array(
        [float(x.mid()) if hasattr(x, "mid") else int(x.p) / int(x.q) for x in entries.numbers], dtype=float
    )
    np.testing.assert_allclose(doubles[entries.index], question.channel, atol=1e-15)
    assert len(question.mechanism.output_labels(values)) == question.shape[1]
    assert dl.loads(dl.dumps(question)) == question


def test_a_release_of_no_use_adds_nothing(support):
    useful = dl.solve(one_letter(dl.randomized_response(1)))
    both = dl.solve(one_letter(dl.several_releases(dl.randomized_response(1), dl.Channel([["1/2", "1/2"]] * 3))))
    support.assert_overlap(useful, both)


test_releases_that_cannot_be = refuses(
    (lambda: dl.several_releases(), "at least one"),
    (lambda: dl.several_releases(dl.hadamard_response(1)), "knows matrix"),
    (lambda: dl.several_releases(dl.symmetric(0.1), times=0), "at least 1"),
    (lambda: dl.several_releases(dl.Channel([[1.0]], inputs="dataset")), "query's values"),
    (lambda: one_letter(dl.several_releases(dl.symmetric(0.1), times=5000)), "fewer releases"),
    (lambda: dl.loads(dl.dumps(one_letter(dl.several_releases(dl.symmetric(0.1)))).replace("times", "t")), "t"),
    (lambda: dl.loads(dl.dumps(one_letter(dl.several_releases(dl.symmetric(0.1)))).replace('"symmetric"', '"x"')), "x"),
)


@each("mechanism", dl.randomized_count(0.7), dl.randomized_count(flip="1/3"), dl.randomized_count(flip=1))
def test_a_count_of_randomised_answers_is_what_it_says(mechanism):
    """By listing which bits are turned round."""
    flip = float(mechanism.flip) if mechanism.flip is not None else 1 / (1 + math.exp(0.7))
    n, expected = 4, np.zeros((5, 5))
    for v in range(n + 1):
        for turned in itertools.product((0, 1), repeat=n):
            ones = sum((i < v) ^ t for i, t in enumerate(turned))
            expected[v, ones] += math.prod(flip if t else 1 - flip for t in turned)
    np.testing.assert_allclose(mechanism.channel(np.arange(5)), expected, atol=1e-15)
    entries = mechanism.exact_entries(np.arange(5))
    doubles = np.array(
        [float(x.mid()) if hasattr(x, "mid") else int(x.p) / int(x.q) for x in entries.numbers], dtype=float
    )
    np.testing.assert_allclose(doubles[entries.index], expected, atol=1e-15)


test_counts_that_cannot_be = refuses(
    (lambda: dl.randomized_count(), "either epsilon or flip"),
    (lambda: dl.randomized_count(1, flip=0.1), "either epsilon or flip"),
    (lambda: dl.randomized_count(flip=1.1), "from 0 to 1"),
    (lambda: dl.randomized_count(1).channel(np.array([0, 2])), "0, 1, ..., n"),
    (lambda: dl.randomized_count(1).channel(np.arange(5000)), "fewer records"),
)


# Local protocols: closed forms at a thousand inputs, and small ones against their channels, written out.


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
