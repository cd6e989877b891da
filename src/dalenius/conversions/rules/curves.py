"""From what engineers hold: Rényi, zero-concentrated, Gaussian differential privacy; Bayesian, of records that depend on each other.

What follows from how two laws differ follows between neighbouring datasets and between any two rows of a secret's channel alike.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from flint import arb

from dalenius.conversions.gaussian.inputs import ListedInputs, gaussian_delta, normal_tail
from dalenius.conversions.numbers import Epsilon
from dalenius.conversions.pairs import gap_at_one, gap_of_all_orders_at_one, largest_gap, largest_gap_of_all_orders
from dalenius.conversions.rule import (
    BUN,
    CKS,
    DONG,
    DRV,
    KOV,
    LANGE,
    MIRONOV,
    OURS,
    Composed,
    Given,
    Rule,
    Sharper,
    same,
)
from dalenius.conversions.rules.differential_privacy import DOMINATING
from dalenius.conversions.rules.releases import ADAPTIVE, OPTIMAL, times
from dalenius.information.balls import exactly

ROWS_OF = {
    "differential_privacy": "local_dp",
    "differential_privacy_delta": "local_dp_delta",
    "renyi_dp": "local_renyi_dp",
    "zcdp": "local_zcdp",
    "gdp": "local_gdp",
}
"""The same notion between neighbouring datasets, and between any two rows of a secret's channel."""


def of_rows(rule: Rule) -> Rule:
    """The rule of a secret's channel that a rule of neighbouring datasets is as well."""
    return replace(rule, name=f"{rule.name} (rows)", way=f"{ROWS_OF[rule.source]} -> {ROWS_OF[rule.target]}")


# Between two laws.


def largest_order(given: Given) -> arb | None:
    """r, for an order that is not above that of the guarantee."""
    assert given.before is not None
    assert given.after is not None
    return given.value if given.before.at_least(given.after) else None


def every_release(given: Given) -> arb | None:
    """T r, for an order that is not above that of the guarantee."""
    return None if largest_order(given) is None else times(given)


def root_of_times(given: Given) -> arb:
    """sqrt(T) mu."""
    return arb(given.facts.releases).sqrt() * given.value


def renyi_of_response(given: Given) -> arb:
    """log((e^(a e) + e^((1-a) e)) / (1 + e^e)) / (a-1): randomised response dominates every such pair of laws.

    As e + log((1 + e^((1-2a) e)) / (1 + e^-e)) / (a-1), where nothing is large.
    """
    a, epsilon = given.epsilon_after, given.value
    rest = (1 + ((1 - 2 * a) * epsilon).exp()) / (1 + (-epsilon).exp())
    return epsilon + rest.log() / (a - 1)


def zcdp_of_response(given: Given) -> arb:
    """e tanh(e/2).

    *Bound because* by the inequality of Kearns and Saul the loss of randomised response, e or -e, has a logarithm of
    E exp(s (loss - mean)) of at most s^2 e tanh(e/2), and its mean is e tanh(e/2): so D_a <= a e tanh(e/2), with equality as a falls
    to 1.
    """
    return given.value * (given.value / 2).tanh()


def gdp_of_response(given: Given) -> arb:
    """2 Phi^-1(1/(1 + e^-e)): the trade-off function of e consists of two chords of this one.

    Where digits end, sqrt(8 log((1 + e^e)/2)), as Phi(-t) <= exp(-t^2/2)/2.
    """
    found = 2 * arb(2).sqrt() * (given.value / 2).tanh().erfinv()
    return found if found.is_finite() else (8 * (given.value + (((-given.value).exp() + 1) / 2).log())).sqrt()


def delta_of_gaussian(given: Given) -> arb:
    """Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu)."""
    return gaussian_delta(given.value, given.epsilon_after) if given.value > 0 else arb(0)


def delta_at_least(given: Given) -> arb:
    """Delta of Gaussian noise with this rho, which is allowed."""
    return delta_of_gaussian(replace(given, value=(2 * given.value).sqrt()))


def printed_delta_of_renyi(given: Given) -> arb:
    """e^((a-1)(r-e)) (1 - 1/a)^(a-1) / a."""
    return gap_at_one(given.epsilon_before, given.value, given.epsilon_after)


def continuous(given: Given) -> bool:
    """True if an output may be any number."""
    return given.facts.outputs is None


