"""The least epsilon for a delta: where a function that does not rise comes down to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx, fmpq

from dalenius.measures.evaluation import Ends

__all__ = ["least_epsilon"]

LARGEST = 700.0  # of an epsilon whose exponential is a double
STEPS = 60
BITS = 128


def least_epsilon(delta_at: Callable[[fmpq], Ends], delta: Fraction) -> Ends:
    """An interval of inf{epsilon >= 0: delta(epsilon) <= delta}, in nats.

    *Bound because* delta(epsilon) does not rise: where an interval of it lies above `delta` the infimum is at least epsilon, where one
    lies at or below `delta` it is at most that. Where an interval leaves it open the search ends.

    Parameters
    ----------
    delta_at : callable
        The interval of delta for e^epsilon.
    delta : Fraction

    >>> least_epsilon(lambda factor: Ends(Fraction(0), Fraction(0)), Fraction(1, 10)).upper
    Fraction(0, 1)
    """
    if delta_at(fmpq(1)).upper <= delta:
        return Ends(Fraction(0), Fraction(0), "0")
    low, high, step = 0.0, math.inf, 1.0
    for _ in range(STEPS):
        middle = step if math.isinf(high) else 0.5 * (low + high)
        if middle > LARGEST or middle in (low, high):
            break
        found = delta_at(_exp(middle))
        if found.upper <= delta:
            high = middle
        elif found.lower > delta:
            low, step = middle, 2.0 * step
        else:
            break
    return Ends(_log(_exp(low), -1), math.inf if math.isinf(high) else _log(_exp(high), 1))


def _exp(x: float) -> fmpq:
    """The double e^x, exactly."""
    return fmpq(*map(int, math.exp(x).as_integer_ratio()))


def _log(x: fmpq, sign: int) -> Fraction:
    """log x, rounded downward or upward."""
    with ctx.workprec(BITS):
        ball = arb(x).log()
        mantissa, exponent = (ball.upper() if sign > 0 else ball.lower()).man_exp()
    return max(Fraction(int(mantissa)) * Fraction(2) ** int(exponent), Fraction(0))
