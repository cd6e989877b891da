"""What is at most another notion by its definition: a mean is at most the maximum, one prior at most all of them."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import LMIP, OURS, Given, Rule

__all__ = ["RULES"]


def same(given: Given) -> arb:
    """The number itself."""
    return given.value


def within_delta(given: Given) -> arb:
    """2 (tanh(epsilon/2) + delta).

    *Bound because* for every event q <= g w + d and 1-w <= g (1-q) + g d, g = e^epsilon, leave no more than (g-1)/(g+1) + d between
    its probabilities q and w under the law of the outputs and a row.
    """
    return 2 * ((given.epsilon_before / 2).tanh() + given.value)


def half(given: Given) -> arb:
    """Half of the distance."""
    return given.value / 2


def same_epsilon(given: Given) -> arb | None:
    """Delta (1 - p_min), for the same epsilon; delta without a p_min.

    *Bound because* q is a mean of the rows, in which the row itself has weight p_min at least and no hockey-stick divergence.
    """
    if given.before != given.after:
        return None
    return given.value if given.facts.p_min is None else given.value * (1 - given.p_min)


def less_own_row(given: Given) -> arb:
    """(1 - p_min) of it; all of it without a p_min: D(W_x || q) is at most the mean of the D(W_x || W_x')."""
    return given.value if given.facts.p_min is None else given.value * (1 - given.p_min)


def later(given: Given) -> arb | None:
    """Delta, for a larger epsilon."""
    assert given.before is not None
    assert given.after is not None
    return given.value if given.after.at_least(given.before) else None


def above_lifts(given: Given) -> arb | None:
    """0, for an epsilon that no lift exceeds."""
    return arb(0) if given.epsilon_after >= given.value else None


def of_lifts(given: Given) -> arb:
    """(1 - e^(e - epsilon))_+ of lifts within a band.

    *Bound because* (W - e^e q)_+ <= (1 - e^(e - epsilon))_+ W and (q - e^e W)_+ <= (1 - e^(e - epsilon))_+ q, as W/q and q/W
    are at most e^epsilon.
    """
    return (1 - (given.epsilon_after - given.value).exp()).max(arb(0))


DELTAS = ("information_privacy_delta", "strong_information_privacy_delta", "local_information_privacy_delta")
RULES = (
    Rule(
        "any-prior",
        "shannon_capacity",
        "mutual_information",
        "mu",
        f"{LMIP}, Definitions 2, 3",
        same,
        attained="any channel, under the prior that attains its capacity",
        keeps=True,
    ),
    Rule("mean-of-inputs", "largest_divergence", "mutual_information", "mu", "a mean is at most the maximum", same),
    Rule(
        "capacity-of-pairs",
        "pairwise_divergence",
        "shannon_capacity",
        "mu",
        f"{LMIP}, proof of Theorem 1(b): the capacity is at most the largest divergence of two rows",
        same,
    ),
    Rule(
        "divergence-of-pairs",
        "pairwise_divergence",
        "largest_divergence",
        "mu, with p_min (1 - p_min) mu",
        f"{OURS}: convexity of the divergence",
        less_own_row,
    ),
    Rule(
        "maximal-leakage-information",
        "maximal_leakage",
        "shannon_capacity",
        "L",
        "Sibson's information grows with its order",
        same,
    ),
    Rule("mean-distance", "strong_total_variation", "total_variation", "TV", "a mean is at most the maximum", same),
    Rule(
        "distance-of-inputs",
        "local_information_privacy_delta",
        "strong_total_variation",
        "2 (tanh(e/2) + d)",
        f"{OURS}; at epsilon 0 by definition",
        within_delta,
        attained="every mechanism at epsilon 0, binary channels else",
    ),
    Rule(
        "inputs-of-distance",
        "strong_total_variation",
        "local_information_privacy_delta",
        "TV/2",
        "by definition at epsilon 0; a delta falls with its epsilon",
        half,
    ),
    Rule(
        "local-dp-inputs",
        "local_dp_delta",
        "local_information_privacy_delta",
        "d, with p_min (1 - p_min) d",
        f"{OURS}: convexity of the hockey-stick divergence",
        same_epsilon,
    ),
    Rule(
        "inputs-of-lifts",
        "information_privacy",
        "local_information_privacy_delta",
        "(1 - exp(e - epsilon))_+",
        OURS,
        of_lifts,
        ours=True,
    ),
    Rule(
        "no-lift-beyond",
        "information_privacy",
        "strong_information_privacy_delta",
        "0 from that epsilon on",
        "by definition",
        above_lifts,
    ),
    *(
        Rule(f"larger-epsilon ({name})", name, name, "d", "a delta falls with its epsilon", later, keeps=False)
        for name in DELTAS
    ),
)
