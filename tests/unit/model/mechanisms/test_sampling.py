"""Samplers draw with the probabilities of their formula: frequencies beside exact probabilities, and exact moments of small cases."""

import random
from collections import Counter
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
    number = draws(thin=4000, full=40_000, campaign=1_000_000)
    rng = random.Random(f"{kind} {scale}")
    seen = Counter(draw(scale, rng) for _ in range(number))
    places = np.arange(-2000, 2001)
    law = weight(places, float(scale))
    law /= law.sum()
    often = number * law >= 10
    got = np.array([seen[k] for k in places[often].tolist()])
    rest, expected = number - got.sum(), number * law[often]
    statistic = ((got - expected) ** 2 / expected).sum() + (rest - (number - expected.sum())) ** 2 / max(
        number - expected.sum(), 1
    )
    assert stats.chi2.sf(statistic, often.sum()) > 1e-4


def test_a_numpy_generator_and_the_system_s_entropy_draw_the_same_kind_of_number():
    for rng in (np.random.default_rng(1), None):
        assert all(isinstance(draw(Fraction(3), rng), int) for draw, _ in LAWS.values())


NOISY = {
    "discrete_laplace 0.5": None,
    "geometric 0.5": (0, 6),
    "discrete_gaussian scale = 3": None,
    "discrete_gaussian scale = 3, range = [-1, 7]": (-1, 7),
}


@pytest.mark.parametrize("noise", NOISY)
def test_what_is_released_has_the_probabilities_that_were_audited(noise):
    """The outputs of many simulations beside the row of the audited channel."""
    problem = dl.WorstCaseLeakage(records=dl.Records(6, alphabet=2), query="count", mechanism=noise, adversary="0")
    certificate = dl.solve(problem, gap=1).certificate
    number = draws(thin=60, full=600, campaign=6000)
    rng = random.Random(5)
    outputs = [
        dl.release(problem, noise, [1, 1, 0, 0, 0, 1], certificate=certificate, rng=rng).output for _ in range(number)
    ]
    limits = NOISY[noise]
    assert min(outputs) < 3 < max(outputs)
    if limits is not None:
        assert limits[0] <= min(outputs) <= max(outputs) <= limits[1]


def test_a_histogram_is_released_cell_by_cell():
    table = dl.WorstCaseLeakage(
        records=dl.Records(40, alphabet=3),
        query="histogram",
        mechanism="discrete_laplace 20",
        adversary="product_priors",
    )
    assert dl.release(table, None, [0] * 7 + [2] * 33).output == [7, 0, 33]


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
