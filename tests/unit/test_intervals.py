"""Printed intervals contain the proved ones, and are hardly wider."""

import math
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from campaigns import each
from dalenius.exact import as_fraction
from dalenius.intervals import ends_text, gap_text, interval_text, percent_text, text_above, text_below
from support import examples

MAGNITUDES = st.builds(lambda digits, exponent: digits * 10.0**exponent, st.floats(1.0, 10.0), st.integers(-300, 2))
WIDTHS = st.builds(lambda digits, exponent: digits * 10.0**exponent, st.floats(1.0, 10.0), st.integers(-16, 0))


@examples(150, 20_000)
@given(MAGNITUDES, WIDTHS, st.booleans())
@example(0.079541505865194, 2.13e-13, False)
@example(1e-300, 1e-16, False)
def test_the_printed_interval_holds_the_proved_one_and_loses_a_fiftieth_of_its_width(lower, width, relative):
    """For any width and size; what is read back from the text is exact."""
    low = Fraction(lower)
    high = low + Fraction(width) * (low if relative else 1)
    below, above = (Fraction(text) for text in ends_text(low, high))
    assert 0 < below <= low <= high <= above
    assert above - below <= (high - low) * Fraction(51, 50)


@examples(100, 20_000)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@example(0.1, 0.1)
@example(math.nextafter(0.4, 0.0), 0.4)
@example(5e-324, 5e-324)
@example(-1e308, 1e308)
def test_any_two_doubles_are_printed_outward(x, y):
    lower, upper = min(x, y), max(x, y)
    low, high = ends_text(lower, upper)
    assert Fraction(low) <= Fraction(lower)
    assert Fraction(upper) <= Fraction(high)
    assert Fraction(high) - Fraction(low) <= Fraction(51, 50) * (Fraction(upper) - Fraction(lower)) or lower == upper
    assert as_fraction(low, "the text") == Fraction(low)  # model files and options read it
    for places in (0, 4):
        low, high = (Fraction(text) for text in ends_text(lower, upper, places=places))
        assert low <= Fraction(lower)
        assert Fraction(upper) <= high
        assert low * 10**places == int(low * 10**places)


@examples(100, 20_000)
@given(st.fractions(), st.integers(1, 20))
def test_one_end_alone_is_directed(x, digits):
    below, above = Fraction(text_below(x, digits)), Fraction(text_above(x, digits))
    assert below <= x <= above
    assert above - below <= Fraction(10) ** (1 - digits) * abs(x)


@each(
    "lower, upper, text",
    (0.0, 0.0, "0 .. 0"),
    (Fraction(2, 5), Fraction(2, 5), "0.4 .. 0.4"),
    (Fraction(1, 3), Fraction(1, 3), "1/3 .. 1/3"),
    (Fraction(-1, 3), Fraction(1, 3), "-0.34 .. 0.34"),
    (0.1, 0.1, "0.1 .. 0.10000000000000001"),
    (0.5, math.inf, "0.5 .. inf"),
    (-math.inf, math.inf, "-inf .. inf"),
    (math.inf, math.inf, "inf .. inf"),
    (0, 1.1368683772e-13, "0 .. 1.14e-13"),
    (1e-300, 1e-16, "1e-300 .. 1e-16"),
    (1234.5, 1e20, "1200 .. 1e20"),
    (0.368064040010, 0.368064207169, "0.36806404 .. 0.368064208"),
    (Fraction(0), Fraction(1, 10**400), "0 .. 1e-400"),
    (Fraction(1), 1 + Fraction(3, 10**30), "1 .. 1.000000000000000000000000000003"),
)
def test_as_many_digits_as_the_width_deserves(lower, upper, text):
    assert interval_text(lower, upper) == text


@each(
    "x, text",
    (0, "0"),
    (0.5, "0.5"),
    (Fraction(1, 3), "0.333334"),
    (0.1234561, "0.123457"),
    (999999.5, "1000000"),
    (1e-300, "1.00001e-300"),
    (10**15, "1000000000000000"),
    (10**16, "1e16"),
    (1234567.0, "1234570"),
    (Fraction(2**20_001 - 1, 2**20_000), "2"),
    (Fraction(10) ** 5000 + 1, "1.00001e5000"),
)
def test_rounded_upward(x, text):
    assert text_above(x) == text


def test_a_gap_is_0_only_where_it_is():
    assert [gap_text(gap) for gap in (0.0, 5e-324, 2.68e-12, 1e-4, math.inf)] == [
        "0",
        "4.95e-324",
        "2.68e-12",
        "0.000101",  # the double beside 1e-4 is larger
        "inf",
    ]


@each(
    "least, most, text",
    (0.0, 0.0, "0 %"),
    (0.0, 1e-12, "0 .. 1e-10 %"),
    (1e-9, 2e-9, "1e-7 .. 2.1e-7 %"),
    (0.7161, 1.0, "71 .. 100 %"),
    (1 / 3, 1 / 3, "33 .. 34 %"),
)
def test_a_share_is_0_only_where_it_is(least, most, text):
    """In percent, outward: doubles are the binary numbers that they are."""
    assert percent_text(least, most) == text
