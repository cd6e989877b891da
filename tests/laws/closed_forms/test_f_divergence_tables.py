"""Zhao, Wang and Tay on f-divergences: what their theorems say in numbers, printed, exact, and of their Gaussian mechanism."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad

import dalenius as dl
from dalenius.conversions.gaussian.profile import gaussian_delta
from dalenius.information.noise_formulas import classical_gaussian_variance

BUDGETS = {  # eta, epsilon: total variation, information, chi-square, each as printed and exactly (Theorem 1)
    ("0.01", "0.5"): "0.02541494083 0.02041494083 0.1492623295 0.08786990532 0.07506766143 0.03917698089",
    ("0.05", "0.5"): "0.1270747041 0.1020747041 0.5769151038 0.4123405226 0.3231489035 0.1958849045",
    ("0.1", "1"): "0.1581976707 0.1081976707 0.3445101431 0.2368039905 0.1626894967 0.09206735942",
    ("0.02", "0.2"): "0.1103331113 0.1003331113 1.001664619 1 0.6637132226 0.4983366614",
    ("0.2", "2"): "0.2313035285 0.1313035285 0.2037660801 0.1663446406 0.0645890101 0.03620308305",
    ("0.001", "0.1"): "0.01050833194 0.01000833194 0.3334454697 0.2003886669 0.1816129714 0.09991670832",
}
REVERSE = {  # epsilon: total variation, information, chi-square, and total variation as printed (Lemma 4)
    "0.1": "0.09991674992 0.004995837496 0.01000833611 0.2103418362",
    "0.5": "0.4898373248 0.1224593312 0.2552519304 1.297442541",
    "1": "0.9242343145 0.4621171573 1.08616127 3.436563657",
    "2": "1.523188312 1.523188312 5.524391382 12.7781122",
}
CHAIN = {  # delta, epsilon: eta; and for D = 0.1, 0.5, 1 the delta as printed and refined (Section III-A, p0 = 1/2)
    (0.1, 0.1): "0.0004953968774 0.3772304821 0.1979937012 0.04345842242 0.02185324715 0.01275256245 0.006388038178",
    (0.1, 0.5): "0.01268394691 0.9776387467 0.5595219494 0.3766679977 0.1987674982 0.1675530398 0.0860852825",
    (0.1, 1.2): "0.08246253285 1.240139539 0.7537939394 0.7547224997 0.4300176835 0.4498771595 0.2467023013",
    (0.05, 0.1): "0.0003886360974 0.2989861682 0.1553249584 0.03413462793 0.01714375095 0.01000828253 0.005011380452",
    (0.05, 0.5): "0.009899326762 0.784608303 0.4366850989 0.2973722008 0.1551302942 0.1315365604 0.06718621162",
    (0.05, 1.2): "0.06266786542 0.9825314608 0.5728499419 0.5901209238 0.326794356 0.3489448561 0.1874828008",
}
FIGURE_2C = {  # epsilon: the printed delta for p0 = 0.1, ..., 0.5, at delta = 0.1 and D = 1
    0.1: "0.2057445621 0.08138301381 0.04158496272 0.02293605102 0.01275256245",
    0.5: "2.565310316 1.030369416 0.5338768179 0.2981312062 0.1675530398",
}
NOTIONS = ("total_variation", "mutual_information", "chi_square")


def numbers(text):
    return list(map(float, text.split()))


def theorem_1c(eta, epsilon):
    """Its delta as printed."""
    return sum(f * eta / ((f - 1) ** 2 + eta) for f in (math.exp(epsilon), math.exp(-epsilon)))


@pytest.mark.parametrize(("eta", "epsilon"), BUDGETS)
def test_theorem_1_as_printed_and_exactly(eta, epsilon):
    """A printed delta above 1 is 1."""
    listed = numbers(BUDGETS[eta, epsilon])
    for notion, printed, exact in zip(NOTIONS, listed[::2], listed[1::2], strict=True):
        for sharp, wanted in ((False, printed), (True, exact)):
            found = dl.convert(notion, eta, to=f"information_privacy_delta({epsilon})", sharp=sharp)
            assert found.value == pytest.approx(min(wanted, 1.0), rel=2e-9)


def test_theorem_1_is_nearly_attained_by_a_circulant():
    """Of S uniform on 2,000 numbers and a Y that is S and noise: its delta at 0.5 is 0.03846319426."""
    bound = dl.convert("chi_square", "0.009817806014", to="information_privacy_delta(0.5)").value
    assert bound == pytest.approx(0.03846319986, rel=1e-9)
    n, epsilon, target = 2000, 0.5, 0.03846319426
    heights = [math.exp(epsilon) + 1e-9, math.exp(-epsilon) - 1e-9]
    right = round(n * target / (math.exp(epsilon) + 1))  # cells of the noise with each of both lifts
    left = round(n * target * math.exp(epsilon) / (math.exp(epsilon) + 1))
    lifts = np.array([heights[0]] * right + [heights[1]] * left)
    rest = (n - lifts.sum()) / (n - len(lifts))
    law = np.concatenate([lifts, np.full(n - len(lifts), rest)])
    chi_square, delta = float(np.mean((law - 1.0) ** 2)), float(lifts.sum() / n)
    found = dl.convert("chi_square", chi_square, to="information_privacy_delta(0.5)").value
    assert delta <= found <= delta * (1 + 2e-2)


@pytest.mark.parametrize("epsilon", REVERSE)
def test_the_other_way_as_printed_and_exactly(epsilon):
    *exact, printed = numbers(REVERSE[epsilon])
    for notion, wanted in zip(NOTIONS, exact, strict=True):
        assert dl.convert("information_privacy", epsilon, to=notion).value == pytest.approx(wanted, rel=2e-9)
    found = dl.convert(f"information_privacy_delta({epsilon})", 0, to="total_variation", sharp=False)
    assert found.value == pytest.approx(min(printed, 2.0), rel=2e-9), "which is never above 2"


@pytest.mark.parametrize(("delta", "epsilon"), CHAIN)
def test_the_chain_of_the_gaussian_mechanism(delta, epsilon):
    """Strong chi-square, Corollary 1, Lemma 1. At D = 0.1 another way, by total variation of the rows, is shorter."""
    eta = math.expm1(epsilon**2 / (2 * math.log(1.25 / delta))) / 4
    wanted, *listed = numbers(CHAIN[delta, epsilon])
    assert eta == pytest.approx(wanted, rel=2e-9)
    for D, printed, refined in zip((0.1, 0.5, 1.0), listed[::2], listed[1::2], strict=True):
        assert 4 * theorem_1c(eta, (epsilon + D) / 2) == pytest.approx(printed, rel=2e-9)
        step = dl.convert("strong_chi_square", eta, to=f"local_dp_delta({epsilon + D})", p_min="0.5").value
        assert step <= refined * (1 + 2e-9)
        assert D == 0.1 or step == pytest.approx(refined, rel=2e-9)
        assert 2 * eta / (4 * math.sinh((epsilon + D) / 4) ** 2) * 2 == pytest.approx(refined, rel=2e-9)


def test_figure_2c_and_what_is_exact():
    """At epsilon' = 0.6 the Gaussian noise itself has a delta a thousand times smaller than the chain's 0.1987674982."""
    for epsilon, row in FIGURE_2C.items():
        r = epsilon**2 / (2 * math.log(12.5))
        for k, wanted in enumerate(numbers(row), 1):
            eta = max(k / 10, 1 - k / 10) ** 2 * math.expm1(r)
            assert 2 * theorem_1c(eta, (epsilon + 1) / 2) / (k / 10) == pytest.approx(wanted, rel=2e-9)
    shift = 0.5 / math.sqrt(2 * math.log(12.5))
    exact = float(gaussian_delta(arb(shift), arb("0.6")))
    assert exact == pytest.approx(0.0003197481682, rel=1e-9)
    for epsilon, delta, scale in ((0.1, 0.1, 22.475447245), (0.5, 0.1, 4.49508944899), (1, 1e-5, 4.84480526261)):
        assert math.sqrt(classical_gaussian_variance(epsilon, delta, 1.0)) == pytest.approx(scale, rel=1e-10)
    with pytest.raises(dl.InputError, match="at most 1"):  # the paper has 2.1143937353, where the theorem says nothing
        classical_gaussian_variance(1.2, 0.05, 1.0)


@pytest.mark.parametrize(
    ("slope", "error", "printed", "improved", "strong", "information"),
    [
        (0.1, 0.0832407407, -0.0386419753, 0.0675, 0.075, 0.000555889571375),
        (0.5, 0.0810185185, -0.9166666667, 0.0208333333, 0.0416666667, 0.0141088150113),
        (0.9, 0.0758333333, -24.99666667, 0.0008333333, 0.0083333333, 0.0476994403487),
    ],
)
def test_lemma_3_of_a_law_on_the_square(slope, error, printed, improved, strong, information):
    """Of the density 1 + a (2s-1)(2y-1) on the square: every lift is at least 1 - a, the mean of S given y 1/2 + a (2y-1)/6."""
    epsilon, variance = -math.log(1 - slope), 1 / 12
    assert variance - quad(lambda y: (slope * (2 * y - 1) / 6) ** 2, 0, 1)[0] == pytest.approx(error, abs=1e-10)
    kept = dl.convert("information_privacy", epsilon, to="estimation_error").value
    assert kept * variance == pytest.approx(strong, abs=1e-10)
    assert kept**2 * variance == pytest.approx(improved, abs=1e-10)
    assert (1 - slope) ** 2 / 3 - 0.25 / (1 - slope) ** 2 == pytest.approx(printed, rel=1e-9)
    assert printed < improved < strong < error
    w, weights = np.polynomial.legendre.leggauss(60)
    density = 1 + slope * np.outer(w, w)
    assert weights @ (density * np.log(density)) @ weights / 4 == pytest.approx(information, rel=1e-11)
    assert information <= dl.convert("chi_square", slope**2 / 9, to="mutual_information").value


def test_lemma_2():
    """At least so many guesses are wrong; where the printed number, -0.1085000083, is negative it says nothing."""
    success = dl.convert("information_privacy_delta(1)", 0, to="guessing_success", p_max="0.35").value
    assert 1 - success == pytest.approx(0.04860136004, abs=2e-11)
    assert 1 - 0.05 - math.exp(0.75) * 0.5 == pytest.approx(-0.1085000083, rel=1e-9)
    assert dl.convert("information_privacy_delta(0.75)", "0.05", to="guessing_success", p_max="0.5").value == 1.0
