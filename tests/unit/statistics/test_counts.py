"""Counts of a black box: the bound is below the truth as often as is promised, below nothing it should be above, and labelled."""

import itertools
import math

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from dalenius.information.capacity import capacity
from dalenius.statistics.counts import clopper_pearson, least_information, mean_error

CHANNELS = [
    [[0.9, 0.1], [0.3, 0.7]],
    [[0.5, 0.5], [0.5, 0.5]],
    [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]],
    [[1.0, 0.0], [0.98, 0.02]],
]


def failures(channel, confidence, runs, repetitions, seed):
    """How often the bound is above the capacity."""
    random, truth = np.random.default_rng(seed), capacity(np.array(channel), gap=1e-9).upper
    found = (
        dl.audit_counts([random.multinomial(runs, row) for row in channel], confidence=confidence, units="nats").lower
        for _ in range(repetitions)
    )
    return sum(lower > truth + 1e-9 for lower in found)


@each("channel", *CHANNELS)
def test_it_is_below_the_truth_as_often_as_is_promised(channel):
    """Of so many experiments at 70 %; five standard deviations are left for chance."""
    repetitions = draws(8, 400)
    most = 0.3 * repetitions + 5 * math.sqrt(0.21 * repetitions)
    assert failures(channel, 0.7, 60, repetitions, seed=1) <= min(most, repetitions - 1)


def test_more_runs_show_more_and_a_known_channel_everything():
    few, many, most = (dl.audit_counts([[9 * k, k], [2 * k, 8 * k]]) for k in (10, 100, 100_000))
    truth = float(np.log2(math.e) * capacity(np.array([[0.9, 0.1], [0.2, 0.8]]), gap=1e-9).upper)
    assert 0 <= few.lower < many.lower < most.lower < truth < most.lower + 0.01
    assert few.epsilon < many.epsilon < most.epsilon < math.log(8) < most.epsilon + 0.03
    assert dl.audit_counts([[9, 1], [9, 1]]).lower == dl.audit_counts([[9, 1], [9, 1]]).epsilon == 0


def test_no_channel_of_the_box_tells_less():
    random = np.random.default_rng(3)
    for _ in range(draws(3, 50)):
        counts = np.array([random.multinomial(80, random.dirichlet(np.ones(3))) for _ in range(3)])
        low, high = clopper_pearson(counts, counts.sum(axis=1, keepdims=True), 0.1)
        prior = random.dirichlet(np.ones(3))
        bound = least_information(prior, low, high, counts / 80)
        for _ in range(200):
            channel = random.uniform(low, high)
            channel /= channel.sum(axis=1, keepdims=True)
            if ((low <= channel) & (channel <= high)).all():
                mean = prior @ channel
                assert bound <= np.sum(prior[:, None] * channel * np.log(np.maximum(channel, 1e-300) / mean)) + 1e-12


def test_intervals_hold_together():
    """All outcomes of 12 runs, weighed: the exact probability that an interval misses is at most what was asked for."""
    for p in (0.0, 0.03, 0.5, 0.9):
        missed = 0.0
        for k in range(13):
            low, high = clopper_pearson(np.array([k]), np.array([12]), 0.1)
            missed += (not low[0] <= p <= high[0]) * math.comb(12, k) * p**k * (1 - p) ** (12 - k)
        assert missed <= 0.1


def test_means_of_bounded_numbers():
    """All samples of 9 coins: as above."""
    for p in (0.1, 0.5):
        missed = 0.0
        for coins in itertools.product((0.0, 1.0), repeat=9):
            sample = np.array(coins)
            missed += (p > sample.mean() + mean_error(sample, 1.0, 0.2)) * math.prod(p if c else 1 - p for c in coins)
        assert missed <= 0.2
    values = np.tile([0.0, 1.0], 5000)
    assert mean_error(values, 1.0, 0.05) < 0.02 < mean_error(values[:100], 1.0, 0.05)


def test_it_says_that_it_is_no_proof():
    found = dl.audit_counts([[90, 10], [20, 80]])
    assert found.statistical
    assert "bits of 1 bit possible with a confidence of 95 %" in str(found)
    assert "statistical, never a proof" in str(found)
    assert "statistical, never a proof" in found._repr_html_()
    assert not hasattr(found, "certificate")
    named = dl.audit_counts([[90, 10], [20, 80]], prior=np.array([1, 3]))
    assert named.about == "I(input; output) under this prior"
    assert named.lower <= found.lower + 0.01


@each(
    "counts, more, said",
    ([[1, 2]], {}, "a row for each of two inputs"),
    ([[1, 2], [3]], {}, "as many outputs in every row"),
    ([[1, 2], [0, 0]], {}, "input 1 was never given"),
    ([[1, 2], [0.5, 1]], {}, "whole numbers"),
    ([[1, 2], [-1, 1]], {}, "whole numbers"),
    ([[1, 2], [3, 4]], {"confidence": 1.0}, "confidence: expected a number between 0 and 1"),
    ([[1, 2], [3, 4]], {"units": "bans"}, "units must be one of"),
    ([[1, 2], [3, 4]], {"prior": [1, 2, 3]}, "prior: expected 2 numbers"),
)
def test_what_cannot_be_used_is_one_clear_error(counts, more, said):
    with pytest.raises(dl.errors.InputError, match=said):
        dl.audit_counts(counts, **more)
