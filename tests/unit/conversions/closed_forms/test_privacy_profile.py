"""Information from points of a profile: closed forms, curves from above, and what a point alone says."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, ctx
from scipy.integrate import quad

from dalenius.conversions import PrivacyProfile
from dalenius.conversions.gaussian import ListedInputs, gaussian_delta
from dalenius.errors import InputError


@pytest.mark.parametrize(
    ("epsilon", "nats"),
    [("0.1", 0.004995837495788), ("0.5", 0.1224593312019), ("2", 1.523188311912), ("4", 3.856110320303)],
)
def test_one_point_without_delta_is_randomised_response(epsilon, nats):
    assert PrivacyProfile.of([(epsilon, 0)]).capacity() == pytest.approx(nats, rel=1e-12)


@pytest.mark.parametrize(("span", "nats"), [("0.1", 0.00483741803596), ("1", 0.3678794411714), ("5", 4.006737946999)])
def test_laplace_noise_from_above(span, nats):
    end = Fraction(span)
    grid = [end * k / 60 for k in range(61)]
    found = PrivacyProfile.from_function(lambda e: -((e - arb(span)) / 2).expm1(), [*grid[:-1]])
    assert found.capacity() == math.inf
    points = [*found.points, (end, Fraction(0))]
    assert nats <= PrivacyProfile.of(points).capacity() * (1 + 1e-12) < nats * 1.002


def test_gaussian_noise_from_above():
    """d = 1, Delta = 1, sigma^2 = 10: 0.28853900817779 bits."""
    shift = 2 / arb(10).sqrt()
    profile = PrivacyProfile.from_function(
        lambda e: gaussian_delta(shift, e), [Fraction(k, 40) for k in range(161)], decay=9
    )
    bits = profile.capacity() / math.log(2)
    assert 0.2885390081778 <= bits < 0.2887


def test_the_integral_of_the_chord_under_information_privacy():
    height, top = math.tanh(0.5), math.e
    area, _ = quad(lambda e: 2 * math.cosh(e) * height * (top - math.exp(e)) / (top - 1), 0, 1)
    assert PrivacyProfile.of([(1, 0)]).prior_information() == pytest.approx(area, rel=1e-10)


def test_points_of_noise_on_listed_inputs_bound_its_largest_divergence():
    """And lie between the sums of the steps below and above the curve."""
    noise = ListedInputs.of([-1, 0, 1], [1, 2, 1], 4)
    grid = [Fraction(k, 8) for k in range(17)]
    found = PrivacyProfile.from_function(noise.delta, grid, decay=2).prior_information()
    assert found > float(noise.largest_divergence())
    areas = [2 * (math.sinh(b) - math.sinh(a)) for a, b in pairwise(grid)]
    with ctx.workprec(90):
        deltas = [float(noise.delta(arb(float(e))).lower()) for e in grid]
    below, above = (sum(d * area for d, area in zip(some, areas, strict=True)) for some in (deltas[1:], deltas[:-1]))
    assert below < found < above


def test_more_points_never_hurt_and_a_delta_that_stays_says_nothing():
    few, more = [(0, "0.3"), (1, 0)], [(0, "0.3"), ("0.5", "0.1"), (1, 0), ("0.7", "0.9")]
    assert PrivacyProfile.of(more).capacity() < PrivacyProfile.of(few).capacity()
    assert PrivacyProfile.of([(1, "1e-9")]).capacity() == math.inf
    assert PrivacyProfile.of([(1, "1e-9")], decay="0.5").prior_information() == math.inf
    for wrong in ([], [(1,)], [(-1, 0)], [(1, 2)]):
        with pytest.raises(InputError):
            PrivacyProfile.of(wrong)
