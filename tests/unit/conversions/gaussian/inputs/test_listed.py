"""The Gaussian mechanism on the 21 inputs of Figures 3 and 4 of the paper on local mutual-information privacy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.special import ndtr

import dalenius as dl
from campaigns import draws, thinned
from dalenius.conversions import PrivacyProfile
from dalenius.conversions.gaussian import ListedInputs, gaussian_delta
from figure_3 import FIGURE_3

INPUTS = [Fraction(i, 10) - 1 for i in range(21)]
WEIGHTS = [math.exp(-2.0 * float(x) ** 2) for x in INPUTS]
FIGURE_4 = [  # variance: information, largest divergence (both curves kept), eq. (14), in bits
    ("0.5", "0.244938011693", "1.0643506681", "17.49833627"),
    ("1", "0.132850891990", "0.6114903531", "1.94981824"),
    ("2", "0.069483381900", "0.3307903793", "0.59590797"),
    ("5", "0.028601674178", "0.1392205602", "0.18532692"),
    ("10", "0.014442596461", "0.0708484670", "0.08471109"),
    ("20", "0.007257443974", "0.0357427087", "0.04014358"),
    ("50", "0.002911745490", "0.0143747016", "0.01539021"),
    ("100", "0.001457341916", "0.0072003876", "0.00754351"),
    ("200", "0.000729038992", "0.0036034625", "0.00372099"),
]
NODES = 24  # of the quadrature of eq. (14)
CROSSINGS = {  # variance: epsilon where eq. (13) as printed begins to hold, and delta there
    "1.3599906965": ("1.21545970", 0.06900492170),
    "14.4872661913": ("0.37824192", 0.01214339969),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("variance", "information", "largest", "printed"), FIGURE_4)
def test_figure_4(variance, information, largest, printed):
    """Theorem 2(b) as printed integrates one delta for both directions; the two kept apart make the largest divergence."""
    found = ListedInputs.of(INPUTS, WEIGHTS, variance)
    bits = [float(x) / math.log(2) for x in (found.mutual_information(), found.largest_divergence())]
    assert bits == pytest.approx([float(information), float(largest)], abs=6e-11)
    shift = 2.0 / math.sqrt(float(variance))
    last = shift**2 / 2.0 + 8.0 * shift  # where two Gaussian laws with this shift have a delta of some 1e-15
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    epsilons = 0.5 * last * (nodes + 1.0)
    curves = [[float(delta) for delta in found.deltas(arb(e))] for e in epsilons]
    apart = sum(w * (a + math.exp(-e) * b) for w, e, (a, b) in zip(weights, epsilons, curves, strict=True)) * last / 2
    near = 6e-9 if shift < 1.0 else 6e-5  # of a row, the curve ends where the law cannot be less, at log 1/p: a bend
    assert apart / math.log(2) == pytest.approx(float(largest), abs=near)
    one = [max(math.exp(-e) * a, b) for e, (a, b) in zip(epsilons, curves, strict=True)]
    whole = sum(w * math.cosh(e) * d for w, e, d in zip(weights, epsilons, one, strict=True)) * last
    assert whole / math.log(2) == pytest.approx(float(printed), abs=6e-9)


@pytest.mark.thorough
def test_what_points_of_the_curve_prove_lies_above_equation_14():
    found, shift = ListedInputs.of(INPUTS, WEIGHTS, 10), 2 / arb(10).sqrt()
    epsilons = [Fraction(4 * k * k, 24**2) for k in range(25)]
    profile = PrivacyProfile.from_function(
        lambda e: found.delta(e).min(gaussian_delta(shift, e)), epsilons, decay="9.4"
    )
    assert 0.0847110941 < profile.prior_information() / math.log(2) < 0.0859


def test_delta_is_as_narrow_whatever_precision_is_set():
    """It was wide with 53 bits: next to where a ratio is level its ends were not found."""
    found = ListedInputs.of([-1, 0, 1], [1, 2, 1], 4)
    with ctx.workprec(53):
        assert float(found.delta(arb(0)).rad()) < 1e-12


@pytest.mark.parametrize("variance", thinned(FIGURE_3, every=2))
def test_figure_3_and_that_theorem_2a_as_printed_does_not_hold_there(variance):
    mu = "0.1" if variance == "1.3599906965" else "0.01"
    with ctx.workprec(90):
        found = ListedInputs.of(INPUTS, WEIGHTS, variance)
        for epsilon, delta in [*FIGURE_3[variance].items(), CROSSINGS[variance]][: draws(1, 9)]:
            ball = found.delta(arb(epsilon))
            assert float(ball.rad()) < 1e-12
            assert float(ball) == pytest.approx(delta, abs=1e-11 if delta > 1e-4 else 0.0, rel=1e-8)
    asked = "local_information_privacy_delta(0.1)"
    with ctx.workprec(90):
        own = float(found.delta(arb("0.1")).lower())
    printed = dl.convert("largest_divergence", f"{mu} bits", to=asked).value
    corrected = dl.convert("mutual_information", f"{mu} bits", to=asked, p_min="0.0111947").value
    assert printed < own < corrected


@pytest.mark.parametrize(("mu", "crossing"), [("0.1", "1.21545970"), ("0.01", "0.37824192")])
def test_eq_13_as_printed_fails_below_these_epsilons(mu, crossing):
    """They are rounded to eight places; both curves cross there."""
    (delta,) = (delta for epsilon, delta in CROSSINGS.values() if epsilon == crossing)
    asked = f"local_information_privacy_delta({crossing})"
    printed = dl.convert("largest_divergence", f"{mu} bits", to=asked).value
    assert printed == pytest.approx(delta, rel=3e-8)


def test_the_law_of_the_21_inputs_and_the_other_reading_of_it():
    """Truncated in a set of 21 points: the density at the points; or each point has its bin, and sigma^2 is another."""
    points, law = np.array(INPUTS, dtype=float), np.array(WEIGHTS) / sum(WEIGHTS)
    assert law @ points**2 == pytest.approx(0.20223470713, rel=1e-10)
    assert law[[0, 10]] == pytest.approx([0.011194726943501, 0.0827184654], rel=1e-9)
    bins = ndtr(2 * (points + 0.05)) - ndtr(2 * (points - 0.05))
    found = ListedInputs.of(INPUTS, bins.tolist(), "1.3625825").mutual_information()
    assert float(found) / math.log(2) == pytest.approx(0.1, abs=3e-9)


def test_the_curve_against_quadrature_on_inputs_that_are_not_symmetric():
    inputs, weights = [Fraction(0), Fraction(1), Fraction(3)], ["0.2", "0.5", "0.3"]
    with ctx.workprec(90):
        found = ListedInputs.of(inputs, weights, 1)
        for epsilon in (0.0, 0.3, 1.2):
            ball = found.delta(arb(epsilon))

            def worst(y, x, g, sign):
                q = sum(float(w) * math.exp(-((y - float(z)) ** 2) / 2) for w, z in zip(weights, inputs, strict=True))
                own = math.exp(-((y - x) ** 2) / 2)
                return max(q - g * own if sign > 0 else own / g - q, 0.0) / math.sqrt(2 * math.pi)

            exact = max(
                quad(worst, -12, 15, args=(float(x), math.exp(epsilon), sign), limit=400, points=[0, 1, 2, 3])[0]
                for x in inputs
                for sign in (1, -1)
            )
            assert float(ball) == pytest.approx(exact, abs=1e-7)


def test_lists_that_do_not_fit_are_refused():
    for inputs, weights, variance in (([1], [1], 1), ([1, 2], [1], 1), ([1, 2], [1, 0], 1), ([1, 2], [1, 1], 0)):
        with pytest.raises(dl.errors.InputError, match="expected at least two inputs"):
            ListedInputs.of(inputs, weights, variance)
    assert np.isfinite(float(ListedInputs.of([1, 2], [1, 1], 1).mutual_information()))
