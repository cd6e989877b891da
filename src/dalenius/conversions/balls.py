"""Functions of balls that rules share; each gives a ball around the value, so that nothing has to be said about rounding."""

from __future__ import annotations

from flint import arb

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, brief
from dalenius.information.balls import above, ball

__all__ = [
    "above",
    "bernoulli_divergence",
    "binary_entropy",
    "entropy_term",
    "larger",
    "number_ball",
    "positive",
    "smaller",
]


def number_ball(value: Number | arb, what: str, *, above: int | None = None) -> arb:
    """A ball around a number that a user gives, or the ball that they give.

    Raises
    ------
    InputError
        If it is no number, or not `above` what it must be.

    >>> number_ball("0.5", "epsilon") == 0.5
    True
    """
    found = value if isinstance(value, arb) else ball(as_fraction(value, what))
    if above is not None and not found > above:
        raise InputError(f"{what}: expected a number above {above}, got {brief(value)}")
    return found


def entropy_term(p: arb) -> arb:
    """-p log p, 0 at 0.

    >>> entropy_term(arb(0)) == 0, float(entropy_term(arb(1)))
    (True, 0.0)
    """
    return arb(0) if p == 0 else -p * p.log()


def binary_entropy(p: arb) -> arb:
    """-p log p - (1-p) log(1-p) in nats.

    >>> import math
    >>> float(binary_entropy(arb(0.5))) == math.log(2)
    True
    """
    return entropy_term(p) + entropy_term(1 - p)


def positive(x: arb) -> arb:
    """max(x, 0)."""
    return arb(x).max(arb(0))


def larger(x: arb, y: arb) -> arb:
    """A ball around the maximum."""
    return arb(x).max(arb(y))


def smaller(x: arb, y: arb) -> arb:
    """A ball around the minimum."""
    return arb(x).min(arb(y))


def bernoulli_divergence(p: arb, q: arb) -> arb:
    """d(p || q) in nats, for numbers from 0 to 1.

    >>> round(float(bernoulli_divergence(arb(0), arb(0.5))), 12)
    0.69314718056
    """
    if q == 1:
        return arb(0) if p == 1 else arb("inf")
    first = p * (p / q).log() if p > 0 else arb(0)
    return first + ((1 - p) * ((1 - p) / (1 - q)).log() if p < 1 else 0)
