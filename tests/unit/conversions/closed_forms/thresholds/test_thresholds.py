"""Whether enough records have a property: the digits of Figure 1 of the paper on inferential privacy, with both answers."""

import math
from fractions import Fraction

import pytest

from campaigns import each
from dalenius.conversions import ThresholdDisclosure
from dalenius.errors import InputError

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
    with pytest.raises(InputError):
        ThresholdDisclosure.of(*wrong)
