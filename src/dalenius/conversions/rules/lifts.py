"""From bounds of lifts, d = W(x,y)/q(y): of the largest, of all in a band, of the likely ones."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.numbers import entropy_term, positive
from dalenius.conversions.rule import FDIV, OURS, SAEIDIAN, Given, Rule, Sharper, Value, any_alphabets, same

# What pointwise maximal leakage leaves of small lifts, and of ratios between inputs.


def least_lift(given: Given) -> arb:
    """(1 - e^epsilon (1-p))/p, p = p_min: what is left for a value of probability p if all others have lift e^epsilon."""
    return (1 - given.value.exp() * (1 - given.p_min)) / given.p_min


def capacity(given: Given) -> arb | None:
    """Log(p / (e^-epsilon - 1 + p)), where epsilon < log 1/(1-p)."""
    rest = (-given.value).exp() - 1 + given.p_min
    return (given.p_min / rest).log() if rest > 0 else None


def lifts(given: Given) -> arb | None:
    """Max(epsilon, log 1/l), l the least lift."""
    least = least_lift(given)
    return given.value.max(-least.log()) if least > 0 else None


CONDITION = "the leakage is below log 1/(1-p_min)"


# What pointwise maximal leakage leaves of distances from independence: lifts are at most e^epsilon, and have mean 1.


def _band(given: Given) -> tuple[arb, arb]:
    """The least and the largest lift; 0 where no prior is known."""
    low = arb(0) if given.facts.p_min is None else positive(least_lift(given))
    return low, given.value.exp()


def information(given: Given) -> arb:
    """((u-1) l log l + (1-l) u log u)/(u-l), l and u the ends of the band; epsilon if l = 0."""
    low, high = _band(given)
    if given.value == 0:
        return arb(0)
    if low == 0:
        return given.value
    found = ((1 - low) * high * given.value - (high - 1) * entropy_term(low)) / (high - low)
    return found.min(given.value) if found.is_finite() else given.value


def total_variation_of_largest(given: Given) -> arb:
    """2 (1-l)(u-1)/(u-l)."""
    low, high = _band(given)
    if given.value == 0:
        return arb(0)
    found = 2 * (1 - low) * (high - 1) / (high - low)
    return found if found.is_finite() else 2 * (1 - (-given.value).exp())


def chi_square_of_largest(given: Given) -> arb:
    """(u-1)(1-l)."""
    low, high = _band(given)
    return (high - 1) * (1 - low)


def enough(given: Given) -> bool:
    """True if as many equally likely letters, and outputs, are possible as the leakage asks for."""
    size, outputs = given.facts.letters, given.facts.outputs
    if size is None:
        return outputs is None
    return bool(given.value.exp() <= size) and (outputs is None or outputs >= size)


BY_LARGEST = {
    "mutual_information": (information, "e", "with p_min ((u-1) l log l + (1-l) u log u)/(u-l)"),
    "total_variation": (total_variation_of_largest, "2 (1 - exp(-e))", "with p_min 2 (1-l)(u-1)/(u-l)"),
    "chi_square": (chi_square_of_largest, "exp e - 1", "with p_min (u-1)(1-l)"),
}


# What information privacy leaves of local differential privacy.


def with_floor(given: Given) -> arb:
    """Epsilon + log min(e^epsilon, (1-(1-p) e^-epsilon)/p).

    *Bound because* a column's lifts have mean 1 under the prior and are at least e^-epsilon, so that the largest, which has mass p
    at least, is at most (1-(1-p) e^-epsilon)/p.
    """
    low = (-given.value).exp()
    return given.value + given.value.exp().min((1 - (1 - given.p_min) * low) / given.p_min).log()


# What information privacy leaves of distances: the lifts lie in a band and have mean 1.


BY_BAND: dict[str, tuple[Value, str]] = {
    **dict.fromkeys(
        ("total_variation", "strong_total_variation"), (lambda given: 2 * (given.value / 2).tanh(), "2 tanh(e/2)")
    ),
    **dict.fromkeys(
        ("mutual_information", "largest_divergence", "strong_kl"),
        (lambda given: given.value * (given.value / 2).tanh(), "e tanh(e/2)"),
    ),
    **dict.fromkeys(
        ("chi_square", "strong_chi_square"), (lambda given: 4 * (given.value / 2).sinh() ** 2, "2 cosh e - 2")
    ),
}


# What likely lifts within a band leave of distances: (epsilon, delta)-information privacy, plain and strong.


def _within(given: Given) -> arb:
    """min(epsilon, log 1/p_min): no lift is larger."""
    return given.epsilon_before.min(-given.p_min.log())


PLAIN, STRONG = "information_privacy_delta", "strong_information_privacy_delta"

RULES = (
    Sharper(
        "CONV-1",
        "pointwise_maximal_leakage -> local_dp",
        "log(p/(exp(-e) - 1 + p)), p = p_min",
        f"{OURS}; quantifies {SAEIDIAN}, Prop. 3.8",
        capacity,
        needs=("p_min",),
        conditions=CONDITION,
        attained="a binary output that excludes a value of probability p_min as far as it may",
    ),
    Sharper(
        "CONV-5",
        "pointwise_maximal_leakage -> information_privacy",
        "max(e, log(p/(1 - exp(e)(1-p)))), p = p_min",
        OURS,
        lifts,
        needs=("p_min",),
        conditions=CONDITION,
        attained="a binary output that excludes a value of probability p_min as far as it may",
    ),
    *(
        Sharper(
            f"CONV-6 ({target})",
            f"pointwise_maximal_leakage -> {target}",
            f"{formula}; {sharper}, u = exp e, l = (1 - u(1-p))/p",
            f"{OURS}: a convex function of lifts between l and u with mean 1 is largest on both ends",
            value,
            attained="X uniform on a ring, the output X + noise that is uniform on its share exp(-e)",
            meets=any_alphabets,
        )
        for target, (value, formula, sharper) in BY_LARGEST.items()
    ),
    Sharper(
        "leakage-and-guess",
        "pointwise_maximal_leakage -> bayes_advantage",
        "(exp e - 1) p_max",
        f"{OURS}: no posterior probability is above exp(e) p_max",
        lambda given: (given.value.exp() - 1) * given.p_max,
        needs=("p_max",),
    ),
    Rule(
        "mean-of-pointwise",
        "pointwise_maximal_leakage -> maximal_leakage",
        "e",
        "the maximal leakage is log of the mean of exp l(Y)",
        same,
        attained="randomised response under a uniform prior on letters enough",
        meets=enough,
    ),
    Rule(
        "CONV-7",
        "information_privacy -> local_dp",
        "2e",
        f"{FDIV}, after eq. (1)",
        lambda given: 2 * given.value,
        attained="a binary channel with a rare output, where a value has probability 1/(1 + exp e)",
        meets=lambda given: given.facts.p_min is None or bool(given.p_min * (1 + given.value.exp()) <= 1),
    ),
    Sharper(
        "lifts-local-dp-with-floor",
        "information_privacy -> local_dp",
        "e + log min(exp e, (1-(1-p) exp(-e))/p), p = p_min",
        OURS,
        with_floor,
        needs=("p_min",),
        attained="a binary channel with a rare output",
    ),
    Rule(
        "lifts",
        "information_privacy -> pointwise_maximal_leakage",
        "e",
        f"{FDIV}, eq. (1): the larger side",
        same,
    ),
    *(
        Sharper(
            f"CONV-8 ({target})",
            f"information_privacy -> {target}",
            formula,
            f"{OURS}: a convex function of lifts between exp(-e) and exp e with mean 1 is largest on both ends",
            value,
            attained="lifts exp e and exp(-e) only: X uniform on a ring, the output X + noise with two probabilities",
            meets=any_alphabets,
        )
        for target, (value, formula) in BY_BAND.items()
    ),
    Rule(
        "lemma-4",
        f"{PLAIN} -> total_variation",
        "2 (exp e - 1 + d)",
        f"{FDIV}, Lemma 4",
        lambda given: 2 * (given.epsilon_before.exp() - 1 + given.value),
    ),
    Sharper(
        "CONV-11 (total variation)",
        f"{PLAIN} -> total_variation",
        "2 (1 - exp(-e) (1-d))",
        f"{OURS}; sharpens Lemma 4 of {FDIV}",
        lambda given: 2 * (1 - (-given.epsilon_before).exp() * (1 - given.value)),
    ),
    Sharper(
        "CONV-11 (strong)",
        f"{STRONG} -> total_variation",
        "2 ((1-d) tanh(e/2) + d)",
        f"{OURS}; sharpens Lemma 4 of {FDIV}",
        lambda given: 2 * ((1 - given.value) * (given.epsilon_before / 2).tanh() + given.value),
    ),
    Sharper(
        "CONV-11 (information)",
        f"{PLAIN} -> mutual_information",
        "(1-d) e + d log 1/p_min",
        f"{OURS}; answers Remark 2 of {FDIV}",
        lambda given: (1 - given.value) * _within(given) - given.value * given.p_min.log(),
        needs=("p_min",),
    ),
    Sharper(
        "CONV-11 (chi-square)",
        f"{PLAIN} -> chi_square",
        "(1-d) exp e + d/p_min - 1",
        f"{OURS}; answers Remark 2 of {FDIV}",
        lambda given: (1 - given.value) * _within(given).exp() + given.value / given.p_min - 1,
        needs=("p_min",),
    ),
    Rule(
        "strong-to-plain",
        f"{STRONG} -> {PLAIN}",
        "d",
        f"{FDIV}, Definition 1",
        lambda given: given.value if given.before == given.after else None,
    ),
)
