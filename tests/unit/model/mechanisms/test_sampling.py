"""Samplers draw with the probabilities of their formula: frequencies beside exact probabilities, and exact moments of small cases."""

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dalenius as dl
from campaigns import draws
from dalenius.model.mechanisms.sampling import discrete_gaussian_noise, discrete_laplace_noise

LAWS = {
    "laplace": (discrete_laplace_noise, lambda k, scale: np.exp(-np.abs(k) / scale)),
    "gaussian": (discrete_gaussian_noise, lambda k, scale: np.exp(-(k**2) / (2 * scale**2))),
}
SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(20)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", LAWS)
def test_frequencies_are_the_formula_s(kind, scale):
    """A chi-square statistic of fixed draws, over integers that are expected often enough; a wrong sign of 0 is seen at once."""
    draw, weight = LAWS[kind]
    number = draws(thin=2000, full=40_000, campaign=1_000_000)
    rng = random.Random(f"{kind} {scale}")
    seen = Counter(draw(scale, rng) for _ in range(number))
    assert likely(seen, np.arange(-2000, 2001), weight(np.arange(-2000, 2001), float(scale)), 10) > 1e-4


def likely(seen, places, weights, least):
    """The chi-square test of these counts: places that are expected so often at least, and all others together."""
    number = seen.total()
    expected = number * weights / weights.sum()
    often = expected >= least
    got, expected = np.array([seen[k] for k in places[often].tolist()]), expected[often]
    rest, others = number - got.sum(), number - expected.sum()
    statistic = ((got - expected) ** 2 / expected).sum() + (rest - others) ** 2 / max(others, 1)
    return stats.chi2.sf(statistic, often.sum())


def test_a_numpy_generator_and_the_system_s_entropy_draw_the_same_kind_of_number():
    for rng in (np.random.default_rng(1), None):
        assert all(isinstance(draw(Fraction(3), rng), int) for draw, _ in LAWS.values())


NOISY = {  # the law, its scale, and where it is clamped
    "discrete_laplace 0.5": ("laplace", 2.0, (-2000, 2000)),
    "geometric 0.5": ("laplace", 2.0, (0, 6)),
    "discrete_gaussian scale = 3": ("gaussian", 3.0, (-2000, 2000)),
    "discrete_gaussian scale = 3, range = [-1, 7]": ("gaussian", 3.0, (-1, 7)),
}


@pytest.mark.parametrize("noise", NOISY)
def test_what_is_released_has_the_probabilities_that_were_audited(noise):
    """The outputs of many simulations beside the formula at the true count of 3, clamped."""
    problem = dl.WorstCaseLeakage(records=dl.Records(6, alphabet=2), query="count", mechanism=noise, adversary="0")
    certificate = dl.solve(problem, gap=1).certificate
    number = draws(thin=30, full=2000, campaign=20_000)
    rng = random.Random(5)
    seen = Counter(
        dl.release(problem, noise, [1, 1, 0, 0, 0, 1], certificate=certificate, rng=rng).output for _ in range(number)
    )
    kind, scale, (low, high) = NOISY[noise]
    places, wide = np.arange(low, high + 1), np.arange(-4000, 4001)
    weights = np.bincount(np.clip(wide + 3, low, high) - low, LAWS[kind][1](wide, scale))
    assert low <= min(seen) <= max(seen) <= high
    assert likely(seen, places, weights, 3) > 1e-4


def test_a_histogram_is_released_cell_by_cell():
    table = dl.WorstCaseLeakage(
        records=dl.Records(40, alphabet=3),
        query="histogram",
        mechanism="discrete_laplace 20",
        adversary="product_priors",
    )
    assert dl.release(table, None, [0] * 7 + [2] * 33).output == [7, 0, 33]
    both = {"records": dl.Records(40, alphabet=4), "query": dl.queries.Margins([2, 2], [[0], [1]])}
    assert dl.release(replace(table, **both), None, [0] * 7 + [2] * 33).output == [7, 33, 40, 0]


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ("laplace scale = 2", "laplace is not sampled exactly; release with discrete_laplace"),
        ("exponential 1", "probabilities that are not rational; release with"),
        ("staircase epsilon = 1, sensitivity = 2, top = 1", "probabilities that are not rational"),
    ],
)
def test_what_no_exact_sampler_is_known_for_is_refused_before_the_data_is_read(mechanism, words):
    problem = dl.WorstCaseLeakage(
        records=dl.Records(3, alphabet=2), query="count", mechanism=mechanism, adversary="product_priors"
    )

    def never():
        raise AssertionError

    with pytest.raises(dl.errors.InputError, match=words):
        dl.release(problem, None, never)


def test_rational_mechanisms_are_released_by_their_matrix():
    problem = dl.WorstCaseLeakage(
        records=dl.Records(4, alphabet=2), query="parity", mechanism=np.array([[1.0, 0.0], [0.0, 1.0]]), adversary="0"
    )
    assert dl.release(problem, None, [1, 0, 0, 0]).output == 1
    assert dl.release(problem, "symmetric flip = 1", [1, 0, 0, 0]).output == 0
