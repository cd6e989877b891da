"""From differential privacy, pure and approximate: of datasets to records, and of a record's channel to everything else."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.numbers import ZERO, binary_entropy, positive
from dalenius.conversions.programs import between_inputs
from dalenius.conversions.rule import (
    FDIV,
    KOV,
    LMIP,
    OURS,
    PUFFERFISH,
    SAEIDIAN,
    Facts,
    Given,
    Rule,
    Sharper,
    any_alphabets,
    rare_values,
    same,
)

# What a small delta leaves of information, where the alphabets are small.


def two_letters_at_delta(given: Given) -> arb | None:
    """Delta log 2 + (1-delta)(log 2 - h(1/(1+e^epsilon))): the dominating channel has four outputs."""
    if given.letters > 2:
        return None
    return given.value * arb(2).log() + (1 - given.value) * randomised_response(given.epsilon_before)


def size_of(facts: Facts, more: int) -> int | None:
    """min(outputs, letters + more), of what is known."""
    sizes = [size for size in (facts.outputs, facts.letters and facts.letters + more) if size]
    return min(sizes, default=None)


def fannes(given: Given) -> arb | None:
    """H(delta) + delta log(n - 1) where delta <= 1 - 1/n, else log n, n = min(letters, outputs).

    *Bound because* the law of the outputs is within delta of each row, and by Audenaert's inequality entropies then differ by no more;
    so do those of the secret's law and its posteriors on average, whose distance is delta on average, as the bound is concave in it.
    """
    n = size_of(given.facts, 0)
    if n is None or given.before != ZERO:
        return None
    if n == 1:
        return arb(0)
    if not given.value <= 1 - arb(1) / n:
        return arb(n).log()
    return (binary_entropy(given.value) + given.value * arb(n - 1).log()).min(arb(n).log())


def printed(given: Given) -> arb | None:
    """2 h(delta) + 2 delta log min(outputs, letters + 1)."""
    n = size_of(given.facts, 1)
    if n is None or given.before != ZERO or not given.value <= 0.5:
        return None
    return 2 * binary_entropy(given.value) + 2 * given.value * arb(n).log()


FOUR = 4  # outputs of the dominating channel


# What a small delta leaves of maximal leakage, where the secret has few values.


def largest_of_rows(given: Given) -> arb:
    """Log(e^epsilon + (k-1) delta).

    *Bound because* the largest entry of a column is at most e^epsilon times that of one row, and besides what the k-1 others have
    above it, which is delta each in all columns.
    """
    return (given.epsilon_before.exp() + (given.letters - 1) * given.value).log()


EVERY_PRIOR = "the information is bounded for every prior, or for every prior on two values at least"
OF_DELTAS = (
    Rule(
        "theorem-1a",
        "shannon_capacity -> local_dp_delta",
        "max p0 - exp(e) p1 with d(p0||q), d(p1||q) <= mu",
        f"{LMIP}, Theorem 1(a), eqs. (10), (11)",
        lambda given: between_inputs(given.value, given.epsilon_after),
        conditions=EVERY_PRIOR,
        attained="the binary channel with rows p0, p1",
    ),
    Rule(
        "theorem-1-distance",
        "shannon_capacity -> local_dp_delta",
        "sqrt(2 mu)",
        f"{PUFFERFISH}, Theorem 1, second implication",
        lambda given: (2 * given.value).sqrt(),
        conditions=EVERY_PRIOR,
    ),
    Sharper(
        "binary-delta-information",
        "local_dp_delta -> shannon_capacity",
        "d log 2 + (1-d)(log 2 - h(1/(1 + exp e)))",
        f"{OURS}; the dominating channel with four outputs",
        two_letters_at_delta,
        needs=("letters",),
        conditions="the secret has two values",
        attained="randomised response that tells the secret with probability d",
        meets=lambda given: given.facts.outputs is None or given.facts.outputs >= FOUR,
    ),
    *(
        Sharper(
            f"fannes{name}",
            "local_dp_delta -> shannon_capacity",
            f"h(d) + d log(n-1) at epsilon 0, {few}",
            f"{OURS}; half of {PUFFERFISH}, Theorem 1, third implication, part 1",
            fannes,
            needs=(known,),
            conditions="epsilon is 0",
        )
        for known, name, few in (("letters", "", "n = min(letters, outputs)"), ("outputs", " (outputs)", "n outputs"))
    ),
    *(
        Rule(
            f"theorem-1-entropies{name}",
            "local_dp_delta -> shannon_capacity",
            f"2 h(d) + 2 d log n at epsilon 0, {few}",
            f"{PUFFERFISH}, Theorem 1, third implication, part 1",
            printed,
            needs=(known,),
            conditions="epsilon is 0",
        )
        for known, name, few in (
            ("letters", "", "n = min(outputs, letters + 1)"),
            ("outputs", " (outputs)", "n outputs"),
        )
    ),
    Sharper(
        "delta-maximal-leakage",
        "local_dp_delta -> maximal_leakage",
        "log(exp e + (k-1) d)",
        OURS,
        largest_of_rows,
        needs=("letters",),
        attained="telling every value with probability d, at epsilon 0",
        meets=lambda given: (
            given.before == ZERO and (given.facts.outputs is None or given.facts.outputs > given.letters)
        ),
    ),
    Sharper(
        "delta-maximal-leakage (inputs)",
        "local_information_privacy_delta -> maximal_leakage",
        "e + log(1 + k d)",
        OURS,
        # Epsilon + log(1 + k delta): the same with the law of the outputs, above which each of k rows has e^epsilon delta.
        lambda given: given.epsilon_before + (1 + given.letters * given.value).log(),
        needs=("letters",),
    ),
)


# What local differential privacy leaves of divergences between rows.


def reverse_pinsker(given: Given) -> arb:
    """Delta' (epsilon/(1-e^-epsilon) - e^-epsilon), delta' = tanh(epsilon/2).

    Of eq. (4) of the paper without its factor 1/2, which belongs to the distance from 0 to 2 (E0.1).
    """
    epsilon = given.value
    if epsilon == 0:
        return arb(0)
    least = (-epsilon).exp()
    return (epsilon / 2).tanh() * (epsilon / (1 - least) - least)


# What local differential privacy leaves of information.


def any_letters(given: Given) -> arb:
    """C - 1 - log c with c = epsilon / (1 - e^-epsilon).

    *Bound because* for each output the ratio r = W(x,y)/q(y) lies in [t, t e^epsilon] with mean 1 under the prior, where the convex
    r log r has the largest mean for a law on both ends; with mass a on the upper one the mean is f(a) = a e^epsilon epsilon / (1 +
    a (e^epsilon - 1)) - log(1 + a (e^epsilon - 1)), whose maximum over a is this.
    """
    epsilon = given.value
    if epsilon == 0:
        return arb(0)
    if epsilon < 1e-10:  # where the difference cancels: c - 1 - log c <= (c-1)^2/2 and c - 1 <= epsilon/2 + epsilon^2
        return (epsilon / 2 + epsilon**2) ** 2 / 2
    c = epsilon / (1 - (-epsilon).exp())
    return c - 1 - c.log()


def two_letters(given: Given) -> arb | None:
    """Log 2 - h(1/(1+e^epsilon)): any such binary channel is a randomised version of randomised response."""
    if given.letters > 2:
        return None
    return randomised_response(given.value)


def randomised_response(epsilon: arb) -> arb:
    """Log 2 - h(1/(1+e^epsilon)), what it reveals about a fair bit."""
    return arb(2).log() - binary_entropy(1 / (1 + epsilon.exp()))


# What local differential privacy leaves of maximal leakage.


def with_letters(given: Given) -> arb:
    """Log(k / (1 + (k-1) e^-C)).

    *Bound because* the entries of a column sum to at least (1 + (k-1) e^-C) times the largest, and those of all columns to k.
    """
    return (given.letters / (1 + (given.letters - 1) * (-given.value).exp())).log()


# Approximate local differential privacy at another epsilon: what the dominating pair of laws has.


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


DOMINATING = (
    Rule(
        "dominating-pair-pure",
        "local_dp -> local_dp_delta",
        "(exp C - exp e)_+ / (exp C + 1)",
        f"{KOV}, Theorem 2.1; {LMIP}, section II",
        pure,
        attained="binary randomised response",
    ),
    Rule(
        "dominating-pair",
        "local_dp_delta -> local_dp_delta",
        "d + (1-d) (exp e - exp e')_+ / (exp e + 1)",
        f"{KOV}, Theorem 2.1; at e' = 0 the 1 - 2(1-d)/(exp e + 1) of {PUFFERFISH}, Theorem 1, third implication",
        approximate,
        attained="randomised response that tells the secret with probability d",
    ),
)
RULES = (
    Rule(
        "group-privacy",
        "differential_privacy -> free_lunch_privacy",
        "n e",
        f"{SAEIDIAN}, Definition 4.4; any two datasets differ in n records at most",
        lambda given: given.records * given.value,
        needs=("records",),
        attained="randomised response of every record",
    ),
    Rule("neighbours", "free_lunch_privacy -> differential_privacy", "e", "neighbours are two datasets", same),
    Rule(
        "CONV-3",
        "differential_privacy -> local_dp",
        "e, for one record",
        f"{SAEIDIAN}, Theorem 4.2(3); with CONV-2 it generalises Prop. 4.6 to any mechanism and alphabet",
        same,  # the record's channel is a mean of those with the others known
        needs=("independent",),
        conditions="the secret is one record, and the others are independent of it",
        attained="any mechanism, where the others are known",
        keeps=True,
    ),
    Rule(
        "CONV-4",
        "free_lunch_privacy -> local_dp",
        "e, for any attribute of the dataset",
        f"{SAEIDIAN}, Theorems 4.3, 4.5: with all records equal nothing less than group privacy holds",
        same,
        conditions="the secret is a record or any other attribute, correlated with the others in any way",
        attained="any mechanism, where all records are equal",
        keeps=True,
    ),
    Sharper(
        "CONV-2",
        "local_dp -> pointwise_maximal_leakage",
        "-log(p + (1-p) exp(-C)), p = p_min",
        f"{OURS}; for {SAEIDIAN}, Theorem 4.2, at a prior with floor p_min",
        # -log(p + (1-p) e^-C): q(y) is at least (p + (1-p) e^-C) W(x,y).
        lambda given: -(given.p_min + (1 - given.p_min) * (-given.value).exp()).log(),
        needs=("p_min",),
        attained="randomised response, where a value has probability p_min",
    ),
    Rule(
        "leakage-capacity",
        "local_dp -> pointwise_maximal_leakage",
        "C",
        f"{SAEIDIAN}, Theorem 2.8: the supremum over all priors",
        same,
        attained="randomised response, in the limit of a rare value",
        meets=rare_values,
    ),
    Sharper(
        "local-dp-lifts",
        "local_dp -> information_privacy",
        "log(p + (1-p) exp C), p = p_min",
        f"{OURS}; both sides of CONV-2",
        lambda given: (given.p_min + (1 - given.p_min) * given.value.exp()).log(),
        needs=("p_min",),
        attained="randomised response, where a value has probability p_min",
    ),
    Rule(
        "CONV-7 (back)",
        "local_dp -> information_privacy",
        "C",
        f"{FDIV}, after eq. (1)",
        same,
        attained="randomised response, in the limit of a rare value",
        meets=rare_values,
    ),
    Sharper(
        "local-dp-divergence",
        "local_dp -> pairwise_divergence",
        "e tanh(e/2)",
        f"{OURS}; sharpens the first implication of Theorem 1 of {PUFFERFISH}",
        lambda given: given.value * (given.value / 2).tanh(),
        attained="binary randomised response",
    ),
    Rule(
        "theorem-1-divergence",
        "local_dp -> pairwise_divergence",
        "min(e, e^2/2)",
        f"{PUFFERFISH}, Theorem 1, first implication",
        lambda given: given.value.min(given.value**2 / 2),
    ),
    Rule(
        "theorem-1-reverse-pinsker",
        "local_dp -> pairwise_divergence",
        "tanh(e/2) (e/(1 - exp(-e)) - exp(-e))",
        f"{PUFFERFISH}, Theorem 1, part 2, eq. (4), without the 1/2 that is wrong there",
        reverse_pinsker,
    ),
    Sharper(
        "local-dp-information",
        "local_dp -> shannon_capacity",
        "c - 1 - log c, c = e/(1 - exp(-e))",
        f"{OURS}; sharpens the first implication of Theorem 1 of {PUFFERFISH} four times where e is small",
        any_letters,
        attained="subset selection, in the limit of many letters",
        meets=any_alphabets,
    ),
    Sharper(
        "binary-local-dp-information",
        "local_dp -> shannon_capacity",
        "log 2 - h(1/(1 + exp e))",
        f"{OURS}; randomised response dominates every binary channel",
        two_letters,
        needs=("letters",),
        conditions="the secret has two values",
        attained="binary randomised response",
    ),
    Sharper(
        "local-dp-maximal-leakage",
        "local_dp -> maximal_leakage",
        "log(k / (1 + (k-1) exp(-C)))",
        OURS,
        with_letters,
        needs=("letters",),
        attained="k-ary randomised response",
        meets=lambda given: given.facts.outputs is None or given.facts.outputs >= given.letters,
    ),
    Rule(
        "local-dp-maximal-leakage-any",
        "local_dp -> maximal_leakage",
        "C",
        f"{SAEIDIAN}: the maximal leakage is a mean of exp l(y), at most C each",
        same,
        attained="k-ary randomised response, in the limit of many letters",
        meets=any_alphabets,
    ),
    *DOMINATING,
    *OF_DELTAS,
)
