"""Ends of intervals as text for people: decimals, rounded outward, with as many digits as the width deserves."""

from __future__ import annotations

import math
from fractions import Fraction

LOSS = Fraction(1, 100)  # of the width, that each end may lose
MOST_DIGITS = 17  # of an end where there is no width to compare with; they tell doubles apart
SHORT_FRACTION = 40  # bits of a fraction that is shown as it is
PLAIN = range(-4, 16)  # powers of ten that are written without an exponent

Number = float | Fraction


def interval_text(lower: Number, upper: Number, *, places: int | None = None) -> str:
    """Both ends as in `ends_text`, with two dots between them.

    >>> interval_text(0.079541505865194, 0.079541505865407)
    '0.079541505865193 .. 0.079541505865407'
    >>> interval_text(0.079541505865194, 0.079541505865407, places=4)
    '0.0795 .. 0.0796'
    """
    return " .. ".join(ends_text(lower, upper, places=places))


def ends_text(lower: Number, upper: Number, *, places: int | None = None) -> tuple[str, str]:
    """The shortest decimals that contain [lower, upper] and each lose at most a hundredth of its width.

    Each end has two digits of its own at least, so that what is not 0 does not look like it. Where there is no width, an end is exact
    if 17 digits or a short fraction can say it, else it is rounded outward to 17 digits. Beside an infinite end six digits do.

    Parameters
    ----------
    lower, upper : float or Fraction
        Taken exactly: a double is the binary number that it is.
    places : int, optional
        At most so many digits after the point, for tables; what is lost is then not bounded.

    >>> ends_text(Fraction(1, 3), Fraction(2, 3))
    ('0.33', '0.67')
    >>> ends_text(0.0, 1.137e-13), ends_text(Fraction(1, 3), Fraction(1, 3)), ends_text(0.5, math.inf)
    (('0', '1.14e-13'), ('1/3', '1/3'), ('0.5', 'inf'))
    """
    if _infinite(lower) or _infinite(upper):
        return text_below(lower), text_above(upper)
    low, high = Fraction(lower), Fraction(upper)
    loss = LOSS * (high - low)
    return _below(low, loss, places), _opposite(_below(-high, loss, places))


def plain_below(x: float) -> float:
    """The double itself, or the next one below it whose own decimal, as Python and JSON write it, is not above it.

    The shortest decimal that stands for a double may be above it; who reads it exactly would have a bound on the wrong side.
    What this answers it leaves as it is: numbers that are read, and written once more, stay what they were.

    >>> plain_below(0.5), plain_below(0.1), plain_below(0.3)
    (0.5, 0.1, 0.29999999999999993)
    """
    while not math.isinf(x) and Fraction(repr(x)) > Fraction(x):
        x = math.nextafter(x, -math.inf)
    return x


def plain_above(x: float) -> float:
    """The same from above.

    >>> plain_above(0.5), plain_above(0.1) > 0.1
    (0.5, True)
    """
    return -plain_below(-x)


def text_below(x: Number, digits: int = 6) -> str:
    """The largest decimal of so many significant digits that is at most `x`.

    >>> text_below(2 / 3), text_below(-2 / 3), text_below(0.1), text_below(math.inf)
    ('0.666666', '-0.666667', '0.1', 'inf')
    """
    if _infinite(x):
        return str(x)
    places = digits - 1 - _magnitude(Fraction(x))
    return _text(_floor(Fraction(x), places), places)


def text_above(x: Number, digits: int = 6) -> str:
    """The smallest decimal of so many significant digits that is at least `x`.

    >>> text_above(2 / 3), text_above(1e-300, 3), text_above(0)
    ('0.666667', '1.01e-300', '0')
    """
    return _opposite(text_below(-x, digits))


def gap_text(gap: float) -> str:
    """A relative gap with three digits, rounded upward: it is 0 only where it is.

    >>> gap_text(0.0), gap_text(1.23456e-7), gap_text(5e-324)
    ('0', '1.24e-7', '4.95e-324')
    """
    return text_above(gap, 3)


def percent_text(least: Number, most: Number) -> str:
    """A share that lies between two, in percent, with two digits, rounded outward: an end is 0 only where it is.

    >>> percent_text(0.0, 0.00123), percent_text(0.72238, 0.7224), percent_text(1.0, 1.0)
    ('0 .. 0.13 %', '72 .. 73 %', '100 %')
    """
    ends = text_below(100 * Fraction(least), 2), text_above(100 * Fraction(most), 2)
    return f"{ends[0]} %" if ends[0] == ends[1] else f"{ends[0]} .. {ends[1]} %"


def _below(x: Fraction, loss: Fraction, most: int | None) -> str:
    """The decimal in [x - loss, x] with the fewest digits, two at least; without a loss `x` itself, or 17 digits."""
    places = 1 - _magnitude(x)
    if loss > 0:
        while x - _floor(x, places) / Fraction(10) ** places > loss:
            places += 1
    else:
        places += MOST_DIGITS - 2
        short = x.numerator.bit_length() + x.denominator.bit_length() <= SHORT_FRACTION
        if most is None and short and _floor(x, places) != x * Fraction(10) ** places:
            return str(x)
    places = places if most is None else min(places, most)
    return _text(_floor(x, places), places)


def _infinite(x: Number) -> bool:
    return isinstance(x, float) and math.isinf(x)


def _floor(x: Fraction, places: int) -> int:
    """The largest whole number of 10^-places that is at most x."""
    return math.floor(x * Fraction(10) ** places)


def _magnitude(x: Fraction) -> int:
    """The exponent e with 10^e <= |x| < 10^(e + 1); 0 for 0."""
    if not x:
        return 0
    exponent = math.floor((x.numerator.bit_length() - x.denominator.bit_length() + 1) * math.log10(2.0)) + 1
    while abs(x) < Fraction(10) ** exponent:
        exponent -= 1
    return exponent


def _opposite(text: str) -> str:
    return text if text == "0" else text[1:] if text.startswith("-") else f"-{text}"


def _text(digits: int, places: int) -> str:
    """digits * 10^-places in the shortest way: plain, or with an exponent where it is very small or large."""
    if not digits:
        return "0"
    sign, figures = "-" if digits < 0 else "", str(abs(digits))
    exponent = len(figures) - 1 - places
    figures = figures.rstrip("0")
    if exponent not in PLAIN:
        point = f".{figures[1:]}" if len(figures) > 1 else ""
        return f"{sign}{figures[0]}{point}e{exponent}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{figures}"
    figures = figures.ljust(exponent + 1, "0")
    point = f".{figures[exponent + 1 :]}" if len(figures) > exponent + 1 else ""
    return f"{sign}{figures[: exponent + 1]}{point}"