GAUSSIAN = "Gaussian noise"
RESPONSE = "binary randomised response"
OfNormal = partial(Rule, attained=GAUSSIAN, meets=continuous)
COINS = "a channel of two inputs and two outputs"
PAIRS = (
    Rule(
        "renyi-of-pure",
        "differential_privacy -> renyi_dp",
        "log((exp(a e) + exp((1-a) e))/(1 + exp e))/(a-1)",
        f"{MIRONOV}, Proposition 10; {KOV}, Theorem 2.1",
        renyi_of_response,
        attained=RESPONSE,
    ),
    Sharper(
        "zcdp-of-pure",
        "differential_privacy -> zcdp",
        "e tanh(e/2)",
        f"{OURS}, by the inequality of Kearns and Saul",
        zcdp_of_response,
        attained=RESPONSE,
    ),
    Rule(
        "zcdp-of-pure (printed)",
        "differential_privacy -> zcdp",
        "e^2/2",
        f"{BUN}, Proposition 1.4",
        lambda given: given.value**2 / 2,
    ),
    Rule(
        "gdp-of-pure",
        "differential_privacy -> gdp",
        "2 Phi^-1(1/(1 + exp(-e)))",
        f"{DONG}, after Proposition 3",
        gdp_of_response,
        attained=RESPONSE,
    ),
    Rule(
        "renyi-orders",
        "renyi_dp -> renyi_dp",
        "r, at no larger order",
        f"{MIRONOV}, Proposition 9",
        largest_order,
    ),
    OfNormal(
        "renyi-of-zcdp",
        "zcdp -> renyi_dp",
        "a rho",
        f"{BUN}, Definition 1.1",
        lambda given: given.epsilon_after * given.value,
    ),
    OfNormal(
        "zcdp-of-gdp",
        "gdp -> zcdp",
        "mu^2/2",
        f"{DONG}, Corollary B.6; {BUN}, Proposition 1.6",
        lambda given: given.value**2 / 2,
    ),
    OfNormal(
        "delta-of-gdp",
        "gdp -> differential_privacy_delta",
        "Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)",
        f"{DONG}, Corollary 1; Balle, Wang, Improving the Gaussian mechanism, Theorem 5",
        delta_of_gaussian,
    ),
    Sharper(
        "delta-of-renyi",
        "renyi_dp -> differential_privacy_delta",
        "max p - exp(e) q of two coins with D_a <= r both ways",
        f"{OURS}; Asoodeh et al., Three variants of differential privacy, Theorem 3, has one way",
        lambda given: largest_gap(given.epsilon_before, given.value, given.epsilon_after),
        attained=COINS,
    ),
    Rule(
        "delta-of-renyi (printed)",
        "renyi_dp -> differential_privacy_delta",
        "exp((a-1)(r-e)) (1 - 1/a)^(a-1)/a",
        f"{CKS}, Proposition 12; sharper than {MIRONOV}, Proposition 3",
        printed_delta_of_renyi,
    ),
    Sharper(
        "delta-of-zcdp",
        "zcdp -> differential_privacy_delta",
        "min over a >= 1 of max p - exp(e) q of two coins with D_a <= a rho both ways",
        OURS,
        lambda given: largest_gap_of_all_orders(given.value, given.epsilon_after),
        least=delta_at_least,
    ),
    Rule(
        "delta-of-zcdp (printed)",
        "zcdp -> differential_privacy_delta",
        "min over a > 1 of exp((a-1)(a rho - e)) (1 - 1/a)^(a-1)/a",
        f"{CKS}, Corollary 13; sharper than {BUN}, Proposition 1.3",
        lambda given: gap_of_all_orders_at_one(given.value, given.epsilon_after),
        least=delta_at_least,
    ),
    *(
        Composed(
            f"composition ({name})",
            f"{notion} -> {notion}",
            formula,
            theorem,
            value,
            conditions=ADAPTIVE,
            attained=f"{GAUSSIAN}, T times",
            meets=continuous,
        )
        for name, notion, formula, theorem, value in (
            ("renyi", "renyi_dp", "T r, at no larger order", f"{MIRONOV}, Proposition 1", every_release),
            ("zcdp", "zcdp", "T rho", f"{BUN}, Lemma 1.7", times),
            ("gdp", "gdp", "sqrt(T) mu", f"{DONG}, Corollary 2", root_of_times),
        )
    ),
)

# What stands among the rules of a secret's channel already, between neighbouring datasets.
DATASETS_OF = {rows: datasets for datasets, rows in ROWS_OF.items()}
OF_DATASETS = tuple(
    replace(rule, name=f"{rule.name} (datasets)", way=f"{DATASETS_OF[rule.source]} -> {DATASETS_OF[rule.target]}")
    for rule in (*DOMINATING, OPTIMAL)
)


# From neighbouring datasets to a record: independent of the others, or one of a group.


