"""What a Shannon capacity leaves of approximate local differential privacy."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.programs import between_inputs
from dalenius.conversions.rule import LMIP, PUFFERFISH, Given, Rule

__all__ = ["RULES"]


def exact(given: Given) -> arb:
    """The largest p0 - e^epsilon p1 of a binary channel with that capacity; 1 from one bit on."""
    return between_inputs(given.value, given.epsilon_after)


def printed(given: Given) -> arb:
    """Sqrt(2 mu)."""
    return (2 * given.value).sqrt()


RULES = (
    Rule(
        "theorem-1a",
        "shannon_capacity",
        "local_dp_delta",
        "max p0 - exp(e) p1 with d(p0||q), d(p1||q) <= mu",
        f"{LMIP}, Theorem 1(a), eqs. (10), (11)",
        exact,
        conditions="the information is bounded for every prior, or for every prior on two values at least",
        attained="the binary channel with rows p0, p1",
    ),
    Rule(
        "theorem-1-distance",
        "shannon_capacity",
        "local_dp_delta",
        "sqrt(2 mu)",
        f"{PUFFERFISH}, Theorem 1, second implication",
        printed,
        conditions="the information is bounded for every prior, or for every prior on two values at least",
    ),
)
