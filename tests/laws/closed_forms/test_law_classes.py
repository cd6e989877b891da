"""Reference values of the source papers' catalogue for classes of laws (P0-2), and closed forms."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl

W0 = [["0.8", "0.1", "0.1"], ["0.2", "0.6", "0.2"], ["0.3", "0.3", "0.4"]]
THIRDS = [Fraction(1, 3)] * 3


@pytest.mark.parametrize(
    ("entropy", "digits"),
    [("0", 0.203980195), ("0.9", 0.202310492), ("1", 0.198691787), ("1.05", 0.194351223), ("1.09", 0.185206531)],
)
def test_an_entropy_bound_is_a_kl_ball_around_the_uniform_law(support, entropy, digits):
    """H(P) >= b is D(P || uniform) <= log n - b; the radius is rational, so that of two balls one is larger and one smaller."""
    radius = Fraction(round((math.log(3) - float(entropy)) * 10**12), 10**12)
    ends = [
        dl.solve(support.problem([3], dl.Identity(), dl.Channel(W0), dl.KLBallPriors(THIRDS, radius + shift)), gap=1e-9)
        for shift in (Fraction(-1, 10**11), Fraction(1, 10**11))
    ]
    assert ends[0].lower - 1e-9 <= digits <= ends[1].upper + 1e-9
    assert ends[1].upper - ends[0].lower <= 1e-9


def test_the_center_alone(support):
    balls = [kind(THIRDS, 0) for kind in (dl.KLBallPriors, dl.L1BallPriors, dl.ChiSquareBallPriors)]
    for adversary in (*balls, dl.FloorPriors("1/3"), dl.BoxPriors(THIRDS, THIRDS)):
        result = dl.solve(support.problem([3], dl.Identity(), dl.Channel(W0), adversary), gap=1e-9)
        assert result.lower - 1e-12 <= 0.175411136242 <= result.upper + 1e-12
        assert result.gap <= 1e-9


def test_letters_that_no_law_has_do_not_count(support):
    rows = [["0.5", "0.5"], ["0.4", "0.6"], ["1", "0"]]
    for adversary in (
        dl.KLBallPriors([0.5, 0.5, 0], 0.1),
        dl.ChiSquareBallPriors([0.5, 0.5, 0], 0.1),
        dl.BoxPriors([0, 0, 0], [1, 1, 0]),
        dl.PolytopePriors([[1, 0, 0], [0, 1, 0]]),
    ):
        result = dl.solve(support.problem([3], dl.Identity(), dl.Channel(rows), adversary), gap=1e-9)
        assert result.gap <= 1e-9
        assert result.upper < 0.0051


def test_a_constant_mechanism_tells_nothing(support):
    adversary = dl.L1BallPriors([0.5, 0.5], 0.2)
    result = dl.solve(support.problem([2], dl.Identity(), dl.Channel([["1/3", "2/3"]] * 2), adversary))
    assert result.upper <= 1e-12


def test_binary_randomised_response_in_a_box(support):
    """log(2) h2: I(p) of a symmetric channel is largest at the probability that is nearest to 1/2."""
    result = dl.solve(
        support.problem([2], dl.Identity(), dl.symmetric("0.1"), dl.BoxPriors([0.6, 0], [1, 0.4])), gap=1e-9
    )
    exact = support.binary_entropy(0.6 * 0.9 + 0.4 * 0.1) - support.binary_entropy(0.1)
    support.assert_contains(result, exact, gap=1e-9)
    assert np.allclose(result.witness.masses.sum(axis=1), [0.6, 0.4])