def of_group(given: Given) -> arb | None:
    """d (e^(m e) - 1)/(e^e - 1) at m e, by a chain of m neighbours; m d at e = 0."""
    m = given.group
    if not given.reaches(m):
        return None
    epsilon = given.epsilon_before
    return given.value * (m if epsilon == 0 else (m * epsilon).expm1() / epsilon.expm1())


RECORDS = "the secret is one record, and the others are independent of it"
GROUPED = "the secret is one record of a group that is independent of all others"
EQUAL = "where the records of the group are equal"
OF_RECORDS = (
    *(
        Rule(
            f"one-record ({notion})",
            f"{notion} -> {ROWS_OF[notion]}",
            number,
            "the record's channel is a mean of those with the others known, alike for all of its values",
            value,
            needs=("independent",),
            conditions=RECORDS,
            attained="any mechanism, where the others are known",
            keeps=True,
        )
        for notion, number, value in (
            ("differential_privacy_delta", "d", lambda given: given.value if given.before == given.after else None),
            ("renyi_dp", "r", lambda given: given.value if given.before == given.after else None),
            ("zcdp", "rho", same),
            ("gdp", "mu", same),
        )
    ),
    Rule(
        "group (bayesian_dp)",
        "differential_privacy -> bayesian_dp",
        "m e, m records a group",
        f"{LANGE}, Theorem 4.3",
        lambda given: given.group * given.value,
        needs=("group",),
        conditions="groups are independent of each other",
        attained=f"randomised response of every record, {EQUAL}",
    ),
    Rule(
        "chain (bayesian_dp)",
        "differential_privacy -> bayesian_dp",
        "e + 4 log R, R the ratio of transition probabilities",
        f"{LANGE}, the bound for Markov chains",
        lambda given: given.value + 4 * given.transition_ratio.log(),
        needs=("transition_ratio",),
        conditions="the records are a Markov chain, each but the first given the one before it with these probabilities",
    ),
    Rule(
        "any-correlation (bayesian_dp)",
        "free_lunch_privacy -> bayesian_dp",
        "e",
        "what is known leaves two means of rows",
        same,
        attained="randomised response of every record, where all records are equal",
    ),
    Rule(
        "nothing-known",
        "bayesian_dp -> local_dp",
        "e, for one record",
        f"{LANGE}, Definition 3.6, of an adversary who knows no other record",
        same,
        conditions="the secret is one record",
        attained="any mechanism, where knowing others tells no more",
        keeps=True,
    ),
    Rule(
        "all-known",
        "bayesian_dp -> differential_privacy",
        "e",
        f"{LANGE}, Definition 3.6, of an adversary who knows all other records",
        same,
        conditions="every dataset has a positive probability",
        attained="any mechanism, where the records are independent",
        keeps=True,
    ),
    Rule(
        "group (delta)",
        "differential_privacy_delta -> local_dp_delta",
        "d (exp(m e) - 1)/(exp e - 1) at m e, m records a group",
        f"{DRV}, Theorem 2.2, with the sum of the series",
        of_group,
        needs=("group",),
        conditions=GROUPED,
    ),
    *(
        Rule(
            f"group ({notion})",
            f"{notion} -> local_{notion}",
            f"{formula}, m records a group",
            theorem,
            value,
            needs=("group",),
            conditions=GROUPED,
            attained=f"{GAUSSIAN} on a sum, {EQUAL}",
            meets=continuous,
        )
        for notion, formula, theorem, value in (
            ("zcdp", "m^2 rho", f"{BUN}, Proposition 1.9", lambda given: given.group**2 * given.value),
            ("gdp", "m mu", f"{DONG}, Theorem 7", lambda given: given.group * given.value),
        )
    ),
)


# From rows to what they tell, and back.


def normal_power(given: Given) -> arb:
    """Phi(Phi^-1(level) + mu)."""
    level = given.epsilon_after
    if level == 0 or level == 1:
        return level
    return normal_tail(-arb(2).sqrt() * (2 * level - 1).erfinv() - given.value)


def power(epsilon: arb, delta: arb, level: arb) -> arb:
    """min(d + e^epsilon level, 1 - e^-epsilon (1 - d - level)), at most 1."""
    return (delta + epsilon.exp() * level).min(1 - (-epsilon).exp() * (1 - delta - level)).min(arb(1))


def normal_bit(given: Given) -> arb | None:
    """Information of normal laws mu apart about a fair bit.

    *Bound because* every channel of two rows that is mu-GDP is that of two such laws, seen through another (Blackwell).
    """
    if given.letters > 2 or given.value == 0:
        return None if given.letters > 2 else arb(0)
    half = exactly((given.value / 2).mid()) if given.value.is_exact() else exactly((given.value / 2).upper())
    return ListedInputs.of([-half, half], [1, 1], 1).mutual_information() if half < 20 else None


