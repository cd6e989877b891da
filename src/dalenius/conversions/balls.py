"""Functions of balls that rules share; each gives a ball around the value, so that nothing has to be said about rounding."""

from __future__ import annotations

import math

from flint import arb

__all__ = ["above", "binary_entropy", "entropy_term", "larger", "positive", "smaller"]


def entropy_term(p: arb) -> arb:
    """-p log p, 0 at 0.

    >>> entropy_term(arb(0)) == 0, float(entropy_term(arb(1)))
    (True, 0.0)
    """
    return arb(0) if p == 0 else -p * p.log()


def binary_entropy(p: arb) -> arb:
    """-p log p - (1-p) log(1-p) in nats.

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


def above(x: arb) -> float:
    """A double that is at least the number in the ball; infinite if the ball has no end.

    >>> above(arb(1) / 3) >= 1 / 3
    True
    """
    return math.nextafter(float(x.upper()), math.inf) if x.is_finite() else math.inf
