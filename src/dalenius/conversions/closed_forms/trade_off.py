"""What a capacity leaves to a test between two inputs: Theorem 1(a) of Ngo et al. as one curve."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, ctx

from dalenius.conversions.balls import above, bernoulli_divergence
from dalenius.conversions.epsilon import Epsilon
from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction
from dalenius.information.balls import ball

__all__ = ["largest_power"]

BITS = 160  # of the balls
STEPS = 120  # of a bisection


def largest_power(capacity: Number, level: Number) -> float:
    """The largest power at this level of a test which of two inputs the output is of, where no prior lets the output tell more.

    It is the largest p0 with d(p0 || q) <= mu and d(p1 || q) <= mu for some q, where mu is the capacity and p1 the level: 1 - p0, as a
    function of p1, is the trade-off function of f-differential privacy that follows from the capacity. It is attained, for each
    level, by the binary channel with the rows p0 and p1.

    Parameters
    ----------
    capacity : Number
        The Shannon capacity of the mechanism, or a bound of it: nats, or ``"0.1 bits"``. From one bit on any power is possible.
    level : Number
        The largest probability with which the test is wrong about the second input, from 0 to 1.

    Returns
    -------
    float
        A probability, rounded up.

    Raises
    ------
    InputError
        If a number cannot be read, the capacity is negative, or the level is not from 0 to 1.

    Notes
    -----
    *Bound because* p0 rises with q, and q is largest where d(p1 || q) = mu; both are ends of bisections that are certainly beyond.

    `dalenius.convert` has the largest p0 - e^epsilon p1 on this curve, the delta of local differential privacy.

    Source: Ngo et al., Theorem 1(a), eq. (10); the curve is ours.

    >>> round(largest_power("0.1 bits", 0), 12), round(largest_power("0.1 bits", "0.1"), 12)
    (0.177503347184, 0.416010176587)
    """
    asked = as_fraction(level, "level")
    if not 0 <= asked <= 1:
        raise InputError(f"level: expected a number from 0 to 1, got {float(asked):g}")
    with ctx.workprec(BITS):
        most, p1 = Epsilon.read(capacity, "capacity").ball(), ball(asked)
        if not most < arb(2).log():
            return 1.0
        q = _beyond(lambda q: bernoulli_divergence(p1, q), p1, most)
        return min(1.0, above(_beyond(lambda p: bernoulli_divergence(p, q), q, most)))


def _beyond(divergence: Callable[[arb], arb], low: arb, most: arb) -> arb:
    """An exact number from `low` to 1 at which a divergence that rises is certainly at least `most`, near the least one; or 1."""
    high = arb(1)
    for _ in range(STEPS):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if divergence(middle) >= most else (middle, high)
    return high
