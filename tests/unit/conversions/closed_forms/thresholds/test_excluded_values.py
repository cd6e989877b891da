"""What passes a threshold: outputs that exclude a value, and copies of a record, with the digits of the theorems."""

import math
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius.conversions import copies_threshold, excluding_channel, excluding_threshold
from dalenius.errors import InputError
from digits import inside, same

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
