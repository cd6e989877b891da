"""Algorithm 1 of the Pufferfish paper, corrected: geometric medians, the numbers of groups, privacy for Gaussian data."""

import math

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.studies.mean_estimation import MeanPlan, _boost, geometric_median, private_mean
from digits import same
from support import refuses


def test_geometric_medians():
    corner = (3 - math.sqrt(3)) / 6
    assert geometric_median([[0, 0], [1, 0], [0, 1]]) == pytest.approx([corner] * 2, abs=1e-7)
    square = np.array([[0, 0], [1, 0], [0, 1], [5, 5]])
    found = geometric_median(square)
    assert np.linalg.norm(square - found, axis=1).sum() == pytest.approx(8.48528137424, abs=1e-10)
    assert geometric_median([[0, 0], [0, 0], [0, 0], [3, 4]]) == pytest.approx([0.0, 0.0], abs=1e-11)
    assert geometric_median([[2.0, 3.0]]).tolist() == [2.0, 3.0]


def test_the_median_of_random_points_cannot_be_improved():
    rng = np.random.default_rng(0)
    for d in (2, 5):
        points = rng.standard_t(2, size=(40, d))
        found = geometric_median(points)
        least = np.linalg.norm(points - found, axis=1).sum()
        for shift in 1e-3 * rng.normal(size=(50, d)):
            assert np.linalg.norm(points - found - shift, axis=1).sum() >= least


def test_groups_and_the_factor_of_the_accuracy():
    for beta, groups in ((0.1, 461), (0.05, 600), (0.01, 922)):
        plan = MeanPlan.of(10**6, 1, 1.0, epsilon=0.1, beta=beta)
        assert plan.groups == groups
        assert plan.accuracy / plan.deviation == pytest.approx(1.054544871377, abs=3e-4)
    limit = MeanPlan.of(10**9, 1, 1.0, epsilon=0.1, beta=1e-300)
    assert limit.accuracy / limit.deviation == pytest.approx(1.054544871377, abs=1e-6)


def test_e0_4_the_groups_are_too_few_for_the_printed_constant():
    """Minsker's theorem: m >= log(1/beta)/psi groups for the factor C_a = (1-a)/sqrt(1-2a), psi the divergence of coins a and 0.2."""
    table = [
        (0.21, "0.0003086965321612", "1.037320819592"),
        (0.25, "0.007381996975374", "1.06066017178"),
        (0.3, "0.02816755759528", "1.106797181059"),
        (0.4, "0.1046496287529", "1.3416407865"),
    ]
    for a, psi, factor in table:
        found = float(dl.information.relative_entropy([a, 1 - a], [0.2, 0.8]))
        same([found, (1 - a) / math.sqrt(1 - 2 * a)], psi, factor)
        assert _boost(1 / found) == pytest.approx(float(factor), rel=1e-10)
    same([1 / float(table[0][1]), 200 * float(table[0][1])], "3239.4", "0.0617")
    a = 0.240955544773
    assert 200 * float(dl.information.relative_entropy([a, 1 - a], [0.2, 0.8])) == pytest.approx(1.0, abs=1e-10)
    same([(1 - a) / math.sqrt(1 - 2 * a), _boost(200.0)], *["1.054544871377"] * 2)


def test_lemma_2_holds_with_equality():
    c, epsilon, d = 3.0, 0.1, 2
    plan = MeanPlan.of(10**6, d, c, epsilon=epsilon, beta=0.1)
    a = plan.deviation
    needed = max(4 * c / (0.1 * a**2), 2 * math.sqrt(d * c * math.log(20)) / (a * math.sqrt(epsilon)))
    assert needed == pytest.approx(plan.size)


@each("n, d, c, epsilon", (461 * 7 + 460, 1, 2.0, 0.5), (461 * 3, 4, 10.0, 0.1))
def test_gaussian_data_with_the_most_variance_are_told_at_most_epsilon(n, d, c, epsilon):
    """E0.3: as printed the noise has no c, and m/n for 1/k, which is too little where m does not divide n."""
    plan = MeanPlan.of(n, d, c, epsilon=epsilon, beta=0.1)
    told = 0.5 * d * math.log1p(c / (d * plan.size**2 * plan.variance))
    assert told <= epsilon
    printed = d * plan.groups**2 / (2 * n**2 * epsilon)
    assert 0.5 * d * math.log1p(c / (d * plan.size**2 * printed)) > epsilon


def test_estimates_are_as_close_as_they_should_be():
    rng = np.random.default_rng(3)
    mean = np.array([5.0, -2.0])
    data = mean + rng.normal(size=(46_100, 2))
    plan = MeanPlan.of(len(data), 2, 2.0, epsilon=0.1, beta=0.1)
    found = private_mean(data, second_moment=2.0, epsilon=0.1, beta=0.1, rng=rng)
    assert np.linalg.norm(found - mean) <= plan.accuracy
    again = private_mean(data[:, 0], second_moment=1.0, epsilon=0.1, beta=0.1, rng=rng)
    assert abs(again[0] - 5.0) <= plan.accuracy


test_what_cannot_be_estimated_is_refused = refuses(
    ({"second_moment": 0.0}, "second_moment"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"beta": 1.0}, "beta"),
    ({"data": np.zeros((9, 2))}, "at least 461 records"),
    ({"data": [[math.inf, 0.0]]}, "finite numbers"),
    by=lambda change: private_mean(
        **{"data": np.zeros((500, 2)), "second_moment": 1.0, "epsilon": 0.1, "beta": 0.1} | change
    ),
)
