"""Ends: narrow where digits allow, infinite where the measure is, and never on the wrong side."""

import math
from fractions import Fraction

from flint import arb, ctx, fmpq

from dalenius.measures.evaluation import Ends, doubles_around, evaluated, in_bits, larger, least_epsilon


def test_rationals_are_exact_and_their_logarithms_told():
    assert evaluated(lambda: fmpq(1, 3), exponent=False) == Ends(Fraction(1, 3), Fraction(1, 3), "1/3")
    assert evaluated(lambda: fmpq(1), exponent=True) == Ends(Fraction(0), Fraction(0), "0")
    found = evaluated(lambda: fmpq(7), exponent=True)
    assert found.exact == "log 7"
    assert abs(found.lower - Fraction(math.log(7))) < 1e-15
    assert found.narrow
    assert evaluated(lambda: fmpq(10**200 + 1, 10**200), exponent=False).exact is None


def test_more_bits_are_taken_until_the_interval_is_narrow():
    tried = []

    def close() -> arb:
        tried.append(ctx.prec)
        return (1 + arb(fmpq(1, 10**60))) - 1

    found = evaluated(close, exponent=False)
    assert found.narrow
    assert found.lower <= Fraction(1, 10**60) <= found.upper
    assert tried == [128, 512]


def test_what_is_not_known_stays_valid_and_what_is_infinite_is_said():
    assert evaluated(lambda: arb("nan"), exponent=False) == Ends(Fraction(0), math.inf)
    assert evaluated(lambda: arb.pos_inf(), exponent=True) == Ends(math.inf, math.inf, "infinite")
    assert evaluated(lambda: arb(0, 1), exponent=False) == Ends(Fraction(0), 1 + Fraction(1, 2**29))


def test_doubles_lie_outside():
    lower, upper = doubles_around(Ends(Fraction(1, 3), Fraction(1, 3)))
    assert Fraction(lower) < Fraction(1, 3) < Fraction(upper)
    assert math.nextafter(lower, 1) == upper
    assert doubles_around(Ends(Fraction(0), Fraction(1, 10**400))) == (0.0, 5e-324)
    assert doubles_around(Ends(Fraction(10**400), Fraction(10**400)))[1] == math.inf
    assert math.isfinite(doubles_around(Ends(Fraction(10**400), Fraction(10**400)))[0])
    assert math.copysign(1.0, doubles_around(Ends(Fraction(0), Fraction(1)))[0]) == 1.0


def test_bits():
    assert in_bits(Ends(Fraction(0), Fraction(1), "log 8")) == Ends(Fraction(3), Fraction(3), "3")
    found = in_bits(evaluated(lambda: fmpq(7), exponent=True))
    assert found.lower <= found.upper
    assert math.isclose(found.upper, math.log2(7))
    assert found.exact == "log2 7"
    assert in_bits(Ends(math.inf, math.inf)) == Ends(math.inf, math.inf)


def test_the_larger_of_two():
    low, high = Ends(Fraction(1), Fraction(3)), Ends(Fraction(2), Fraction(4))
    assert larger(low, high) == Ends(Fraction(2), Fraction(4))
    assert larger(Ends(Fraction(1), Fraction(1), "1"), Ends(Fraction(2), Fraction(2), "2")).exact == "2"
    assert larger(low, low) == low


# The least epsilon for a delta.


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
