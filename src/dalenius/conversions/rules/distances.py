"""From distances from independence: to each other, to unlikely lifts, of every row; maximal correlation."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from dalenius.conversions.numbers import positive
from dalenius.conversions.programs import input_and_others, input_and_output, two_tails
from dalenius.conversions.rule import OURS, Given, Rule, Rules, Sharper, Value, any_alphabets, rare_values

PAIRS = (
    ("total_variation", "mutual_information", "total_variation"),
    ("strong_total_variation", "strong_kl", "strong_total_variation"),
    ("largest_divergence", "largest_divergence", "strong_total_variation"),
)


# What a distance from independence leaves of unlikely lifts: total variation, information, chi-square.


CIRCULANT = "circulants: X uniform on a large ring, the output X + noise"


def where_it_is_above_0(value: Callable[[Given], arb]) -> Value:
    """A rule of an epsilon above 0."""
    return lambda given: value(given) if given.epsilon_after > 0 else None


@where_it_is_above_0
def total_variation(given: Given) -> arb:
    """Min(1, (eta/2) coth(epsilon/2))."""
    return (given.value / 2 / (given.epsilon_after / 2).tanh()).min(arb(1))


@where_it_is_above_0
def chi_square(given: Given) -> arb:
    """Min(1, eta / (2 cosh epsilon - 2)).

    *Bound because* chi-square is the mean of (d-1)^2/d under the joint law, which is at least 4 sinh^2(epsilon/2) outside of the band.
    """
    return (given.value / (4 * (given.epsilon_after / 2).sinh() ** 2)).min(arb(1))


@where_it_is_above_0
def printed_chi_square(given: Given) -> arb:
    """g(e^-epsilon) + g(e^epsilon), g(G) = G eta / ((G-1)^2 + eta)."""
    return sum(
        (_g(factor, given.value) for factor in (given.epsilon_after.exp(), (-given.epsilon_after).exp())), arb(0)
    )


@where_it_is_above_0
def printed_information(given: Given) -> arb:
    """Zeta(epsilon) + zeta(-epsilon)."""
    return _zeta(given.value, given.epsilon_after) + _zeta(given.value, -given.epsilon_after)


def _g(factor: arb, eta: arb) -> arb:
    return factor * eta / ((factor - 1) ** 2 + eta)


def _zeta(eta: arb, epsilon: arb) -> arb:
    """At least the largest p below min(1, e^epsilon) with epsilon + (1-p) log((1-p)/(e^epsilon - p)) <= eta, or 1.

    Sought by bisection over p = min(1, e^epsilon) u.

    *Bound because* the left side grows with p (Appendix B of the paper), and exceeds eta at the p that is returned.
    """
    most = epsilon.exp().min(arb(1))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        p = most * middle
        beyond = epsilon + (1 - p) * ((1 - p) / (epsilon.exp() - p)).log() > eta
        low, high = (low, middle) if beyond else (middle, high)
    return most * high


BY_DISTANCE = {
    "total_variation": total_variation,
    "mutual_information": where_it_is_above_0(lambda given: two_tails(given.value, given.epsilon_after)),
    "chi_square": chi_square,
}
PRINTED = {
    "total_variation": (
        where_it_is_above_0(lambda given: given.value / (1 - (-given.epsilon_after).exp())),
        "Theorem 1(a)",
        "eta/(1 - exp(-e))",
    ),
    "mutual_information": (printed_information, "Theorem 1(b)", "zeta(e) + zeta(-e)"),
    "chi_square": (printed_chi_square, "Theorem 1(c)", "g(exp(-e)) + g(exp e), g(G) = G eta/((G-1)^2 + eta)"),
}
FORMULAS = {
    "total_variation": "min(1, (eta/2) coth(e/2))",
    "mutual_information": "max P(|log d| > e) with E log d <= eta, E 1/d <= 1",
    "chi_square": "min(1, eta/(2 cosh e - 2))",
}


# From strong distances, of every row, to strong information privacy, and from there to approximate differential privacy.


STRONG = {
    "strong_total_variation": "total_variation",
    "strong_kl": "mutual_information",
    "strong_chi_square": "chi_square",
}


def times_letters(value: Value) -> Value:
    """The letters times what holds of each row.

    *Bound because* D_f(q || W_x) <= eta bounds the probability under q of |log W_x/q| > epsilon as the exact worst case does, whose
    band is the same for q/W_x; and an output is bad if it is for some x.
    """

    def all_rows(given: Given) -> arb | None:
        each = value(given)
        return None if each is None else (given.letters * each).min(arb(1))

    return all_rows


# What an information leaves of local information privacy.


# Maximal correlation and chi-square: singular values, of which the largest is one and the squares sum to the other.


RULES = Rules()


RULES.extend(
    Rule(
        f"pinsker ({name})",
        f"{source} -> {target}",
        "sqrt(2 KL)",
        "FDIV, after Definition 6, with the 2 that is missing there",
        # Sqrt(2 KL): the distance is from 0 to 2, and "TV^2 <= KL" is false for it (E3-2).
        lambda given: (2 * positive(given.value)).sqrt(),
    )
    for name, source, target in PAIRS
)


RULES.extend(
    Sharper(
        f"exact-pinsker ({name})",
        f"{source} -> {target}",
        "2 max q - p with d(p||q) <= KL",
        OURS,
        # 2 max q - p with d(p || q) <= KL: the largest distance of two laws with that divergence.
        lambda given: 2 * input_and_output(given.value, arb(0)),
        attained="X uniform on a ring, the output X + noise with two probabilities"
        if name == target == PAIRS[0][0]
        else "",
        meets=any_alphabets,
    )
    for name, source, target in PAIRS
)


@RULES("jensen (strong)", "strong_chi_square -> strong_kl", attained="")
@RULES("jensen", "chi_square -> mutual_information", meets=any_alphabets)
def jensen(given: Given) -> arb:
    """log(1 + eta)

    Source: FDIV, after Definition 6
    Attained by: X uniform on a ring, the output X + noise that is uniform on its share 1/(1 + eta)
    """
    return (1 + given.value).log()


@RULES("cauchy-schwarz (strong)", "strong_chi_square -> strong_total_variation", ours=True, theorem="ours", attained="")
@RULES(
    "cauchy-schwarz",
    "chi_square -> total_variation",
    meets=lambda given: any_alphabets(given) or bool(given.value <= 1),
    ours=True,
)
def cauchy_schwarz(given: Given) -> arb:
    """sqrt(eta), from eta = 1 on 2 eta/(1 + eta)

    Source: ours; sharper than sqrt(2 log(1 + eta))
    Attained by: X uniform on a ring, the output X + noise with two probabilities: lifts 1 + t and 1 - t, or 0 and 1 + eta

    *Bound because* z = d - 1 is at least -1 with mean 0 and square eta on average; the distance is the mean of 2 (-z)_+, and
    2 (z - eta)^2/(1 + eta)^2, whose mean is 2 eta/(1 + eta), is at least that: if eta >= 1 it meets -2z at z = -1, and rises above it.
    """
    eta = positive(given.value)
    return 2 * eta / (1 + eta) if eta > 1 else eta.sqrt()


RULES.extend(
    Sharper(
        f"CONV-9 ({source}, exact)",
        f"{source} -> information_privacy_delta",
        FORMULAS[source],
        f"{OURS}; the exact worst case of FDIV, Theorem 1",
        value,
        conditions="epsilon is above 0",
        attained=CIRCULANT,
        meets=any_alphabets,
    )
    for source, value in BY_DISTANCE.items()
)


RULES.extend(
    Rule(
        f"CONV-9 ({source})",
        f"{source} -> information_privacy_delta",
        formula,
        f"FDIV, {place}",
        value,
        (),
        "epsilon is above 0",
    )
    for source, (value, place, formula) in PRINTED.items()
)


RULES.extend(
    Sharper(
        f"CONV-10 ({strong})",
        f"{strong} -> strong_information_privacy_delta",
        f"letters times {FORMULAS[plain]}",
        f"FDIV, Corollary 1, with the exact worst case of Theorem 1 ({OURS})",
        times_letters(BY_DISTANCE[plain]),
        needs=("letters",),
        conditions="epsilon is above 0",
    )
    for strong, plain in STRONG.items()
)


@RULES("CONV-10 (Lemma 1)", "strong_information_privacy_delta -> local_dp_delta", needs="p_min")
def conv_10_lemma_1(given: Given) -> arb | None:
    """d/p_min at 2e

    Source: FDIV, Lemma 1; of plain information privacy the remark after it is false
    """
    return (given.value / given.p_min).min(arb(1)) if given.reaches(times=2) else None


@RULES("theorem-2a-corrected", "mutual_information -> local_information_privacy_delta", needs="p_min", ours=True)
def corrected(given: Given) -> arb:
    """max p0 - exp(e) p1, exp(-e) p1 - p0 with p d(p1||p0) + (1-p) d(r||p0) <= mu, p0 = p p1 + (1-p) r, p = p_min

    Source: ours; Theorem 2(a) of LMIP is false as printed: an information is a mean over the inputs
    Attained by: a channel that tells whether X is a value of probability p_min, with rows p1, r

    *Bound because* the channel from "X = x or not" to "the output is in E or not" reveals no more, and with p0 and p1 kept the
    divergence grows with the probability of x.
    """
    return input_and_others(given.value, given.epsilon_after, given.p_min)


@RULES("theorem-2a", "largest_divergence -> local_information_privacy_delta", meets=rare_values)
def theorem_2a(given: Given) -> arb:
    """max p0 - exp(e) p1, exp(-e) p1 - p0 with d(p1||p0) <= mu

    Source: LMIP, Theorem 2(a), eq. (13), of the notion that its proof uses: D(W_x || q) <= mu for every x
    Attained by: a channel that tells whether X is one rare value, with rows p1, p0
    """
    return input_and_output(given.value, given.epsilon_after)


@RULES("CONV-16", "maximal_correlation -> chi_square", needs="letters")
def to_chi_square(given: Given) -> arb:
    """(min(letters, outputs) - 1) rho^2

    Source: FDIV, Lemma 5
    Attained by: randomised response under a uniform prior
    """
    size = min(given.letters, given.facts.outputs or given.letters)
    return (size - 1) * given.value**2


@RULES("CONV-16 (back)", "chi_square -> maximal_correlation")
def conv_16_back(given: Given) -> arb:
    """sqrt(eta)

    Source: FDIV, Lemma 5
    Attained by: every channel with two inputs or two outputs
    """
    return positive(given.value).sqrt()
