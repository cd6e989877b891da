"""Balls around rationals, and the ends of balls as doubles."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpq


def ball(number: Fraction) -> arb:
    """A ball around a rational.

    >>> ball(Fraction(1, 2)) == 0.5
    True
    """
    return arb(fmpq(number.numerator, number.denominator))


def exactly(end: arb) -> Fraction:
    """The number that an end of a ball is.

    >>> exactly(arb(0.75).lower())
    Fraction(3, 4)
    """
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def above(x: arb) -> float:
    """A double that is at least the number in the ball; infinite if the ball has no end.

    >>> above(arb(1) / 3) >= 1 / 3
    True
    """
    return math.nextafter(float(x.upper()), math.inf) if x.is_finite() else math.inf


def below(x: arb) -> float:
    """A double that is at most the number in the ball; -inf if the ball has no end.

    >>> below(arb(1) / 3) <= 1 / 3
    True
    """
    return -above(-x)
