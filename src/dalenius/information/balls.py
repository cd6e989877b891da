"""Rationals in the arithmetic of python-flint and back, balls around them, and the ends of balls as doubles."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpq


def rational(x: Fraction | float) -> fmpq:
    """The same number in python-flint's arithmetic.

    >>> rational(Fraction(1, 3)), rational(0.5)
    (1/3, 1/2)
    """
    return fmpq(*map(int, x.as_integer_ratio()))


def fraction(x: fmpq) -> Fraction:
    """The way back.

    >>> fraction(fmpq(1, 3))
    Fraction(1, 3)
    """
    return Fraction(int(x.p), int(x.q))


def ball(number: Fraction) -> arb:
    """A ball around a rational.

    >>> ball(Fraction(1, 2)) == 0.5
    True
    """
    return arb(rational(number))


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
