"""From a formula to its interval: evaluated in exact numbers and balls, with more bits until the interval is narrow."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from dalenius.evidence import exact_fraction_above
from dalenius.exact import fraction_text
from dalenius.information import measures as formulas
from dalenius.information.arrays import Floats
from dalenius.information.balls import exactly, fraction
from dalenius.information.deadline import TimeIsOverError
from dalenius.information.law_classes import TINY, GivenChannel, worst_law
from dalenius.information.measures import PriorClass
from dalenius.information.measures.numbers import Numbers, divergence, doubles, largest, least, quotient, rationals

PRECISIONS = (128, 512, 2048)
NARROW = Fraction(1, 2**60)  # relative width beyond which no digit is shown
MOST_BITS = 128  # of a rational that is told exactly
MOST_CHARACTERS = 12  # of a decimal that is told instead of p/q
LOG = "log "

End = Fraction | float


@dataclass(frozen=True)
class Ends:
    """lower <= value <= upper, fractions or infinite; `exact` says the value itself, where it is rational or the log of a rational.

    `most` says so of the upper end alone.
    """

    lower: End
    upper: End
    exact: str | None = None
    most: str | None = field(default=None, repr=False)

    @property
    def narrow(self) -> bool:
        """True if no more bits are needed."""
        if isinstance(self.upper, float) or isinstance(self.lower, float):
            return self.lower == self.upper
        return self.upper - self.lower <= NARROW * self.upper

    def up_to(self, other: Ends) -> Ends:
        """From this value to another one that is no less."""
        return Ends(self.lower, other.upper, most=other.exact)

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
    return Ends(max(exactly(lower.lower()), Fraction(0)), exactly(upper.upper()) if known else math.inf)


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
    if (exact := _power_of_two(nats.exact)) is not None:
        return Ends(exact, exact, str(exact))
    with ctx.workprec(PRECISIONS[1]):
        ball = arb(2).log()
        low, high = exactly(ball.lower()), exactly(ball.upper())
    lower = nats.lower if isinstance(nats.lower, float) else nats.lower / high
    upper = nats.upper if isinstance(nats.upper, float) else nats.upper / low
    if (most := _power_of_two(nats.most)) is not None:
        upper = most
    return Ends(lower, upper, nats.exact and nats.exact.replace(LOG, "log2 "))


def _power_of_two(told: str | None) -> Fraction | None:
    """k of the logarithm of 2^k."""
    if told is None or not told.startswith(LOG):
        return None
    power = Fraction(told.removeprefix(LOG))
    alone = power.denominator == 1 and power.numerator.bit_count() == 1
    return Fraction(power.numerator.bit_length() - 1) if alone else None


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
        exact = fraction(value) - exponent
        return Ends(exact, exact, _told(exact))
    told = _told(fraction(value)) if isinstance(value, fmpq) else None
    ball = arb(value).log() if exponent else arb(value)
    if not ball.is_finite():
        infinite = bool(ball > sys.float_info.max)
        return Ends(math.inf if infinite else Fraction(0), math.inf, "infinite" if infinite else None)
    lower, upper = exactly(ball.lower()), exactly(ball.upper())
    return Ends(max(lower, Fraction(0)), upper, told and f"{LOG}{told}")


def _told(value: Fraction) -> str | None:
    if value.numerator.bit_length() + value.denominator.bit_length() > MOST_BITS:
        return None
    text = fraction_text(value)
    return text if len(text) <= MOST_CHARACTERS else str(value)


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
        return max(exactly(ball.upper() if sign > 0 else ball.lower()), Fraction(0))


# Suprema over a class of priors, between bounds that are evaluated in exact numbers and balls.
#
# A channel's measure may be concave in the prior, or a ratio with a linear denominator; nothing here searches more than a convex set.


def largest_information(channel: Numbers, priors: PriorClass) -> arb:
    """A ball around max over the class of I(P;W), which is concave in P.

    *Bound because* a mixture of laws of the class is in the class, and its information is evaluated; and because for every law r of
    the outputs I(P;W) <= sum_x P(x) D(W_x || r), which is linear in P: its maximum over the class is what `PriorClass.below` bounds.
    """
    found = worst_law(GivenChannel.plain(doubles(channel)), priors)
    return _between(channel, priors, found.law, found.outputs[0])


def _between(channel: Numbers, priors: PriorClass, prior: Numbers, output: Floats) -> arb:
    balls = np.array([arb(x) for x in prior], dtype=object)
    lower = arb(formulas.mutual_information(channel, balls).item())
    law = rationals(np.maximum(output, TINY))
    divergences = divergence(channel, law / law.sum())
    divergences[~priors.support(len(channel))] = fmpq(0)  # whatever stands where no prior has any mass
    if not all(arb(x).is_finite() for x in divergences):
        return arb.nan()
    return lower.union(-arb(priors.below(-_all_above(divergences))))


def exp_largest_pointwise(channel: Numbers, priors: PriorClass) -> Any:
    """e^l, l the supremum over the class of the largest pointwise maximal leakage of an output."""
    ratios = [exp_pointwise_of_column(column, priors) for column in channel.T]
    return largest(np.array(ratios, dtype=object)).item()


def exp_pointwise_of_column(column: Numbers, priors: PriorClass) -> Any:
    """The same of one output y, whose column of the channel is given: max_x W(x,y) / min_P sum_x P(x) W(x,y)."""
    likely = priors.support(len(column))
    return _ratio(largest(column[likely]).item(), _least_mean(column, priors))


def exp_largest_lift(channel: Numbers, priors: PriorClass) -> Any:
    """The same of information privacy, d and 1/d with d = W(x,y) / sum_x P(x) W(x,y): the largest mean of a column counts, too."""
    likely = priors.support(len(channel))
    falls = [_ratio(-_least_mean(-column, priors), least(column[likely]).item()) for column in channel.T]
    rises = exp_largest_pointwise(channel, priors)
    return largest(np.array([rises, *falls], dtype=object)).item()


def _ratio(above: Any, below: Any) -> Any:
    return quotient(np.array([above], dtype=object), np.array([below], dtype=object), empty=1)[0]


def _least_mean(column: Numbers, priors: PriorClass) -> Any:
    """A ball around min over the class of sum_x P(x) k(x).

    *Bound because* probabilities are at least 0: smaller numbers have a smaller mean.
    """
    small, large = _below(column), _all_above(column)
    lower, upper = priors.below(small), (priors.exact_law(large) * large).sum()
    return lower if isinstance(lower, fmpq) and lower == upper else arb(lower).union(arb(upper))


def _all_above(numbers: Numbers) -> Numbers:
    """Rationals at or above these numbers."""
    return -_below(-numbers)


def _below(numbers: Numbers) -> Numbers:
    return np.array([x if isinstance(x, fmpq) else arb(x).lower().fmpq() for x in numbers], dtype=object)
