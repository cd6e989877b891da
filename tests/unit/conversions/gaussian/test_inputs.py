"""Information of Gaussian inputs through Gaussian noise: the saddle of Theorem 3, its curvature, and what is no covariance."""

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.special import ndtr

import dalenius as dl
from campaigns import draws, each, thinned
from dalenius.conversions import PrivacyProfile
from dalenius.conversions.gaussian import (
    ListedInputs,
    chi_square,
    gaussian_delta,
    gaussian_information,
    information_of_profile,
    saddle_value,
)
from dalenius.errors import InputError
from dalenius.programs import certify
from figure_3 import FIGURE_3


def covariance(random, size, trace):
    """A random one with this trace, in eighths of a thousandth, so that doubles hold it."""
    root = random.normal(size=(size, size)) * random.choice([0.2, 1.0, 5.0], size=size)
    found = root @ root.T
    return np.round(found * trace / np.trace(found) * 8000) / 8000 + np.eye(size) / 1000


def told(signal, noise):
    return float(gaussian_information(signal, noise))


@each("dimension, power, noise, bits", (1, 1, 1, 0.5), (10, 1, 10, 0.6875176187497), (3, 4, 5, 1.271995359832))
def test_multiples_of_the_identity(dimension, power, noise, bits):
    one = np.eye(dimension, dtype=int)
    found = gaussian_information(power * one, noise * one)
    assert float(found / arb(2).log()) == pytest.approx(bits, rel=1e-12)
    assert found.overlaps(saddle_value(arb(power), arb(noise), dimension))


def test_the_saddle_and_the_curvature_on_each_side_of_it():
    random = np.random.default_rng(19)
    for _ in range(draws(10, 300)):
        size = int(random.integers(2, 5))
        one, power, noise = np.eye(size), 2.0, 3.0
        value = told(power * one, noise * one)
        signals, noises = ([covariance(random, size, size * least) for _ in range(2)] for least in (power, noise))
        spread = [signal * (size * power / np.trace(signal)) for signal in signals]
        exact = np.linalg.slogdet(np.eye(size) + np.linalg.solve(noises[0], signals[0]))[1] / 2
        assert told(signals[0], noises[0]) == pytest.approx(exact, rel=1e-9)
        for signal, other in zip(spread, noises, strict=True):
            assert told(((signal + signal.T) / 2), noise * one) <= value + 1e-12
            small = other * (size * noise / np.trace(other))
            assert told(power * one, (small + small.T) / 2) >= value - 1e-12
        ends = [told(signal, noises[0]) for signal in signals]
        assert told((signals[0] + signals[1]) / 2, noises[0]) >= sum(ends) / 2
        ends = [told(signals[0], other) for other in noises]
        assert told(signals[0], (noises[0] + noises[1]) / 2) <= sum(ends) / 2


def test_the_least_noise_as_a_convex_program():
    """Eq. (19) in eigenvalues, -log(1 - a/(y+a)): a solver's 1.2719953607 bits, for d = 3, Delta = 2, sigma^2 = 5, certified around
    the closed form."""
    y = cp.Variable(3, bounds=[0.01, 20], name="y")
    model = cp.Problem(cp.Minimize(-cp.sum(cp.log(1 - 4 * cp.inv_pos(y + 4))) / 2), [cp.sum(y) <= 15])
    found = certify(model)
    exact = 3 * math.log(1 + 4 / 5) / 2
    assert found.lower <= exact <= found.upper <= exact + 1e-8
    assert found.lower <= 1.2719953607 * math.log(2) <= found.upper
    np.testing.assert_allclose(found.values["y"], 5, atol=1e-4)


def test_what_is_no_covariance_is_refused():
    one = [[1, 0], [0, 1]]
    assert told([[1, 1], [1, 1]], one) == pytest.approx(math.log(3) / 2)
    assert told([[0, 0], [0, 0]], one) == 0.0
    for signal, noise, reason in (
        ([[0, 1], [1, 0]], one, "semidefinite"),
        ([[1, 2], [2, 1]], one, "semidefinite"),
        ([[-1, 0], [0, 1]], one, "semidefinite"),
        (one, [[1, 1], [1, 1]], "singular"),
        ([[1, 0.5], [0.4, 1]], one, "symmetric"),
        ([[1, 0]], one, "square"),
        ([[1]], one, "size"),
    ):
        with pytest.raises(InputError, match=reason):
            gaussian_information(signal, noise)


# The Gaussian mechanism on the 21 inputs of Figures 3 and 4 of the paper on local mutual-information privacy.


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
    assert printed < own < dl.convert("mutual_information", f"{mu} bits", to=asked, p_min="0.0111947").value


@pytest.mark.parametrize(("mu", "crossing"), [("0.1", "1.21545970"), ("0.01", "0.37824192")])
def test_eq_13_as_printed_fails_below_these_epsilons(mu, crossing):
    """They are rounded to eight places; both curves cross there."""
    (delta,) = (delta for epsilon, delta in CROSSINGS.values() if epsilon == crossing)
    asked = f"local_information_privacy_delta({crossing})"
    assert dl.convert("largest_divergence", f"{mu} bits", to=asked).value == pytest.approx(delta, rel=3e-8)


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


# Two Gaussian laws a shift apart: known values, the integral of Theorem 1(b), and chi-square with its -1.


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
