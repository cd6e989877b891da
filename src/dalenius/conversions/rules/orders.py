"""Rules by definition: a mean is at most the maximum, one prior at most all of them."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import LMIP, OURS, Given, Rule, Sharper, same


def within_delta(given: Given) -> arb:
    """2 (tanh(epsilon/2) + delta).

    *Bound because* for every event q <= g w + d and 1-w <= g (1-q) + g d, g = e^epsilon, leave no more than (g-1)/(g+1) + d between
    its probabilities q and w under the law of the outputs and a row.
    """
    return 2 * ((given.epsilon_before / 2).tanh() + given.value)


def room_for_a_row(given: Given) -> bool:
    """True if q, of the mechanism above, is a mean of p1 with weight p_min, or as little as one likes, and of some r <= 1."""
    low = 1 / (1 + given.epsilon_before.exp())
    q = 1 - low + given.value
    return bool(q < 1) if given.facts.p_min is None else bool(q - given.p_min * low <= 1 - given.p_min)


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


def half_of_the_mean(given: Given) -> arb:
    """TV / (2 p_min).

    *Bound because* the differences W_x - q have mean 0 under the prior, so that p_x times that of x is no farther from 0 than those
    of all others together.
    """
    return given.value / (2 * given.p_min)


def later(given: Given) -> arb | None:
    """Delta, for a larger epsilon."""
    return given.value if given.reaches() else None


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
        "shannon_capacity -> mutual_information",
        "mu",
        f"{LMIP}, Definitions 2, 3",
        same,
        attained="any channel, under the prior that attains its capacity",
        keeps=True,
    ),
    Rule("mean-of-inputs", "largest_divergence -> mutual_information", "mu", "a mean is at most the maximum", same),
    Rule(
        "capacity-of-pairs",
        "pairwise_divergence -> shannon_capacity",
        "mu",
        f"{LMIP}, proof of Theorem 1(b): the capacity is at most the largest divergence of two rows",
        same,
    ),
    Rule(
        "divergence-of-pairs",
        "pairwise_divergence -> largest_divergence",
        "mu, with p_min (1 - p_min) mu",
        f"{OURS}: convexity of the divergence",
        less_own_row,
    ),
    Sharper(
        "divergence-from-the-mean",
        "pairwise_divergence -> strong_kl",
        "mu, with p_min (1 - p_min) mu",
        f"{OURS}: convexity of the divergence",
        less_own_row,
    ),
    Sharper(
        "one-input",
        "mutual_information -> largest_divergence",
        "mu/p_min",
        f"{OURS}: a mean of numbers that are at least 0",
        # mu / p_min: the mean over the inputs has each with weight p_min at least.
        lambda given: given.value / given.p_min,
        needs=("p_min",),
    ),
    Sharper(
        "one-input (total variation)",
        "total_variation -> strong_total_variation",
        "TV/(2 p_min)",
        f"{OURS}: the rows less q have mean 0",
        half_of_the_mean,
        needs=("p_min",),
        attained="a channel that reveals something of whether X is a value of probability p_min",
        # Whether a value of probability p_min can be so far from the others: TV = 2 p_min a, a at most 2 (1 - p_min).
        meets=lambda given: bool(given.value <= 4 * given.p_min * (1 - given.p_min)),
    ),
    Rule(
        "maximal-leakage-information",
        "maximal_leakage -> shannon_capacity",
        "L",
        "Sibson's information grows with its order",
        same,
    ),
    Rule("mean-distance", "strong_total_variation -> total_variation", "TV", "a mean is at most the maximum", same),
    Rule(
        "distance-of-inputs",
        "local_information_privacy_delta -> strong_total_variation",
        "2 (tanh(e/2) + d)",
        f"{OURS}; at epsilon 0 by definition",
        within_delta,
        attained="a binary channel with the rows p1, r: q = (exp e)/(1 + exp e) + d, p1 = 1/(1 + exp e) for a rare value",
        meets=room_for_a_row,
    ),
    Rule(
        "inputs-of-distance",
        "strong_total_variation -> local_information_privacy_delta",
        "TV/2",
        "by definition at epsilon 0; a delta falls with its epsilon",
        lambda given: given.value / 2,
    ),
    Rule(
        "local-dp-inputs",
        "local_dp_delta -> local_information_privacy_delta",
        "d, with p_min (1 - p_min) d",
        f"{OURS}: convexity of the hockey-stick divergence",
        same_epsilon,
    ),
    Sharper(
        "inputs-of-lifts",
        "information_privacy -> local_information_privacy_delta",
        "(1 - exp(e - epsilon))_+",
        OURS,
        of_lifts,
    ),
    Rule(
        "no-lift-beyond",
        "information_privacy -> strong_information_privacy_delta",
        "0 from that epsilon on",
        "by definition",
        lambda given: arb(0) if given.epsilon_after >= given.value else None,
    ),
    *(
        Rule(f"larger-epsilon ({name})", f"{name} -> {name}", "d", "a delta falls with its epsilon", later, keeps=False)
        for name in DELTAS
    ),
)
