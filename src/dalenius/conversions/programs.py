"""Small convex programs whose value is a conversion: multipliers found in doubles, bounds evaluated in balls.

Each says the largest delta that an information of at most mu (nats) leaves. A point is searched for in doubles, by bisection or golden
section, and read as multipliers: *bound because* the Lagrange dual is above the optimum for any multipliers, and its inner maximum,
a concave function of one number q, is below each of its tangents on [0, 1]. So the search can only cost sharpness.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from dalenius.conversions.numbers import positive

STEPS = 64  # of a search in doubles, where it does not end before
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
NEAR = 1e-13  # relative, of what is sought in doubles: a bound loses the square of it
LARGEST = 700.0  # exponent that a double still holds
SEARCHED = (
    1e-30,
    36.0,
)  # informations that doubles can search with: smaller ones are taken for this, of larger ones nothing is said
LEAST = 1e-290  # probability that is searched
SMALL = 0.01  # ratio below which a series is used
WIDEST = 600.0  # epsilon for which the tails are searched

Term = tuple[arb, arb]  # weight w and slope s of w log(1 - q + q e^s)


def between_inputs(information: arb, epsilon: arb) -> arb:
    """The largest p0 - e^epsilon p1 with d(p0 || q) <= mu and d(p1 || q) <= mu for some q: two rows of a channel of capacity mu.

    Dual: (a+b) mu + max_q a log(1-q+q e^(1/a)) + b log(1-q+q e^(-e^epsilon/b)).

    >>> print(between_inputs(arb(2).log() / 10, arb(0)).str(12, radius=False))
    0.367961307353
    """
    if information == 0:
        return arb(0)
    information, gamma = information.max(arb(SEARCHED[0])), epsilon.exp()
    mu, size = float(information.mid()), min(float(gamma.mid()), 1e300)
    if not mu < math.log(2.0):
        return arb(1)

    def rising(q: float) -> bool:
        up, down = _farthest(q, mu, 1.0), _farthest(q, mu, -1.0)
        return up / _slope(up, q) > size * down / _slope(down, q)

    q = crossing(rising, -math.expm1(-mu))
    up, down = _farthest(q, mu, 1.0), _farthest(q, mu, -1.0)
    a = 1.0 / _slope(up, q)
    weights = arb(a), arb(-a * up / down)
    terms = [(weights[0], 1 / weights[0]), (weights[1], -gamma / weights[1])]
    return _capped((weights[0] + weights[1]) * information + _largest(terms, arb(0), q))


def input_and_output(information: arb, epsilon: arb) -> arb:
    """The largest of q - e^epsilon p and e^-epsilon p - q with d(p || q) <= mu: a row of a channel and the law of its outputs.

    Dual of the first: b mu + max_q q + b log(1-q+q e^(-e^epsilon/b)); of the second: b mu + max_q b log(1-q+q e^(e^-epsilon/b)) - q.

    >>> print(input_and_output(arb(2).log() / 10, arb(0)).str(12, radius=False))
    0.185444355922
    """
    return _capped(_one_sided(information, epsilon.exp(), 1.0).max(_one_sided(information, (-epsilon).exp(), -1.0)))


def input_and_others(information: arb, epsilon: arb, p_min: arb) -> arb:
    """The largest of p0 - e^epsilon p1, e^-epsilon p1 - p0 with p0 = p p1 + (1-p) r and p d(p1 || p0) + (1-p) d(r || p0) <= mu.

    p is the least probability of a value of the secret, p1 that of an event given this value, r given any other. Dual:
    b mu + max_q b p log(1-q+q e^((p-g)/(b p))) + b (1-p) log(1-q+q e^(1/b)), g = e^epsilon or e^-epsilon.
    """
    factors = epsilon.exp(), (-epsilon).exp()
    first, second = (_against_others(information, gamma, p_min) for gamma in factors)
    return _capped(first.max(second - (1 - factors[1])).min(1 - p_min))


def two_tails(information: arb, epsilon: arb) -> arb:
    """The largest P(|log d| > epsilon) with E log d <= mu and E 1/d <= 1.

    Dual: (mu + t-1-log t) / (m(t) - 1 - log t) for any t within e^-epsilon .. e^epsilon, where
    m(t) = min(t e^epsilon - epsilon, t e^-epsilon + epsilon).

    *Bound because* with l = 1 / (m(t) - 1 - log t) the function 1 - l m(t) + l (log d + t/d) is at least 0 for every d, as
    log d + t/d >= 1 + log t, and at least 1 outside of e^-epsilon .. e^epsilon, where log d + t/d is least at an end.
    """
    if information == 0:
        return arb(0)
    mu, width = float(information.mid()), float(epsilon.mid())
    if not width > 0.0:
        return arb(1)

    def bound(x: float) -> float:
        t = math.exp(x)
        room = min(t * math.exp(width) - width, t * math.exp(-width) + width) - 1.0 - x
        return (mu + t - 1.0 - x) / room if room > 0.0 else math.inf

    found = 0.0
    if width < WIDEST:
        kink = math.log(width / math.sinh(width))
        found = min((least_argument(bound, -width, kink), kink, least_argument(bound, kink, width)), key=bound)
    t = arb(found).exp()
    within = (-epsilon < found) & (epsilon > found)
    room = (t * epsilon.exp() - epsilon).min(t * (-epsilon).exp() + epsilon) - 1 - found
    return _capped((information + t - 1 - found) / room) if within and room > 0 else arb(1)


def _one_sided(information: arb, gamma: arb, side: float) -> arb:
    """At least the largest side (q - gamma p) with d(p || q) <= mu, for the side 1 or -1, and 0."""
    if information == 0:
        return arb(0)
    information = information.max(arb(SEARCHED[0]))
    mu, size = float(information.mid()), min(float(gamma.mid()), 1e300)
    if not mu < SEARCHED[1]:
        return arb(1)

    def rising(q: float) -> bool:
        x = _farthest(q, mu, -side)
        return side * (1.0 - size * x / ((1.0 - q) * _slope(x, q))) > 0.0

    q = crossing(rising, -math.expm1(-mu) if side > 0.0 else LEAST)
    weight = arb((1.0 - q) / abs(_farthest(q, mu, -side)))
    return positive(weight * information + _largest([(weight, -side * gamma / weight)], arb(side), q))


def _against_others(information: arb, gamma: arb, p_min: arb) -> arb:
    """At least the largest (p - gamma) p1 + (1-p) r."""
    if information == 0:
        return positive(1 - gamma)
    information = information.max(arb(SEARCHED[0]))
    if not float(information.mid()) < SEARCHED[1]:
        return arb(1)
    mu, size, p = float(information.mid()), min(float(gamma.mid()), 1e300), float(p_min.mid())
    slopes = ((p, (p - size) / p), (1.0 - p, 1.0))

    def inner(b: float) -> tuple[float, float]:
        first, second = (math.expm1(min(s / b, LARGEST)) for _, s in slopes)
        q = (
            -(p * first + (1.0 - p) * second) / (first * second) if first < 0.0 else 1.0
        )  # where both rise, so does the sum
        q = min(max(q, 0.0), 1.0)
        logs = (math.log1p(q * x) if q * x > -1.0 else -math.inf for x in (first, second))
        return q, b * sum(w * x for (w, _), x in zip(slopes, logs, strict=True))

    def bound(x: float) -> float:
        b = math.exp(x)
        return b * mu + inner(b)[1]

    b = math.exp(least_argument(bound, -6.5, 60.0))
    weight = arb(b)
    terms = [(weight * p_min, (p_min - gamma) / (weight * p_min)), (weight * (1 - p_min), 1 / weight)]
    return weight * information + _largest(terms, arb(0), inner(b)[0])


def _largest(terms: list[Term], linear: arb, q: float) -> arb:
    """At least the maximum over [0, 1] of linear q + sum w log(1-q+q e^s), w >= 0.

    *Bound because* the function is concave, so that it lies below each of its tangents: the one at `q`, or where Newton's steps lead.
    """
    at, rises = arb(min(max(q, 1e-300), 1.0 - 2.0**-53)), [slope.expm1() for _, slope in terms]
    for _ in range(2):
        near = (at - _derivative(terms, rises, linear, at) / _curvature(terms, rises, at)).mid()
        at = near if near > 0 and near < 1 else at
    value, slope = linear * at, _derivative(terms, rises, linear, at)
    for (weight, _), rise in zip(terms, rises, strict=True):
        value += weight * (1 + at * rise).log()
    return value + (slope * (1 - at)).max(-slope * at)


def _derivative(terms: list[Term], rises: list[arb], linear: arb, at: arb) -> arb:
    return sum((weight * rise / (1 + at * rise) for (weight, _), rise in zip(terms, rises, strict=True)), linear)


def _curvature(terms: list[Term], rises: list[arb], at: arb) -> arb:
    return -sum(
        (weight * (rise / (1 + at * rise)) ** 2 for (weight, _), rise in zip(terms, rises, strict=True)), arb(0)
    )


def _capped(value: arb) -> arb:
    """The value, at most 1; what is no number says nothing."""
    return value.min(arb(1)) if value.is_finite() else arb(1)


def _excess(x: float) -> float:
    """(1+x) log(1+x) - x, which is at least 0, with all its digits."""
    if abs(x) < SMALL:
        return x * x * (1 / 2 - x * (1 / 6 - x * (1 / 12 - x * (1 / 20 - x * (1 / 30 - x * (1 / 42 - x * (1 / 56)))))))
    return (1.0 + x) * math.log1p(x) - x if x > -1.0 else 1.0


def _divergence(x: float, q: float) -> float:
    """d(q + x q || q) in nats: two terms that are at least 0, so that nothing cancels."""
    return q * _excess(x) + (1.0 - q) * _excess(max(-x * q / (1.0 - q), -1.0))


def _slope(x: float, q: float) -> float:
    """The derivative of d(p || q) by p at p = q + x q."""
    if x <= -1.0:
        return -math.inf
    down = -x * q / (1.0 - q)
    return math.log1p(x) - math.log1p(down) if down > -1.0 else math.inf


def _farthest(q: float, most: float, side: float) -> float:
    """The x of the sign `side` that is farthest from 0 with 0 <= q + x q <= 1 and d(q + x q || q) <= `most`."""
    end = (1.0 - q) / q if side > 0.0 else -1.0
    if _divergence(end, q) <= most:
        return end
    x = end * min(math.sqrt(2.0 * most * (1.0 - q) / q) / abs(end), 0.5)
    for _ in range(STEPS):  # Newton's step, which from beyond comes nearer on one side
        slope = q * _slope(x, q)
        new = x - (_divergence(x, q) - most) / slope if slope else end
        if not min(0.0, end) < new < max(0.0, end):
            new = 0.5 * (x + end)
        if abs(new - x) <= NEAR * abs(new):
            break
        x = new
    return x


def crossing(rising: Callable[[float], bool], low: float, high: float = 1.0) -> float:
    """Place where a function of q in `low` .. `high` stops rising, by bisection of its logarithm."""
    for _ in range(STEPS):
        q = math.sqrt(low) * math.sqrt(high)
        if high - low <= NEAR * low or not low < q < high:
            break
        low, high = (q, high) if rising(q) else (low, q)
    return low


def least_argument(function: Callable[[float], float], low: float, high: float, steps: int = 90) -> float:
    """The place where a quasi-convex function is least, by golden section in doubles."""
    first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    values = function(first), function(second)
    for _ in range(steps):
        if values[0] <= values[1]:
            high, second = second, first
            first = high - GOLDEN * (high - low)
            values = function(first), values[0]
        else:
            low, first = first, second
            second = low + GOLDEN * (high - low)
            values = values[1], function(second)
    return 0.5 * (low + high)
