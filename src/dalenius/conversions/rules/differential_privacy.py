"""From differential privacy, pure and approximate: of datasets to records, and of a record's channel to everything else."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.numbers import ZERO, binary_entropy, positive
from dalenius.conversions.programs import between_inputs
from dalenius.conversions.rule import OURS, Facts, Given, Rule, Rules, Sharper, any_alphabets, rare_values

# What a small delta leaves of information, where the alphabets are small.


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


OF_DELTAS = Rules()


@OF_DELTAS("theorem-1a", "shannon_capacity -> local_dp_delta")
def theorem_1a(given: Given) -> arb:
    """max p0 - exp(e) p1 with d(p0||q), d(p1||q) <= mu

    Source: LMIP, Theorem 1(a), eqs. (10), (11)
    If: the information is bounded for every prior, or for every prior on two values at least
    Attained by: the binary channel with rows p0, p1
    """
    return between_inputs(given.value, given.epsilon_after)


@OF_DELTAS("theorem-1-distance", "shannon_capacity -> local_dp_delta")
def theorem_1_distance(given: Given) -> arb:
    """sqrt(2 mu)

    Source: PUFFERFISH, Theorem 1, second implication
    If: the information is bounded for every prior, or for every prior on two values at least
    """
    return (2 * given.value).sqrt()


@OF_DELTAS(
    "binary-delta-information",
    "local_dp_delta -> shannon_capacity",
    needs="letters",
    meets=lambda given: given.facts.outputs is None or given.facts.outputs >= FOUR,
    ours=True,
)
def two_letters_at_delta(given: Given) -> arb | None:
    """d log 2 + (1-d)(log 2 - h(1/(1 + exp e)))

    Source: ours; the dominating channel with four outputs
    If: the secret has two values
    Attained by: randomised response that tells the secret with probability d
    """
    if given.letters > 2:
        return None
    return given.value * arb(2).log() + (1 - given.value) * randomised_response(given.epsilon_before)


OF_DELTAS.extend(
    Sharper(
        f"fannes{name}",
        "local_dp_delta -> shannon_capacity",
        f"h(d) + d log(n-1) at epsilon 0, {few}",
        f"{OURS}; half of PUFFERFISH, Theorem 1, third implication, part 1",
        fannes,
        needs=(known,),
        conditions="epsilon is 0",
    )
    for known, name, few in (("letters", "", "n = min(letters, outputs)"), ("outputs", " (outputs)", "n outputs"))
)


OF_DELTAS.extend(
    Rule(
        f"theorem-1-entropies{name}",
        "local_dp_delta -> shannon_capacity",
        f"2 h(d) + 2 d log n at epsilon 0, {few}",
        "PUFFERFISH, Theorem 1, third implication, part 1",
        printed,
        needs=(known,),
        conditions="epsilon is 0",
    )
    for known, name, few in (
        ("letters", "", "n = min(outputs, letters + 1)"),
        ("outputs", " (outputs)", "n outputs"),
    )
)


@OF_DELTAS(
    "delta-maximal-leakage",
    "local_dp_delta -> maximal_leakage",
    needs="letters",
    meets=lambda given: given.before == ZERO and (given.facts.outputs is None or given.facts.outputs > given.letters),
    ours=True,
)
def largest_of_rows(given: Given) -> arb:
    """log(exp e + (k-1) d)

    Source: ours
    Attained by: telling every value with probability d, at epsilon 0

    *Bound because* the largest entry of a column is at most e^epsilon times that of one row, and besides what the k-1 others have
    above it, which is delta each in all columns.
    """
    return (given.epsilon_before.exp() + (given.letters - 1) * given.value).log()


@OF_DELTAS(
    "delta-maximal-leakage (inputs)",
    "local_information_privacy_delta -> maximal_leakage",
    needs="letters",
    ours=True,
)
def delta_maximal_leakage_inputs(given: Given) -> arb:
    """e + log(1 + k d)

    Source: ours

    It is the same with the law of the outputs, above which each of k rows has e^epsilon delta.
    """
    return given.epsilon_before + (1 + given.letters * given.value).log()


def randomised_response(epsilon: arb) -> arb:
    """Log 2 - h(1/(1+e^epsilon)), what it reveals about a fair bit."""
    return arb(2).log() - binary_entropy(1 / (1 + epsilon.exp()))


# Approximate local differential privacy at another epsilon: what the dominating pair of laws has.


def dominating_delta(epsilon: arb, delta: arb, asked: arb) -> arb:
    """Delta + (1-delta) (e^epsilon - e^asked)_+ / (e^epsilon + 1)."""
    shift = (epsilon - asked).exp()
    return delta + (1 - delta) * positive(shift - 1) / (shift + (-asked).exp())


DOMINATING = Rules()


@DOMINATING("dominating-pair-pure", "local_dp -> local_dp_delta")
def pure(given: Given) -> arb:
    """(exp C - exp e)_+ / (exp C + 1)

    Source: KOV, Theorem 2.1; LMIP, section II
    Attained by: binary randomised response
    """
    return dominating_delta(given.value, arb(0), given.epsilon_after)


@DOMINATING("dominating-pair", "local_dp_delta -> local_dp_delta")
def approximate(given: Given) -> arb:
    """d + (1-d) (exp e - exp e')_+ / (exp e + 1)

    Source: KOV, Theorem 2.1; at e' = 0 the 1 - 2(1-d)/(exp e + 1) of PUFFERFISH, Theorem 1, third implication
    Attained by: randomised response that tells the secret with probability d
    """
    if given.before == given.after:
        return given.value
    return dominating_delta(given.epsilon_before, given.value.min(arb(1)), given.epsilon_after)


RULES = Rules()


@RULES("group-privacy", "differential_privacy -> free_lunch_privacy", needs="records")
def group_privacy(given: Given) -> arb:
    """n e

    Source: SAEIDIAN, Definition 4.4; any two datasets differ in n records at most
    Attained by: randomised response of every record
    """
    return given.records * given.value


@RULES("neighbours", "free_lunch_privacy -> differential_privacy")
def neighbours(given: Given) -> arb:
    """e

    Source: neighbours are two datasets
    """
    return given.value


@RULES("CONV-3", "differential_privacy -> local_dp", needs="independent", keeps=True)
def conv_3(given: Given) -> arb:
    """e, for one record

    Source: SAEIDIAN, Theorem 4.2(3); with CONV-2 it generalises Prop. 4.6 to any mechanism and alphabet
    If: the secret is one record, and the others are independent of it
    Attained by: any mechanism, where the others are known

    The record's channel is a mean of those with the others known.
    """
    return given.value


@RULES("CONV-4", "free_lunch_privacy -> local_dp", keeps=True)
def conv_4(given: Given) -> arb:
    """e, for any attribute of the dataset

    Source: SAEIDIAN, Theorems 4.3, 4.5: with all records equal nothing less than group privacy holds
    If: the secret is a record or any other attribute, correlated with the others in any way
    Attained by: any mechanism, where all records are equal
    """
    return given.value


@RULES("CONV-2", "local_dp -> pointwise_maximal_leakage", needs="p_min", ours=True)
def conv_2(given: Given) -> arb:
    """-log(p + (1-p) exp(-C)), p = p_min

    Source: ours; for SAEIDIAN, Theorem 4.2, at a prior with floor p_min
    Attained by: randomised response, where a value has probability p_min

    q(y) is at least (p + (1-p) e^-C) W(x,y).
    """
    return -(given.p_min + (1 - given.p_min) * (-given.value).exp()).log()


@RULES("leakage-capacity", "local_dp -> pointwise_maximal_leakage", meets=rare_values)
def leakage_capacity(given: Given) -> arb:
    """C

    Source: SAEIDIAN, Theorem 2.8: the supremum over all priors
    Attained by: randomised response, in the limit of a rare value
    """
    return given.value


@RULES("local-dp-lifts", "local_dp -> information_privacy", needs="p_min", ours=True)
def local_dp_lifts(given: Given) -> arb:
    """log(p + (1-p) exp C), p = p_min

    Source: ours; both sides of CONV-2
    Attained by: randomised response, where a value has probability p_min
    """
    return (given.p_min + (1 - given.p_min) * given.value.exp()).log()


@RULES("CONV-7 (back)", "local_dp -> information_privacy", meets=rare_values)
def conv_7_back(given: Given) -> arb:
    """C

    Source: FDIV, after eq. (1)
    Attained by: randomised response, in the limit of a rare value
    """
    return given.value


@RULES("local-dp-divergence", "local_dp -> pairwise_divergence", ours=True)
def local_dp_divergence(given: Given) -> arb:
    """e tanh(e/2)

    Source: ours; sharpens the first implication of Theorem 1 of PUFFERFISH
    Attained by: binary randomised response
    """
    return given.value * (given.value / 2).tanh()


@RULES("theorem-1-divergence", "local_dp -> pairwise_divergence")
def theorem_1_divergence(given: Given) -> arb:
    """min(e, e^2/2)

    Source: PUFFERFISH, Theorem 1, first implication
    """
    return given.value.min(given.value**2 / 2)


@RULES("theorem-1-reverse-pinsker", "local_dp -> pairwise_divergence")
def reverse_pinsker(given: Given) -> arb:
    """tanh(e/2) (e/(1 - exp(-e)) - exp(-e))

    Source: PUFFERFISH, Theorem 1, part 2, eq. (4), without the 1/2 that is wrong there

    Of eq. (4) of the paper without its factor 1/2, which belongs to the distance from 0 to 2 (E0.1).
    """
    epsilon = given.value
    if epsilon == 0:
        return arb(0)
    least = (-epsilon).exp()
    return (epsilon / 2).tanh() * (epsilon / (1 - least) - least)


@RULES("local-dp-information", "local_dp -> shannon_capacity", meets=any_alphabets, ours=True)
def any_letters(given: Given) -> arb:
    """c - 1 - log c, c = e/(1 - exp(-e))

    Source: ours; sharpens the first implication of Theorem 1 of PUFFERFISH four times where e is small
    Attained by: subset selection, in the limit of many letters

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


@RULES("binary-local-dp-information", "local_dp -> shannon_capacity", needs="letters", ours=True)
def two_letters(given: Given) -> arb | None:
    """log 2 - h(1/(1 + exp e))

    Source: ours; randomised response dominates every binary channel
    If: the secret has two values
    Attained by: binary randomised response

    Any such binary channel is a randomised version of randomised response.
    """
    if given.letters > 2:
        return None
    return randomised_response(given.value)


@RULES(
    "local-dp-maximal-leakage",
    "local_dp -> maximal_leakage",
    needs="letters",
    meets=lambda given: given.facts.outputs is None or given.facts.outputs >= given.letters,
    ours=True,
)
def with_letters(given: Given) -> arb:
    """log(k / (1 + (k-1) exp(-C)))

    Source: ours
    Attained by: k-ary randomised response

    *Bound because* the entries of a column sum to at least (1 + (k-1) e^-C) times the largest, and those of all columns to k.
    """
    return (given.letters / (1 + (given.letters - 1) * (-given.value).exp())).log()


@RULES("local-dp-maximal-leakage-any", "local_dp -> maximal_leakage", meets=any_alphabets)
def local_dp_maximal_leakage_any(given: Given) -> arb:
    """C

    Source: SAEIDIAN: the maximal leakage is a mean of exp l(y), at most C each
    Attained by: k-ary randomised response, in the limit of many letters
    """
    return given.value


RULES.extend((*DOMINATING, *OF_DELTAS))
