"""What local differential privacy leaves of lifts d = W(x,y)/q(y) under a prior."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import FDIV, OURS, SAEIDIAN, Given, Rule, rare_values

__all__ = ["RULES"]


def same(given: Given) -> arb:
    """The number itself."""
    return given.value


def upper(given: Given) -> arb:
    """-log(p + (1-p) e^-C): q(y) is at least (p + (1-p) e^-C) W(x,y)."""
    return -(given.p_min + (1 - given.p_min) * (-given.value).exp()).log()


def both(given: Given) -> arb:
    """Log(p + (1-p) e^C), by which the least lift of a value of probability p is below 1; the largest is above it by less."""
    return (given.p_min + (1 - given.p_min) * given.value.exp()).log()


RULES = (
    Rule(
        "CONV-2",
        "local_dp",
        "pointwise_maximal_leakage",
        "-log(p + (1-p) exp(-C)), p = p_min",
        f"{OURS}; for {SAEIDIAN}, Theorem 4.2, at a prior with floor p_min",
        upper,
        needs=("p_min",),
        attained="randomised response, where a value has probability p_min",
        ours=True,
    ),
    Rule(
        "leakage-capacity",
        "local_dp",
        "pointwise_maximal_leakage",
        "C",
        f"{SAEIDIAN}, Theorem 2.8: the supremum over all priors",
        same,
        attained="randomised response, in the limit of a rare value",
        meets=rare_values,
    ),
    Rule(
        "local-dp-lifts",
        "local_dp",
        "information_privacy",
        "log(p + (1-p) exp C), p = p_min",
        f"{OURS}; both sides of CONV-2",
        both,
        needs=("p_min",),
        attained="randomised response, where a value has probability p_min",
        ours=True,
    ),
    Rule(
        "CONV-7 (back)",
        "local_dp",
        "information_privacy",
        "C",
        f"{FDIV}, after eq. (1)",
        same,
        attained="randomised response, in the limit of a rare value",
        meets=rare_values,
    ),
)