def chi_square_of_renyi(given: Given) -> arb | None:
    """(e^r - 1)(1 - 1/k), for an order of at least 2 and k letters; e^r - 1 if they are not known.

    *Bound because* the chi-square of W_x from q is at most the mean of those from the W_x', of which one is 0.
    """
    if not given.epsilon_before >= 2:
        return None
    found = given.value.expm1()
    return found if given.facts.letters is None else found * (1 - arb(1) / given.letters)


def strong_chi_square_of_renyi(given: Given) -> arb | None:
    """(e^r - 1)(1 - p_min)^2, as q - W_x is (1 - p_x) times what the mean of the other rows is from W_x; e^r - 1 without a p_min."""
    rest = 1 if given.facts.p_min is None else 1 - given.p_min
    return given.value.expm1() * rest**2 if given.epsilon_before >= 2 else None


def strong_order_two(given: Given) -> arb | None:
    """log((1 + eta - 3 p^2) / p^2), p = p_min, for orders up to 2.

    *Bound because* q >= p_x W_x + p_x' W_x', so that 1 + eta >= sum q^2/W_x' >= p_x^2 sum W_x^2/W_x' + 2 p_x p_x' + p_x'^2.
    """
    if not given.epsilon_after <= 2:
        return None
    p = given.p_min
    return ((1 + given.value - 3 * p**2) / p**2).log().max(arb(0))


FROM_ROWS = (
    Rule(
        "divergence-of-renyi",
        "local_renyi_dp -> pairwise_divergence",
        "r",
        f"{MIRONOV}, Proposition 9: it is the divergence of order 1",
        same,
    ),
    OfNormal(
        "divergence-of-zcdp",
        "local_zcdp -> pairwise_divergence",
        "rho",
        f"{BUN}, Definition 1.1, as the order falls to 1",
        same,
    ),
    Sharper(
        "delta-of-divergence",
        "pairwise_divergence -> local_dp_delta",
        "max p - exp(e) q of two coins with D <= mu both ways",
        OURS,
        lambda given: largest_gap(arb(1), given.value, given.epsilon_after),
        attained=COINS,
    ),
    OfNormal(
        "binary-gdp-information",
        "local_gdp -> shannon_capacity",
        "what normal laws mu apart tell of a fair bit",
        f"{OURS}; {DONG}, Theorem 2 (Blackwell)",
        normal_bit,
        needs=("letters",),
        conditions="the secret has two values",
        ours=True,
    ),
    Sharper(
        "chi-square-of-renyi",
        "local_renyi_dp -> chi_square",
        "(exp r - 1)(1 - 1/k) of an order of at least 2, k letters",
        OURS,
        chi_square_of_renyi,
        conditions="the order is at least 2",
    ),
    Sharper(
        "strong-chi-square-of-renyi",
        "local_renyi_dp -> strong_chi_square",
        "exp r - 1, with p_min (exp r - 1)(1 - p_min)^2, of an order of at least 2",
        OURS,
        strong_chi_square_of_renyi,
        conditions="the order is at least 2",
        attained="any channel of two values whose divergence of order 2 is r",
        meets=lambda given: given.before == Epsilon(Fraction(2)),
    ),
    Sharper(
        "renyi-of-strong-chi-square",
        "strong_chi_square -> local_renyi_dp",
        "log((1 + eta - 3 p^2)/p^2) at orders up to 2, p = p_min",
        OURS,
        strong_order_two,
        needs=("p_min",),
        conditions="the order is at most 2",
    ),
    Rule(
        "power-of-pure",
        "local_dp -> true_positive_rate",
        "min(exp(e) f, 1 - exp(-e)(1 - f)), f the rate of false positives",
        "Wasserman, Zhou, A statistical framework for differential privacy, Theorem 2.4",
        lambda given: power(given.value, arb(0), given.epsilon_after),
        attained=RESPONSE,
    ),
    Rule(
        "power-of-delta",
        "local_dp_delta -> true_positive_rate",
        "min(d + exp(e) f, 1 - exp(-e)(1 - d - f)), f the rate of false positives",
        f"{KOV}, Theorem 2.1",
        lambda given: power(given.epsilon_before, given.value, given.epsilon_after),
        attained="randomised response that tells the secret with probability d",
    ),
    OfNormal(
        "power-of-gdp",
        "local_gdp -> true_positive_rate",
        "Phi(Phi^-1(f) + mu), f the rate of false positives",
        f"{DONG}, Definition 3",
        normal_power,
    ),
)

RULES = (*PAIRS, *map(of_rows, PAIRS), *OF_DATASETS, *OF_RECORDS, *FROM_ROWS)
