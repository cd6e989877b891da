"""Approximate local differential privacy at another epsilon: what the dominating pair of laws has."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.rule import KOV, LMIP, PUFFERFISH, Given, Rule

__all__ = ["RULES", "dominating_delta"]


def dominating_delta(epsilon: arb, delta: arb, asked: arb) -> arb:
    """Delta + (1-delta) (e^epsilon - e^asked)_+ / (e^epsilon + 1)."""
    shift = (epsilon - asked).exp()
    return delta + (1 - delta) * positive(shift - 1) / (shift + (-asked).exp())


def pure(given: Given) -> arb:
    """Of an epsilon without a delta."""
    return dominating_delta(given.value, arb(0), given.epsilon_after)


def approximate(given: Given) -> arb:
    """Of an epsilon with a delta."""
    if given.before == given.after:
        return given.value
    return dominating_delta(given.epsilon_before, given.value.min(arb(1)), given.epsilon_after)


RULES = (
    Rule(
        "dominating-pair-pure",
        "local_dp",
        "local_dp_delta",
        "(exp C - exp e)_+ / (exp C + 1)",
        f"{KOV}, Theorem 2.1; {LMIP}, section II",
        pure,
        attained="binary randomised response",
    ),
    Rule(
        "dominating-pair",
        "local_dp_delta",
        "local_dp_delta",
        "d + (1-d) (exp e - exp e')_+ / (exp e + 1)",
        f"{KOV}, Theorem 2.1; at e' = 0 the 1 - 2(1-d)/(exp e + 1) of {PUFFERFISH}, Theorem 1, third implication",
        approximate,
        attained="randomised response that tells the secret with probability d",
    ),
)
