"""What is disclosed together with an attribute: reference values, and the threshold."""

import math
from fractions import Fraction

import pytest

import dalenius as dl
from campaigns import each
from dalenius.conversions import (
    ThresholdDisclosure,
    copies_threshold,
    excluding_channel,
    excluding_threshold,
    mixture_min_entropy,
    mixture_threshold,
)
from dalenius.errors import InputError
from digits import inside, same
from support import refused

LAW = ["0.2", "0.5", "0.3"]


def test_reference_values():
    assert mixture_threshold(LAW, 0) == Fraction(3, 8)
    for mixing, left in (("0.475", 0.5447271754), ("0.9", 0.08338160894)):
        assert mixture_min_entropy(LAW, 0, mixing) == pytest.approx(left, abs=1e-10)


def test_the_threshold_is_where_it_becomes_easier():
    at = mixture_threshold(LAW, 0)
    assert mixture_min_entropy(LAW, 0, at) == pytest.approx(math.log(2), abs=1e-15)
    assert mixture_min_entropy(LAW, 0, at + Fraction(1, 1000)) < math.log(2) - 1e-3
    assert mixture_threshold(LAW, 1) == 0


def test_what_is_certain_already_is_refused():
    refused(lambda: mixture_threshold([1, 0], 0), "not certain")


# What passes a threshold: outputs that exclude a value, and copies of a record, with the digits of the theorems.


P1 = ["0.5", "0.3", "0.2"]


@pytest.mark.parametrize(
    ("p_min", "threshold", "alpha", "bound"),
    [
        ("0.5", "0.69314718056", "1", "0.88137358702"),
        ("0.2", "0.223143551314", "0.25", "0.750488294619"),
        ("0.1", "0.105360515658", "0.111111111111", "0.719834170564"),
        ("0.01", "0.0100503358535", "0.010101010101", "0.695662921059"),
        ("0.001", "0.00100050033358", "0.001001001001", "0.693397336925"),
    ],
)
def test_proposition_3_8(p_min, threshold, alpha, bound):
    """Below log 1/(1 - p_min) there is an epsilon of local differential privacy, at it there is none."""
    p = Fraction(p_min)
    law = [p, 1 - p]
    same(-math.log1p(-float(p)), threshold)
    same(float(excluding_threshold(law)), alpha)
    half = -math.log1p(-float(p)) / 2
    same(dl.convert("pointwise_maximal_leakage", half, to="local_dp", p_min=p).value, bound)
    excluding = dl.measure(excluding_channel(law, excluding_threshold(law)), prior=law)
    assert excluding["local_dp"].exact == "infinite"
    assert excluding["pointwise_maximal_leakage"].lower <= 2 * half * (1 + 1e-15)
    assert dl.convert("pointwise_maximal_leakage", 2 * half + 1e-12, to="local_dp", p_min=p).value in (None, math.inf)


def test_the_mechanism_of_proposition_3_8():
    told = dl.measure(excluding_channel(P1, "0.125"), prior=P1, outputs=True)
    inside(told["pointwise_maximal_leakage[0]"], "0.2231435513")
    inside(told["pointwise_maximal_leakage[1]"], "0.1053605157")
    at_most = dl.measure(excluding_channel(P1, excluding_threshold(P1)), prior=P1, outputs=True)
    assert at_most["pointwise_maximal_leakage[0]"].exact == "log 1.25"
    assert at_most["pointwise_maximal_leakage[1]"].exact == "log 1.25"
    for alpha in (0, "0.26"):
        with pytest.raises(InputError, match="at most 1/4"):
            excluding_channel(P1, alpha)
    for law in ([1], [1, 0]):
        with pytest.raises(InputError, match="two values"):
            excluding_threshold(law)


@pytest.mark.parametrize(
    ("p_min", "epsilon", "gap", "copies", "whole", "told"),
    [
        ("0.2", "1", "0.1", "3.63846282216", 4, "1.53873478575"),
        ("0.5", "0.1", "0.01", "46.0016601932", 47, "0.68409301639"),
        ("0.01", "0.5", "0.001", "23.0047501749", 24, "4.60456209389"),
        ("0.1", "1", "0.001", "9.10447981465", 10, "2.30217657708"),
    ],
)
def test_theorem_4_3(p_min, epsilon, gap, copies, whole, told):
    """Copies of one record, and what so many answers of randomised response tell about it."""
    found = copies_threshold(epsilon, p_min, gap)
    same(found, copies)
    assert math.floor(found) + 1 == whole
    asked = {"to": "pointwise_maximal_leakage", "p_min": p_min}
    most = -math.log(float(p_min))
    leaks = [dl.convert("differential_privacy", epsilon, records=n, **asked).value for n in (whole - 1, whole)]
    same(leaks[1], told)
    assert most - leaks[0] > float(gap) > most - leaks[1]
    at = dl.convert("local_dp", Fraction(epsilon) * Fraction(found), **asked).value
    assert most - at == pytest.approx(float(gap), abs=1e-13)


def test_few_copies_and_refusals():
    assert copies_threshold(1, "1/2", 5) == 0.0
    for wrong in ((0, 0.5, 1), (1, 0.6, 1), (1, 0, 1), (1, 0.5, 0)):
        with pytest.raises(InputError, match="expected a number"):
            copies_threshold(*wrong)


# Whether enough records have a property: the digits of Figure 1 of the paper on inferential privacy, with both answers.


