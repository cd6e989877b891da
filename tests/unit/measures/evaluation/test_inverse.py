"""The least epsilon for a delta."""

import math
from fractions import Fraction

from dalenius.measures.evaluation import Ends, least_epsilon

TENTH = Fraction(1, 10)


def test_it_encloses_where_a_curve_comes_down():
    def curve(factor):
        exact = max(Fraction(0), 1 - Fraction(int(factor.p), int(factor.q)) / 4)
        return Ends(exact, exact)

    found = least_epsilon(curve, TENTH)
    assert found.lower <= math.log(3.6) + 1e-15
    assert math.log(3.6) - 1e-15 <= found.upper
    assert found.upper - found.lower < 1e-12


def test_it_encloses_a_step():
    found = least_epsilon(lambda factor: Ends(*[Fraction(1 if factor < 5 else 0)] * 2), TENTH)
    assert found.lower <= math.log(5) <= found.upper + 1e-15
    assert found.upper - found.lower < 1e-12


def test_no_epsilon_is_large_enough():
    found = least_epsilon(lambda factor: Ends(Fraction(1, 2), Fraction(1, 2)), TENTH)
    assert found.lower > 500
    assert found.upper == math.inf


def test_what_is_open_ends_the_search():
    found = least_epsilon(lambda factor: Ends(Fraction(0), Fraction(1)), TENTH)
    assert (found.lower, found.upper) == (0, math.inf)
