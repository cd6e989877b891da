"""Two laws whose Rényi divergences are bounded, both ways: how far an event's probabilities can be apart.

The largest p - g q over the probabilities p and q that an event has under both laws is, by data processing, a program of two
scalars: of all orders a, D_a is that of the two coins. With the convex function

    F(p, q) = (p^a q^(1-a) + (1-p)^a (1-q)^(1-a) - 1) / (a (a-1)),    at a = 1 the divergence of the coins,

the guarantee D_a <= r says F(p, q) <= c and F(q, p) <= c, c = (exp((a-1) r) - 1) / (a (a-1)). A point is searched for in doubles; the
multipliers that make it a stationary point of the Lagrangian have closed forms. *Bound because* the Lagrangian is concave, so that
this is its maximum, and above the optimum whichever the point: the search can only cost sharpness.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, reduce

from flint import arb

from dalenius.conversions.programs import crossing, least_argument

LEAST, LARGEST = 1e-18, 600.0  # exponents that are searched with
NEAREST = -12.0  # log(a - 1) from which on the best order a is sought
TRIED = 32  # orders that are tried: errors count squared
Gap = Callable[[arb, arb, arb], arb]  # of an order, a divergence and an epsilon
Value = Callable[[float, float, float], float]  # of the same
SMALL = 1e-3  # exponent below which a series is used


def largest_gap(order: arb, divergence: arb, epsilon: arb) -> arb:
    """The largest P(A) - e^epsilon Q(A) of two laws with D_a(P || Q) <= r and D_a(Q || P) <= r, a >= 1 the order.

    Attained by two coins, and so by a channel of two inputs and two outputs.

    >>> largest_gap(arb(2), arb(0), arb(1)) == 0
    True
    >>> print(largest_gap(arb(2), arb(3) / 10, arb(3).log()).str(10, radius=False))
    0.04281575645
    """
    if divergence == 0:
        return arb(0)
    found = gap_at_one(order, divergence, epsilon)
    numbers = order, divergence, epsilon
    if _searched(*(doubles := [float(x.mid()) for x in numbers])):
        at, both = _near(*doubles)
        bound = (_at_both if both else _at_one)(*numbers, arb(at))
        found = _lower(found, bound)
    return found.max(arb(0)).min(arb(1))


def gap_at_one(a: arb, r: arb, epsilon: arb) -> arb:
    """e^((a-1)(r-epsilon)) (1 - 1/a)^(a-1) / a, by the multipliers at p = 1: the bound of Canonne, Kamath and Steinke."""
    if a == 1:
        return arb(1)
    return ((a - 1) * (r - epsilon)).exp() * (1 - 1 / a) ** (a - 1) / a


def largest_gap_of_all_orders(rho: arb, epsilon: arb) -> arb:
    """The same of laws with D_a <= a rho for all orders a > 1, both ways: the least over the orders.

    >>> print(largest_gap_of_all_orders(arb(1) / 10, arb(0)).str(9, radius=False))
    0.221741917
    """
    return _least_over_orders(rho, epsilon, largest_gap, _in_doubles)


def gap_of_all_orders_at_one(rho: arb, epsilon: arb) -> arb:
    """The least `gap_at_one` over the orders.

    >>> print(gap_of_all_orders_at_one(arb(1) / 10, arb(0)).str(9, radius=False))
    0.266780325
    """
    return _least_over_orders(rho, epsilon, gap_at_one, _at_one_in_doubles)


def _least_over_orders(rho: arb, epsilon: arb, gap: Gap, value: Value) -> arb:
    """The least bound of those of some orders, of which one is about the best by a `value` in doubles."""
    if rho == 0:
        return arb(0)
    # where (a-1)(a rho - epsilon) is least, which is the order far out
    far = ((epsilon / rho + 1) / 2).mid().max(arb(1))
    most = 2.0 + math.log(min(float(far), 1e300))
    near = 1 + arb(_best_order(value, float(rho.mid()), float(epsilon.mid()), most)).exp()
    return reduce(_lower, (gap(order, order * rho, epsilon) for order in (arb(1), near, far)))


def _lower(first: arb, second: arb) -> arb:
    """The ball that bounds better from above."""
    return second if second.is_finite() and second.upper() < first.upper() else first


def _power(b: arb, x: arb) -> arb:
    """(e^(b x) - 1)/b; x at b = 0."""
    return x if b == 0 else (b * x).expm1() / b


def _at_one(a: arb, r: arb, epsilon: arb, u: arb) -> arb:
    """The bound by D_a(P || Q) alone, at the coins with y = (1-p)/(1-q), p/q = y e^u, whose level curve has the slope e^epsilon.

    The slope dp/dq is y (e^(a u) - 1)/a divided by (e^((a-1) u) - 1)/(a-1), so that u says y.
    """
    rise = _power(a - 1, u)
    low = epsilon + rise.log() - _power(a, u).log()
    if not (low < 0 and low + u > 0):
        return arb.nan()
    p, q = -low.expm1() / -(-u).expm1(), -low.expm1() / (u.expm1() * low.exp())
    price = 1 / (((a - 1) * low).exp() * rise)
    told = (p * _power(a - 1, low + u) + (1 - p) * _power(a - 1, low)) / a
    return p - epsilon.exp() * q + price * (_power(a - 1, r) / a - told)


def _at_both(a: arb, r: arb, epsilon: arb, x: arb) -> arb:
    """The bound by both divergences, at the coins p = 1 - q = e^x / (1 + e^x), where both are equal."""
    rises, falls = _power(a - 1, x) - _power(a - 1, -x), _power(a, x) - _power(a, -x)
    g = epsilon.exp()
    if not (falls >= g * rises and g * falls >= rises):  # as the multipliers are at least 0
        return arb.nan()
    p = 1 / (1 + (-x).exp())
    told = (p * _power(a - 1, x) + (1 - p) * _power(a - 1, -x)) / a
    return p - g * (1 - p) + (1 + g) * (_power(a - 1, r) / a - told) / (rises + falls)


# The search in doubles.


@lru_cache(maxsize=256)  # the chains that are tried for one question ask for the same again
def _best_order(value: Value, rho: float, epsilon: float, most: float) -> float:
    """About log(a - 1) of the best order a."""

    def at(x: float) -> float:
        a = 1.0 + math.exp(x)
        return value(a, a * rho, epsilon)

    return least_argument(at, NEAREST, most, TRIED)


def _searched(a: float, r: float, epsilon: float) -> bool:
    """True if doubles hold what comes up; beyond that the bound at p = 1 is all there is."""
    return max(a * r, a * epsilon, epsilon) < LARGEST


def _near(a: float, r: float, epsilon: float) -> tuple[float, bool]:
    """About the best point, as `_at_one` or `_at_both` takes it, and whether it is one of `_at_both`."""
    level = _power_of(a - 1.0, r) / a
    kink = crossing(lambda x: _told(a, x, -x) < level, LEAST, LARGEST)
    if epsilon <= -kink - _log_slope(a, 2.0 * kink):
        return kink, True

    def short(u: float) -> bool:
        low = epsilon + _log_slope(a, u)
        return low >= 0.0 or _told(a, low + u, low) < level

    return crossing(short, LEAST, LARGEST), False


def _in_doubles(a: float, r: float, epsilon: float) -> float:
    """About the largest gap; infinity where doubles do not hold it."""
    if not _searched(a, r, epsilon):
        return math.inf
    at, both = _near(a, r, epsilon)
    low = -at if both else epsilon + _log_slope(a, at)
    high = at if both else low + at
    return math.expm1(low) * math.expm1(epsilon - high) / -math.expm1(low - high)


def _at_one_in_doubles(a: float, r: float, epsilon: float) -> float:
    """Logarithm of `gap_at_one`."""
    return (a - 1.0) * (r - epsilon + math.log1p(-1.0 / a)) - math.log(a)


def _told(a: float, high: float, low: float) -> float:
    """F of the coins with log p/q = `high` and log (1-p)/(1-q) = `low`: two terms that are at least 0, so that nothing cancels."""
    p, rest = math.expm1(low) / math.expm1(low - high), math.expm1(high) / math.expm1(min(high - low, LARGEST))
    return (p * _excess(a, high) + rest * _excess(a, low)) / a


def _excess(a: float, x: float) -> float:
    """(e^((a-1) x) - 1)/(a-1) + e^-x - 1, which is at least 0."""
    if abs(a * x) < SMALL:
        b = a - 1.0
        return x * x * (0.5 * a + x * ((b * b - 1.0) / 6.0 + x * (b**3 + 1.0) / 24.0))
    return _power_of(a - 1.0, x) + math.expm1(-x)


def _power_of(b: float, x: float) -> float:
    """As `_power`."""
    return x if b == 0.0 else math.expm1(min(b * x, LARGEST)) / b


def _log_slope(a: float, u: float) -> float:
    """log of (e^((a-1) u) - 1)/(a-1) divided by (e^(a u) - 1)/a."""
    below = math.log(u) if a == 1.0 else math.log(-math.expm1((1.0 - a) * u) / (a - 1.0))
    return below - math.log(-math.expm1(-a * u) / a) - u
