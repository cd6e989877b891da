"""Confidence bounds from held-out data: reference values, and how often they are wrong."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from campaigns import draws, each
from dalenius.sanitizers import (
    chi_square_below,
    from_features,
    proportion_below,
    root_chi_square_of_guesses,
    variational,
)
from support import refused


@each(
    "critic, values",
    ([1, 0, 0], [0.25, 0.45, 0.5625]),
    ([1, 0, -1], [0.425, 0.5142857143, 0.5901639344]),
    ([2, 1, 0.5], [0.14375, 0.1653061224, 0.6279069767]),
    ([1.5, 0, -0.6], [0.4725, 0.63, 0.63]),
)
def test_variational_forms_have_their_reference_values(critic, values):
    found = [variational([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], critic, form) for form in ("paper", "scaled", "centred")]
    assert found == pytest.approx(values, abs=5e-11)


@each("degree, value", (1, 0.64), (2, 0.8448), (3, 0.8884906667), (5, 0.8963759582), (8, 0.8964808263))
def test_hermite_features_have_their_partial_sums(degree, value):
    shift = [0.8**k for k in range(1, degree + 1)]
    covariance = np.diag([float(math.factorial(k)) for k in range(1, degree + 1)])
    assert from_features(shift, covariance) == pytest.approx(value, abs=5e-11)


def test_forms_are_in_order():
    rng = np.random.default_rng(3)
    for _ in range(draws(50, 20_000)):
        p, q = rng.dirichlet(np.ones(4), 2)
        g = rng.normal(size=4)
        forms = [variational(p, q, g, form) for form in ("paper", "scaled", "centred")]
        assert [*forms, float(np.sum(p * p / q) - 1)] == pytest.approx(
            np.maximum.accumulate([*forms, np.sum(p * p / q) - 1])
        )


def test_proportions_are_those_of_clopper_and_pearson():
    assert proportion_below(30, 100, 0.9) == pytest.approx(float(beta.ppf(0.1, 30, 71)))
    assert proportion_below(100, 100) == pytest.approx(0.05 ** (1 / 100))


def test_confidence_bounds_hold_as_often_as_they_say():
    """A binary symmetric channel of flip 0.4 has chi2 = 0.04; at confidence 0.8 the bound may exceed it in a fifth of all draws."""
    rng, wrong, several = np.random.default_rng(11), 0, draws(200, 5000)
    for _ in range(several):
        joint = np.where(rng.random(500) < 0.6, 1.0, -1.0)
        product = np.where(rng.random(500) < 0.5, 1.0, -1.0)
        wrong += chi_square_below(joint, product, product**2, bound=1.0, confidence=0.8) > 0.04
    assert wrong <= 0.2 * several


def test_attacks_give_a_bound():
    assert root_chi_square_of_guesses(0.4, 0.5) == 0.0
    assert root_chi_square_of_guesses(1.0, 0.5) == 1.0  # and chi2 = 1 for a fair bit that is told


@each("successes, count", (-1, 5), (6, 5), (0, 0))
def test_counts_are_checked(successes, count):
    refused(lambda: proportion_below(successes, count), "successes")


def test_critics_beyond_their_bound_and_confidences_are_refused():
    refused(lambda: chi_square_below(np.full(4, 2.0), np.ones(4), np.ones(4), bound=1.0), "clip it")
    refused(lambda: proportion_below(1, 2, 1.0), "confidence")
    refused(lambda: variational([1], [1], [1], "other"), "form")
