"""From bounds of lifts, d = W(x,y)/q(y): of the largest, of all in a band, of the likely ones."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.numbers import entropy_term, positive
from dalenius.conversions.rule import OURS, Given, Rules, Sharper, Value, any_alphabets

# What pointwise maximal leakage leaves of small lifts, and of ratios between inputs.


def least_lift(given: Given) -> arb:
    """(1 - e^epsilon (1-p))/p, p = p_min: what is left for a value of probability p if all others have lift e^epsilon."""
    return (1 - given.value.exp() * (1 - given.p_min)) / given.p_min


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

RULES = Rules()


@RULES("CONV-1", "pointwise_maximal_leakage -> local_dp", needs="p_min", ours=True)
def capacity(given: Given) -> arb | None:
    """log(p/(exp(-e) - 1 + p)), p = p_min

    Source: ours; quantifies SAEIDIAN, Prop. 3.8
    If: the leakage is below log 1/(1-p_min)
    Attained by: a binary output that excludes a value of probability p_min as far as it may
    """
    rest = (-given.value).exp() - 1 + given.p_min
    return (given.p_min / rest).log() if rest > 0 else None


@RULES("CONV-5", "pointwise_maximal_leakage -> information_privacy", needs="p_min", ours=True)
def both_sides(given: Given) -> arb | None:
    """max(e, log(p/(1 - exp(e)(1-p)))), p = p_min

    Source: ours
    If: the leakage is below log 1/(1-p_min)
    Attained by: a binary output that excludes a value of probability p_min as far as it may

    It is max(e, log 1/l), l the least lift.
    """
    least = least_lift(given)
    return given.value.max(-least.log()) if least > 0 else None


RULES.extend(
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
)


@RULES("leakage-and-guess", "pointwise_maximal_leakage -> bayes_advantage", needs="p_max", ours=True)
def leakage_and_guess(given: Given) -> arb:
    """(exp e - 1) p_max

    Source: ours: no posterior probability is above exp(e) p_max
    """
    return (given.value.exp() - 1) * given.p_max


@RULES("mean-of-pointwise", "pointwise_maximal_leakage -> maximal_leakage", meets=enough)
def mean_of_pointwise(given: Given) -> arb:
    """e

    Source: the maximal leakage is log of the mean of exp l(Y)
    Attained by: randomised response under a uniform prior on letters enough
    """
    return given.value


@RULES(
    "CONV-7",
    "information_privacy -> local_dp",
    meets=lambda given: given.facts.p_min is None or bool(given.p_min * (1 + given.value.exp()) <= 1),
)
def conv_7(given: Given) -> arb:
    """2e

    Source: FDIV, after eq. (1)
    Attained by: a binary channel with a rare output, where a value has probability 1/(1 + exp e)
    """
    return 2 * given.value


@RULES("lifts-local-dp-with-floor", "information_privacy -> local_dp", needs="p_min", ours=True)
def with_floor(given: Given) -> arb:
    """e + log min(exp e, (1-(1-p) exp(-e))/p), p = p_min

    Source: ours
    Attained by: a binary channel with a rare output

    *Bound because* a column's lifts have mean 1 under the prior and are at least e^-epsilon, so that the largest, which has mass p
    at least, is at most (1-(1-p) e^-epsilon)/p.
    """
    low = (-given.value).exp()
    return given.value + given.value.exp().min((1 - (1 - given.p_min) * low) / given.p_min).log()


@RULES("lifts", "information_privacy -> pointwise_maximal_leakage")
def larger_side(given: Given) -> arb:
    """e

    Source: FDIV, eq. (1): the larger side
    """
    return given.value


RULES.extend(
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
)


@RULES("lemma-4", f"{PLAIN} -> total_variation")
def lemma_4(given: Given) -> arb:
    """2 (exp e - 1 + d)

    Source: FDIV, Lemma 4
    """
    return 2 * (given.epsilon_before.exp() - 1 + given.value)


@RULES("CONV-11 (total variation)", f"{PLAIN} -> total_variation", ours=True)
def conv_11_total_variation(given: Given) -> arb:
    """2 (1 - exp(-e) (1-d))

    Source: ours; sharpens Lemma 4 of FDIV
    """
    return 2 * (1 - (-given.epsilon_before).exp() * (1 - given.value))


@RULES("CONV-11 (strong)", f"{STRONG} -> total_variation", ours=True)
def conv_11_strong(given: Given) -> arb:
    """2 ((1-d) tanh(e/2) + d)

    Source: ours; sharpens Lemma 4 of FDIV
    """
    return 2 * ((1 - given.value) * (given.epsilon_before / 2).tanh() + given.value)


@RULES("CONV-11 (information)", f"{PLAIN} -> mutual_information", needs="p_min", ours=True)
def conv_11_information(given: Given) -> arb:
    """(1-d) e + d log 1/p_min

    Source: ours; answers Remark 2 of FDIV
    """
    return (1 - given.value) * _within(given) - given.value * given.p_min.log()


@RULES("CONV-11 (chi-square)", f"{PLAIN} -> chi_square", needs="p_min", ours=True)
def conv_11_chi_square(given: Given) -> arb:
    """(1-d) exp e + d/p_min - 1

    Source: ours; answers Remark 2 of FDIV
    """
    return (1 - given.value) * _within(given).exp() + given.value / given.p_min - 1


@RULES("strong-to-plain", f"{STRONG} -> {PLAIN}")
def strong_to_plain(given: Given) -> arb | None:
    """d

    Source: FDIV, Definition 1
    """
    return given.value if given.before == given.after else None
