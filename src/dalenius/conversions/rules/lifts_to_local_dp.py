"""What information privacy leaves of local differential privacy."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import FDIV, OURS, Given, Rule

__all__ = ["RULES"]


def twice(given: Given) -> arb:
    """2 epsilon."""
    return 2 * given.value


def with_floor(given: Given) -> arb:
    """Epsilon + log min(e^epsilon, (1-(1-p) e^-epsilon)/p).

    *Bound because* a column's lifts have mean 1 under the prior and are at least e^-epsilon, so that the largest, which has mass p
    at least, is at most (1-(1-p) e^-epsilon)/p.
    """
    low = (-given.value).exp()
    return given.value + given.value.exp().min((1 - (1 - given.p_min) * low) / given.p_min).log()


RULES = (
    Rule(
        "CONV-7",
        "information_privacy",
        "local_dp",
        "2e",
        f"{FDIV}, after eq. (1)",
        twice,
        attained="a binary channel with a rare output, where a value has probability 1/(1 + exp e)",
        meets=lambda given: given.facts.p_min is None or bool(given.p_min * (1 + given.value.exp()) <= 1),
    ),
    Rule(
        "lifts-local-dp-with-floor",
        "information_privacy",
        "local_dp",
        "e + log min(exp e, (1-(1-p) exp(-e))/p), p = p_min",
        OURS,
        with_floor,
        needs=("p_min",),
        attained="a binary channel with a rare output",
        ours=True,
    ),
    Rule(
        "lifts",
        "information_privacy",
        "pointwise_maximal_leakage",
        "e",
        f"{FDIV}, eq. (1): the larger side",
        lambda given: given.value,
    ),
)
