"""The scales of other Pufferfish mechanisms: the values of their theorems, and what a quilt hides."""

import math
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius.baselines import markov_quilt_scale, wasserstein_distance, wasserstein_scale
from support import refuses

FAIR = {0: 0.5, 1: 0.5}


def test_wasserstein():
    assert wasserstein_distance(FAIR, {0: 0.25, 1: 0.25, 3: 0.5}) == 2
    assert wasserstein_distance(FAIR, FAIR) == 0
    assert wasserstein_distance({0: 1}, {7: 2, 5: 0}) == 7
    assert wasserstein_scale([(FAIR, {1: 1}), (FAIR, {0: 0.25, 1: 0.25, 3: 0.5})], 0.5) == Fraction(4)


def test_a_quilt_by_hand():
    """Three records, the middle one, lambda = 0.2: both neighbours, one, or nobody."""
    e = math.log(1.2 / 0.8)
    by_hand = min(1 / (2 - 2 * e), 2 / (2 - e), 3 / 2)
    assert markov_quilt_scale(dl.MarkovChain(0.4, 0.4, record=1), dl.Records(3, alphabet=2), 2) == pytest.approx(
        by_hand
    )


def test_less_is_hidden_where_less_depends():
    records, scales = dl.Records(200, alphabet=2), []
    for move in (0.05, 0.2, 0.4, 0.5):
        scales.append(markov_quilt_scale(dl.MarkovChain(move, move), records, 1))
    assert scales == sorted(scales, reverse=True)
    assert scales[-1] == pytest.approx(1)  # independent bits: the record itself
    assert scales[0] <= 200


test_refused = refuses(
    (lambda: wasserstein_scale([], 1), "at least one pair"),
    (lambda: wasserstein_scale([(FAIR, FAIR)], 0), "above 0"),
    (lambda: wasserstein_distance({0: -1, 1: 2}, FAIR), "at least 0"),
    (lambda: wasserstein_distance({}, FAIR), "at least 0"),
    (lambda: markov_quilt_scale(dl.MarkovChain(0.6, 0.6), dl.Records(4, alphabet=2), 1), "at most 1"),
    (lambda: markov_quilt_scale(dl.MarkovChain(0.1, 0.1, start="any"), dl.Records(4, alphabet=2), 1), "stationary"),
)
