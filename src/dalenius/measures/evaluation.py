"""From a formula to its interval: evaluated in exact numbers and balls, with more bits until the interval is narrow."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from dalenius.evidence import exact_fraction_above
from dalenius.exact import fraction_text
from dalenius.information.deadline import TimeIsOverError

__all__ = ["PRECISIONS", "Ends", "doubles_around", "enclosed", "evaluated", "in_bits", "larger"]

PRECISIONS = (128, 512, 2048)
NARROW = Fraction(1, 2**60)  # relative width beyond which no digit is shown
MOST_BITS = 128  # of a rational that is told exactly
MOST_CHARACTERS = 12  # of a decimal that is told instead of p/q
LOG = "log "

End = Fraction | float


@dataclass(frozen=True)
class Ends:
    """lower <= value <= upper, fractions or infinite; `exact` says the value itself, where it is rational or the log of a rational."""

    lower: End
    upper: End
    exact: str | None = None

    @property
    def narrow(self) -> bool:
        """Whether no more bits are needed."""
        if isinstance(self.upper, float) or isinstance(self.lower, float):
            return self.lower == self.upper
        return self.upper - self.lower <= NARROW * self.upper

    def below(self, most: int) -> Ends:
        """The same value, which never exceeds `most`."""
        return self if self.upper <= most else Ends(self.lower, Fraction(most), self.exact)


def evaluated(value: Callable[[], Any], *, exponent: bool, precisions: Sequence[int] = PRECISIONS) -> Ends:
    """The interval of a formula; each precision is tried until the interval is narrow.

    Parameters
    ----------
    value : callable
        Called once for each precision tried, while that is set; gives an `fmpq`, or an `arb` around the value.
    exponent : bool
        Whether the measure is the logarithm of what `value` gives.
    precisions : sequence of int
        In bits.

    Every measure is at least 0, and so is the lower end. Where time is over, what fewer bits have told is told.
    """
    best = Ends(Fraction(0), math.inf)
    for precision in precisions:
        try:
            with ctx.workprec(precision):
                found = _ends(value(), exponent)
        except TimeIsOverError:
            if math.isinf(best.upper):
                raise
            break
        if found.upper - found.lower < best.upper - best.lower or found.lower == found.upper:
            best = found
        if best.narrow:
            break
    return best


def enclosed(lower: arb, upper: arb) -> Ends:
    """From a ball of what is attained to one of what is not exceeded; infinite where that is not known."""
    known = upper.is_finite()
    return Ends(max(_fraction(lower.lower()), Fraction(0)), _fraction(upper.upper()) if known else math.inf)


def larger(first: Ends, second: Ends) -> Ends:
    """An interval of the larger of two values."""
    if first == second:
        return first
    exact = first.exact if first.lower >= second.upper else second.exact if second.lower >= first.upper else None
    return Ends(max(first.lower, second.lower), max(first.upper, second.upper), exact)


def in_bits(nats: Ends) -> Ends:
    """The same value in bits, rounded outward; exact for the logarithm of a power of two.

    >>> in_bits(Ends(Fraction(1), Fraction(2), "log 4"))
    Ends(lower=Fraction(2, 1), upper=Fraction(2, 1), exact='2')
    """
    if nats.exact is not None and nats.exact.startswith(LOG):
        power = Fraction(nats.exact.removeprefix(LOG))
        if power.denominator == 1 and power.numerator.bit_count() == 1:
            exact = Fraction(power.numerator.bit_length() - 1)
            return Ends(exact, exact, str(exact))
    with ctx.workprec(PRECISIONS[1]):
        ball = arb(2).log()
        low, high = _fraction(ball.lower()), _fraction(ball.upper())
    lower = nats.lower if isinstance(nats.lower, float) else nats.lower / high
    upper = nats.upper if isinstance(nats.upper, float) else nats.upper / low
    return Ends(lower, upper, nats.exact and nats.exact.replace(LOG, "log2 "))


def doubles_around(ends: Ends) -> tuple[float, float]:
    """The narrowest doubles around both ends.

    >>> doubles_around(Ends(Fraction(1, 2), Fraction(1, 2)))
    (0.5, 0.5)
    """
    return max(0.0, -_above(-ends.lower)), _above(ends.upper)


def _above(x: End) -> float:
    """The smallest double that is at least x."""
    if isinstance(x, float):
        return x
    try:
        return exact_fraction_above(x)
    except OverflowError:
        return math.inf if x > 0 else -sys.float_info.max


def _ends(value: fmpq | arb, exponent: bool) -> Ends:
    if isinstance(value, arb) and value.is_finite() and value.is_exact():
        value = value.fmpq()
    if isinstance(value, fmpq) and (not exponent or value == 1):
        exact = Fraction(int(value.p), int(value.q)) - exponent
        return Ends(exact, exact, _told(exact))
    told = _told(Fraction(int(value.p), int(value.q))) if isinstance(value, fmpq) else None
    ball = arb(value).log() if exponent else arb(value)
    if not ball.is_finite():
        infinite = bool(ball > sys.float_info.max)
        return Ends(math.inf if infinite else Fraction(0), math.inf, "infinite" if infinite else None)
    lower, upper = _fraction(ball.lower()), _fraction(ball.upper())
    return Ends(max(lower, Fraction(0)), upper, told and f"{LOG}{told}")


def _told(value: Fraction) -> str | None:
    if value.numerator.bit_length() + value.denominator.bit_length() > MOST_BITS:
        return None
    text = fraction_text(value)
    return text if len(text) <= MOST_CHARACTERS else str(value)


def _fraction(end: arb) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
