"""Two Gaussian laws a shift apart: known values, the integral of Theorem 1(b), and chi-square with its -1."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from scipy.integrate import quad

import dalenius as dl
from dalenius.conversions.gaussian import ListedInputs, chi_square, gaussian_delta, information_of_profile, saddle_value


@pytest.mark.parametrize(
    ("half", "epsilon", "delta"),
    [
        ("0.05", "0", "0.03987761167674"),
        ("0.05", "1", "1.230835983643e-25"),
        ("0.1", "0.5", "0.0005125360831583"),
        ("0.1", "2", "4.043703566765e-25"),
        ("0.5", "1", "0.1269367375066"),
        ("1", "0.1", "0.6666395155288"),
    ],
)
def test_the_privacy_profile(half, epsilon, delta):
    with ctx.workprec(128):
        found = gaussian_delta(2 * arb(half), arb(epsilon))
    assert float(found) == pytest.approx(float(delta), rel=2e-12)


def test_the_profiles_of_figure_1_lie_below_what_theorem_1a_allows():
    """d = 10, Delta = 1, noise of capacity 0.1 bits; and the numbers of the figure."""
    shift = 2 * math.sqrt(10 / 71.63589949478)
    for epsilon, delta, most in ((0.0, 0.291315844428, 0.36796130735278), (1.0, 0.0492296518853, 0.2014832104693)):
        found = float(gaussian_delta(arb(shift), arb(epsilon)))
        assert found == pytest.approx(delta, rel=1e-9)
        assert found < most


def test_the_integral_of_theorem_1b_is_the_divergence():
    """2 d Delta^2 / sigma^2 nats: d = 10, Delta = 1, sigma^2 = 20 give 1.4427 bits."""
    shift = 2 * math.sqrt(10 / 20)
    area, _ = quad(lambda e: (1 + math.exp(-e)) * float(gaussian_delta(arb(shift), arb(e))), 0, 60, limit=200)
    assert area == pytest.approx(float(information_of_profile(arb(shift))), abs=1e-9)
    assert area / math.log(2) == pytest.approx(1.442695040889, abs=1e-9)


@pytest.mark.parametrize(
    ("dimension", "variance", "bits"),
    [
        (1, 1, 2.885390081778),
        (1, 10, 0.2885390081778),
        (1, 200, 0.01442695040889),
        (10, 20, 1.442695040889),
        (10, 100, 0.2885390081778),
        (10, 200, 0.1442695040889),
    ],
)
def test_theorem_1b_in_closed_form(dimension, variance, bits):
    """2 d Delta^2 / sigma^2 nats, Delta = 1, for inputs 2 sqrt(d) Delta apart."""
    shift = 2 * (arb(dimension) / variance).sqrt()
    assert float(information_of_profile(shift) / arb(2).log()) == pytest.approx(bits, rel=2e-12)


def test_e3_1_chi_square_has_its_minus_one():
    area, _ = quad(lambda y: math.exp(-((y - 1) ** 2) + y**2 / 2) / math.sqrt(2 * math.pi), -20, 20)
    assert area - 1 == pytest.approx(float(chi_square(arb(1))))
    assert float(chi_square(arb(1))) == pytest.approx(1.718281828459)


@pytest.mark.parametrize(
    ("dimension", "power", "noise", "bits"), [(1, 1, 1, 0.5), (10, 1, 10, 0.6875176187497), (3, 4, 5, 1.271995359832)]
)
def test_the_saddle_value(dimension, power, noise, bits):
    assert float(saddle_value(arb(power), arb(noise), dimension) / arb(2).log()) == pytest.approx(bits, rel=1e-12)


def test_numbers_are_taken_as_everywhere():
    """As texts, decimals and fractions; what is no number is one clear error."""
    assert chi_square("0.3").overlaps(chi_square(Fraction(3, 10)))
    assert gaussian_delta("2", 0.5).overlaps(gaussian_delta(arb(2), arb("0.5")))
    assert saddle_value("1/2", 2, 3).overlaps(saddle_value(arb(1) / 2, arb(2), 3))
    assert information_of_profile("1.5").overlaps(arb("1.125"))
    listed = ListedInputs.of([-1, 0, 1], [1, 2, 1], 1)
    assert listed.delta("0.5").overlaps(listed.delta(arb("0.5")))
    for wrong, words in (
        (lambda: chi_square("much"), "shift"),
        (lambda: gaussian_delta(0, 1), "shift: expected a number above 0"),
        (lambda: saddle_value(1, -1, 2), "noise: expected a number above 0"),
        (lambda: listed.deltas(None), "epsilon"),
    ):
        with pytest.raises(dl.errors.InputError, match=words):
            wrong()