FIGURE_1 = [  # p, n, m = at - 1; of "yes": Chernoff's bound, the leakage; of "no": the leakage; what is left of a record, yes and no
    ("0.3", 200, 0, "1.046183829e-31", "1.046183829e-31", "71.33498879", "0.35667494", "0"),
    ("0.3", 200, 20, "7.878083832e-11", "9.876887911e-12", "25.34082364", "0.35667494", "0.10352355"),
    ("0.3", 200, 40, "0.005837216005", "0.0009287457083", "6.98213992", "0.35681551", "0.21581254"),
    ("0.3", 200, 50, "0.344548608", "0.07208186594", "2.66577723", "0.36324402", "0.27270117"),
    ("0.3", 500, 100, "2.584328254e-6", "2.694358399e-7", "15.12693568", "0.35667498", "0.21991626"),
    ("0.3", 1000, 250, "0.00210547989", "0.0002598367912", "8.255586766", "0.35669464", "0.28362374"),
    ("0.3", 2000, 560, "0.1568178524", "0.02674962483", "3.634579829", "0.35758914", "0.32352511"),
    ("0.5", 200, 80, "0.01798669715", "0.002846625796", "5.863043893", "0.69253055", "0.49727217"),
    ("0.5", 500, 225, "0.08527723017", "0.01426433398", "4.257116673", "0.69151388", "0.58538675"),
    ("0.5", 1000, 450, "0.006704230029", "0.000865642603", "7.052471223", "0.69305394", "0.59088318"),
    ("0.5", 2000, 960, "0.225409039", "0.03940991414", "3.25337811", "0.69120022", "0.64580284"),
]
LARGEST = {200: (50, 56), 500: (134, 144), 1000: (277, 291), 2000: (568, 588)}


def near(value, digits):
    """To the last digit that is given, of numbers however small."""
    mantissa, _, exponent = digits.partition("e")
    assert abs(value - float(digits)) <= 0.6 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


@each("p, n, m, bound, yes, no, left_yes, left_no", *FIGURE_1)
def test_figure_1(p, n, m, bound, yes, no, left_yes, left_no):
    found = ThresholdDisclosure.of(n, p, m + 1)
    near(found.chernoff[1], bound)
    for value, digits in zip(found.leakage + found.record_min_entropy, (no, yes, left_no, left_yes), strict=True):
        near(value, digits)
    assert found.leakage[1] <= found.chernoff[1] * (1 + 1e-15)
    before = -math.log(max(float(p), 1 - float(p)))
    assert found.record_min_entropy[1] >= before - found.leakage[1] - 1e-15  # what the theorem says


@each(
    "n, m, p, bound, told",
    (200, 180, "0.5", "1.158402619e-33", "1.237921408e-34"),
    (500, 400, "0.7", "1.498107818e-6", "1.542677213e-7"),
    (1000, 600, "0.5", "1.19746074e-9", "9.008412707e-11"),
)
def test_the_other_answer_where_it_is_the_likely_one(n, m, p, bound, told):
    found = ThresholdDisclosure.of(n, p, m + 1)
    near(found.chernoff[0], bound)
    near(found.leakage[0], told)
    if (
        p == "0.5"
    ):  # exact sums of binomials; by doubles of a library's tail the first was 1.237922284e-34, whose seventh digit is wrong
        near(-math.log1p(-sum(math.comb(n, s) for s in range(m + 1, n + 1)) / 2**n), told)
    assert found.chernoff[1] == math.inf


def test_the_largest_threshold_at_which_yes_discloses_nobody():
    """Its leakage is then below the least min-entropy of a record before the release, log 1/0.7 = 0.356674943939."""
    near(-math.log(0.7), "0.356674943939")
    for n, at_most in LARGEST.items():
        for m, told in zip(at_most, ("chernoff", "leakage"), strict=True):
            below, beyond = (getattr(ThresholdDisclosure.of(n, "0.3", m + k), told)[1] for k in (1, 2))
            assert below < -math.log(0.7) < beyond


def test_small_cases_exactly():
    """By listing the counts, in fractions; Chernoff says nothing where the share is p itself."""
    for n, p, at in (
        (1, Fraction(3, 10), 1),
        (5, Fraction(2, 5), 3),
        (6, Fraction(9, 10), 6),
        (4, Fraction(1, 10**9), 4),
    ):
        law = [math.comb(n, s) * p**s * (1 - p) ** (n - s) for s in range(n + 1)]
        found = ThresholdDisclosure.of(n, p, at)
        for side, values in enumerate((range(at), range(at, n + 1))):
            chance = sum(law[s] for s in values)
            share = sum(s * law[s] for s in values) / (n * chance)
            assert -math.log(chance) <= found.leakage[side] + 1e-12
            assert found.leakage[side] == pytest.approx(-math.log(chance), rel=1e-9)
            assert found.record_min_entropy[side] == pytest.approx(-math.log(max(share, 1 - share)), abs=1e-12)
    assert ThresholdDisclosure.of(10, "0.3", 4).chernoff[1] == math.inf
    assert (
        ThresholdDisclosure.of(10, "0.3", 3).chernoff[0] == ThresholdDisclosure.of(10, "0.7", 8).chernoff[1] == math.inf
    )


@each("wrong", (0, 0.5, 1), (10, 0, 1), (10, 1, 1), (10, 0.5, 0), (10, 0.5, 11), (10**6 + 1, 0.5, 1))
def test_what_is_no_threshold_is_refused(wrong):
    refused(lambda: ThresholdDisclosure.of(*wrong))
