"""Rules by definition: a mean is at most the maximum, one prior at most all of them."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import Given, Rule, Rules


def room_for_a_row(given: Given) -> bool:
    """True if q, of what attains `within_delta`, is a mean of p1 with weight p_min, or as little as one likes, and of some r <= 1."""
    low = 1 / (1 + given.epsilon_before.exp())
    q = 1 - low + given.value
    return bool(q < 1) if given.facts.p_min is None else bool(q - given.p_min * low <= 1 - given.p_min)


def later(given: Given) -> arb | None:
    """Delta, for a larger epsilon."""
    return given.value if given.reaches() else None


DELTAS = ("information_privacy_delta", "strong_information_privacy_delta", "local_information_privacy_delta")
RULES = Rules()


@RULES("any-prior", "shannon_capacity -> mutual_information", keeps=True)
def any_prior(given: Given) -> arb:
    """mu

    Source: LMIP, Definitions 2, 3
    Attained by: any channel, under the prior that attains its capacity
    """
    return given.value


@RULES("mean-of-inputs", "largest_divergence -> mutual_information")
def mean_of_inputs(given: Given) -> arb:
    """mu

    Source: a mean is at most the maximum
    """
    return given.value


@RULES("capacity-of-pairs", "pairwise_divergence -> shannon_capacity")
def capacity_of_pairs(given: Given) -> arb:
    """mu

    Source: LMIP, proof of Theorem 1(b): the capacity is at most the largest divergence of two rows
    """
    return given.value


@RULES("divergence-from-the-mean", "pairwise_divergence -> strong_kl", ours=True)
@RULES("divergence-of-pairs", "pairwise_divergence -> largest_divergence")
def less_own_row(given: Given) -> arb:
    """mu, with p_min (1 - p_min) mu

    Source: ours: convexity of the divergence

    D(W_x || q) is at most the mean of the D(W_x || W_x').
    """
    return given.value if given.facts.p_min is None else given.value * (1 - given.p_min)


@RULES("one-input", "mutual_information -> largest_divergence", needs="p_min", ours=True)
def one_input(given: Given) -> arb:
    """mu/p_min

    Source: ours: a mean of numbers that are at least 0

    The mean over the inputs has each with weight p_min at least.
    """
    return given.value / given.p_min


@RULES(
    "one-input (total variation)",
    "total_variation -> strong_total_variation",
    needs="p_min",
    # whether a value of probability p_min can be so far from the others: TV = 2 p_min a, a at most 2 (1 - p_min)
    meets=lambda given: bool(given.value <= 4 * given.p_min * (1 - given.p_min)),
    ours=True,
)
def half_of_the_mean(given: Given) -> arb:
    """TV/(2 p_min)

    Source: ours: the rows less q have mean 0
    Attained by: a channel that reveals something of whether X is a value of probability p_min

    *Bound because* the differences W_x - q have mean 0 under the prior, so that p_x times that of x is no farther from 0 than those
    of all others together.
    """
    return given.value / (2 * given.p_min)


@RULES("maximal-leakage-information", "maximal_leakage -> shannon_capacity")
def maximal_leakage_information(given: Given) -> arb:
    """L

    Source: Sibson's information grows with its order
    """
    return given.value


@RULES("mean-distance", "strong_total_variation -> total_variation")
def mean_distance(given: Given) -> arb:
    """TV

    Source: a mean is at most the maximum
    """
    return given.value


@RULES("distance-of-inputs", "local_information_privacy_delta -> strong_total_variation", meets=room_for_a_row)
def within_delta(given: Given) -> arb:
    """2 (tanh(e/2) + d)

    Source: ours; at epsilon 0 by definition
    Attained by: a binary channel with the rows p1, r: q = (exp e)/(1 + exp e) + d, p1 = 1/(1 + exp e) for a rare value

    *Bound because* for every event q <= g w + d and 1-w <= g (1-q) + g d, g = e^epsilon, leave no more than (g-1)/(g+1) + d between
    its probabilities q and w under the law of the outputs and a row.
    """
    return 2 * ((given.epsilon_before / 2).tanh() + given.value)


@RULES("inputs-of-distance", "strong_total_variation -> local_information_privacy_delta")
def inputs_of_distance(given: Given) -> arb:
    """TV/2

    Source: by definition at epsilon 0; a delta falls with its epsilon
    """
    return given.value / 2


@RULES("local-dp-inputs", "local_dp_delta -> local_information_privacy_delta")
def same_epsilon(given: Given) -> arb | None:
    """d, with p_min (1 - p_min) d

    Source: ours: convexity of the hockey-stick divergence

    For the same epsilon.

    *Bound because* q is a mean of the rows, in which the row itself has weight p_min at least and no hockey-stick divergence.
    """
    if given.before != given.after:
        return None
    return given.value if given.facts.p_min is None else given.value * (1 - given.p_min)


@RULES("inputs-of-lifts", "information_privacy -> local_information_privacy_delta", ours=True)
def of_lifts(given: Given) -> arb:
    """(1 - exp(e - epsilon))_+

    Source: ours

    Of lifts within a band.

    *Bound because* (W - e^e q)_+ <= (1 - e^(e - epsilon))_+ W and (q - e^e W)_+ <= (1 - e^(e - epsilon))_+ q, as W/q and q/W
    are at most e^epsilon.
    """
    return (1 - (given.epsilon_after - given.value).exp()).max(arb(0))


@RULES("no-lift-beyond", "information_privacy -> strong_information_privacy_delta")
def no_lift_beyond(given: Given) -> arb | None:
    """0 from that epsilon on

    Source: by definition
    """
    return arb(0) if given.epsilon_after >= given.value else None


RULES.extend(
    Rule(f"larger-epsilon ({name})", f"{name} -> {name}", "d", "a delta falls with its epsilon", later, keeps=False)
    for name in DELTAS
)
