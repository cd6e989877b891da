"""From what engineers hold: Rényi, zero-concentrated, Gaussian differential privacy; Bayesian, of records that depend on each other.

What follows from how two laws differ follows between neighbouring datasets and between any two rows of a secret's channel alike.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb

from dalenius.conversions.gaussian.inputs import ListedInputs, gaussian_delta, normal_tail
from dalenius.conversions.numbers import Epsilon
from dalenius.conversions.pairs import gap_at_one, gap_of_all_orders_at_one, largest_gap, largest_gap_of_all_orders
from dalenius.conversions.rule import Composed, Given, Rule, Rules, same
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


def every_release(given: Given) -> arb | None:
    """T r, for an order that is not above that of the guarantee."""
    return None if largest_order(given) is None else times(given)


def root_of_times(given: Given) -> arb:
    """sqrt(T) mu."""
    return arb(given.facts.releases).sqrt() * given.value


def delta_at_least(given: Given) -> arb:
    """Delta of Gaussian noise with this rho, which is allowed."""
    return delta_of_gaussian(replace(given, value=(2 * given.value).sqrt()))


def continuous(given: Given) -> bool:
    """True if an output may be any number."""
    return given.facts.outputs is None


GAUSSIAN = "Gaussian noise"
PAIRS = Rules()


@PAIRS("renyi-of-pure", "differential_privacy -> renyi_dp")
def renyi_of_response(given: Given) -> arb:
    """log((exp(a e) + exp((1-a) e))/(1 + exp e))/(a-1)

    Source: MIRONOV, Proposition 10; KOV, Theorem 2.1
    Attained by: binary randomised response

    Randomised response dominates every such pair of laws.

    As e + log((1 + e^((1-2a) e)) / (1 + e^-e)) / (a-1), where nothing is large.
    """
    a, epsilon = given.epsilon_after, given.value
    rest = (1 + ((1 - 2 * a) * epsilon).exp()) / (1 + (-epsilon).exp())
    return epsilon + rest.log() / (a - 1)


@PAIRS("zcdp-of-pure", "differential_privacy -> zcdp", ours=True)
def zcdp_of_response(given: Given) -> arb:
    """e tanh(e/2)

    Source: ours, by the inequality of Kearns and Saul
    Attained by: binary randomised response

    *Bound because* by the inequality of Kearns and Saul the loss of randomised response, e or -e, has a logarithm of
    E exp(s (loss - mean)) of at most s^2 e tanh(e/2), and its mean is e tanh(e/2): so D_a <= a e tanh(e/2), with equality as a falls
    to 1.
    """
    return given.value * (given.value / 2).tanh()


@PAIRS("zcdp-of-pure (printed)", "differential_privacy -> zcdp")
def zcdp_of_pure_printed(given: Given) -> arb:
    """e^2/2

    Source: BUN, Proposition 1.4
    """
    return given.value**2 / 2


@PAIRS("gdp-of-pure", "differential_privacy -> gdp")
def gdp_of_response(given: Given) -> arb:
    """2 Phi^-1(1/(1 + exp(-e)))

    Source: DONG, after Proposition 3
    Attained by: binary randomised response

    The trade-off function of e consists of two chords of this one.

    Where digits end, sqrt(8 log((1 + e^e)/2)), as Phi(-t) <= exp(-t^2/2)/2.
    """
    found = 2 * arb(2).sqrt() * (given.value / 2).tanh().erfinv()
    return found if found.is_finite() else (8 * (given.value + (((-given.value).exp() + 1) / 2).log())).sqrt()


@PAIRS("renyi-orders", "renyi_dp -> renyi_dp")
def largest_order(given: Given) -> arb | None:
    """r, at no larger order

    Source: MIRONOV, Proposition 9
    """
    return given.value if given.before.at_least(given.after) else None


@PAIRS("renyi-of-zcdp", "zcdp -> renyi_dp", meets=continuous)
def renyi_of_zcdp(given: Given) -> arb:
    """a rho

    Source: BUN, Definition 1.1
    Attained by: Gaussian noise
    """
    return given.epsilon_after * given.value


@PAIRS("zcdp-of-gdp", "gdp -> zcdp", meets=continuous)
def zcdp_of_gdp(given: Given) -> arb:
    """mu^2/2

    Source: DONG, Corollary B.6; BUN, Proposition 1.6
    Attained by: Gaussian noise
    """
    return given.value**2 / 2


@PAIRS("delta-of-gdp", "gdp -> differential_privacy_delta", meets=continuous)
def delta_of_gaussian(given: Given) -> arb:
    """Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)

    Source: DONG, Corollary 1; Balle, Wang, Improving the Gaussian mechanism, Theorem 5
    Attained by: Gaussian noise
    """
    return gaussian_delta(given.value, given.epsilon_after) if given.value > 0 else arb(0)


@PAIRS("delta-of-renyi", "renyi_dp -> differential_privacy_delta", ours=True)
def delta_of_renyi(given: Given) -> arb:
    """max p - exp(e) q of two coins with D_a <= r both ways

    Source: ours; Asoodeh et al., Three variants of differential privacy, Theorem 3, has one way
    Attained by: a channel of two inputs and two outputs
    """
    return largest_gap(given.epsilon_before, given.value, given.epsilon_after)


@PAIRS("delta-of-renyi (printed)", "renyi_dp -> differential_privacy_delta")
def printed_delta_of_renyi(given: Given) -> arb:
    """exp((a-1)(r-e)) (1 - 1/a)^(a-1)/a

    Source: CKS, Proposition 12; sharper than MIRONOV, Proposition 3
    """
    return gap_at_one(given.epsilon_before, given.value, given.epsilon_after)


@PAIRS("delta-of-zcdp", "zcdp -> differential_privacy_delta", ours=True, least=delta_at_least)
def delta_of_zcdp(given: Given) -> arb:
    """min over a >= 1 of max p - exp(e) q of two coins with D_a <= a rho both ways

    Source: ours
    """
    return largest_gap_of_all_orders(given.value, given.epsilon_after)


@PAIRS("delta-of-zcdp (printed)", "zcdp -> differential_privacy_delta", least=delta_at_least)
def delta_of_zcdp_printed(given: Given) -> arb:
    """min over a > 1 of exp((a-1)(a rho - e)) (1 - 1/a)^(a-1)/a

    Source: CKS, Corollary 13; sharper than BUN, Proposition 1.3
    """
    return gap_of_all_orders_at_one(given.value, given.epsilon_after)


PAIRS.extend(
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
        ("renyi", "renyi_dp", "T r, at no larger order", "MIRONOV, Proposition 1", every_release),
        ("zcdp", "zcdp", "T rho", "BUN, Lemma 1.7", times),
        ("gdp", "gdp", "sqrt(T) mu", "DONG, Corollary 2", root_of_times),
    )
)

# What stands among the rules of a secret's channel already, between neighbouring datasets.
DATASETS_OF = {rows: datasets for datasets, rows in ROWS_OF.items()}
OF_DATASETS = tuple(
    replace(rule, name=f"{rule.name} (datasets)", way=f"{DATASETS_OF[rule.source]} -> {DATASETS_OF[rule.target]}")
    for rule in (*DOMINATING, OPTIMAL)
)


# From neighbouring datasets to a record: independent of the others, or one of a group.


RECORDS = "the secret is one record, and the others are independent of it"
GROUPED = "the secret is one record of a group that is independent of all others"
EQUAL = "where the records of the group are equal"
OF_RECORDS = Rules()
OF_RECORDS.extend(
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
)


@OF_RECORDS("group (bayesian_dp)", "differential_privacy -> bayesian_dp", needs="group")
def group_bayesian_dp(given: Given) -> arb:
    """m e, m records a group

    Source: LANGE, Theorem 4.3
    If: groups are independent of each other
    Attained by: randomised response of every record, where the records of the group are equal
    """
    return given.group * given.value


@OF_RECORDS("chain (bayesian_dp)", "differential_privacy -> bayesian_dp", needs="transition_ratio")
def chain_bayesian_dp(given: Given) -> arb:
    """e + 4 log R, R the ratio of transition probabilities

    Source: LANGE, the bound for Markov chains
    If: the records are a Markov chain, each but the first given the one before it with these probabilities
    """
    return given.value + 4 * given.transition_ratio.log()


@OF_RECORDS("any-correlation (bayesian_dp)", "free_lunch_privacy -> bayesian_dp")
def any_correlation_bayesian_dp(given: Given) -> arb:
    """e

    Source: what is known leaves two means of rows
    Attained by: randomised response of every record, where all records are equal
    """
    return given.value


@OF_RECORDS("nothing-known", "bayesian_dp -> local_dp", keeps=True)
def nothing_known(given: Given) -> arb:
    """e, for one record

    Source: LANGE, Definition 3.6, of an adversary who knows no other record
    If: the secret is one record
    Attained by: any mechanism, where knowing others tells no more
    """
    return given.value


@OF_RECORDS("all-known", "bayesian_dp -> differential_privacy", keeps=True)
def all_known(given: Given) -> arb:
    """e

    Source: LANGE, Definition 3.6, of an adversary who knows all other records
    If: every dataset has a positive probability
    Attained by: any mechanism, where the records are independent
    """
    return given.value


@OF_RECORDS("group (delta)", "differential_privacy_delta -> local_dp_delta", needs="group")
def of_group(given: Given) -> arb | None:
    """d (exp(m e) - 1)/(exp e - 1) at m e, m records a group

    Source: DRV, Theorem 2.2, with the sum of the series
    If: the secret is one record of a group that is independent of all others

    By a chain of m neighbours; m d at e = 0.
    """
    m = given.group
    if not given.reaches(m):
        return None
    epsilon = given.epsilon_before
    return given.value * (m if epsilon == 0 else (m * epsilon).expm1() / epsilon.expm1())


OF_RECORDS.extend(
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
        ("zcdp", "m^2 rho", "BUN, Proposition 1.9", lambda given: given.group**2 * given.value),
        ("gdp", "m mu", "DONG, Theorem 7", lambda given: given.group * given.value),
    )
)


# From rows to what they tell, and back.


def power(epsilon: arb, delta: arb, level: arb) -> arb:
    """min(d + e^epsilon level, 1 - e^-epsilon (1 - d - level)), at most 1."""
    return (delta + epsilon.exp() * level).min(1 - (-epsilon).exp() * (1 - delta - level)).min(arb(1))


FROM_ROWS = Rules()


@FROM_ROWS("divergence-of-renyi", "local_renyi_dp -> pairwise_divergence")
def divergence_of_renyi(given: Given) -> arb:
    """r

    Source: MIRONOV, Proposition 9: it is the divergence of order 1
    """
    return given.value


@FROM_ROWS("divergence-of-zcdp", "local_zcdp -> pairwise_divergence", meets=continuous)
def divergence_of_zcdp(given: Given) -> arb:
    """rho

    Source: BUN, Definition 1.1, as the order falls to 1
    Attained by: Gaussian noise
    """
    return given.value


@FROM_ROWS("delta-of-divergence", "pairwise_divergence -> local_dp_delta", ours=True)
def delta_of_divergence(given: Given) -> arb:
    """max p - exp(e) q of two coins with D <= mu both ways

    Source: ours
    Attained by: a channel of two inputs and two outputs
    """
    return largest_gap(arb(1), given.value, given.epsilon_after)


@FROM_ROWS("binary-gdp-information", "local_gdp -> shannon_capacity", needs="letters", meets=continuous, ours=True)
def normal_bit(given: Given) -> arb | None:
    """what normal laws mu apart tell of a fair bit

    Source: ours; DONG, Theorem 2 (Blackwell)
    If: the secret has two values
    Attained by: Gaussian noise

    *Bound because* every channel of two rows that is mu-GDP is that of two such laws, seen through another (Blackwell).
    """
    if given.letters > 2 or given.value == 0:
        return None if given.letters > 2 else arb(0)
    half = exactly((given.value / 2).mid()) if given.value.is_exact() else exactly((given.value / 2).upper())
    return ListedInputs.of([-half, half], [1, 1], 1).mutual_information() if half < 20 else None


@FROM_ROWS("chi-square-of-renyi", "local_renyi_dp -> chi_square", ours=True)
def chi_square_of_renyi(given: Given) -> arb | None:
    """(exp r - 1)(1 - 1/k) of an order of at least 2, k letters

    Source: ours
    If: the order is at least 2

    It is e^r - 1 where the letters are not known.

    *Bound because* the chi-square of W_x from q is at most the mean of those from the W_x', of which one is 0.
    """
    if not given.epsilon_before >= 2:
        return None
    found = given.value.expm1()
    return found if given.facts.letters is None else found * (1 - arb(1) / given.letters)


@FROM_ROWS(
    "strong-chi-square-of-renyi",
    "local_renyi_dp -> strong_chi_square",
    meets=lambda given: given.before == Epsilon(Fraction(2)),
    ours=True,
)
def strong_chi_square_of_renyi(given: Given) -> arb | None:
    """exp r - 1, with p_min (exp r - 1)(1 - p_min)^2, of an order of at least 2

    Source: ours
    If: the order is at least 2
    Attained by: any channel of two values whose divergence of order 2 is r

    Without a p_min it is e^r - 1; q - W_x is (1 - p_x) times what the mean of the other rows is from W_x.
    """
    rest = 1 if given.facts.p_min is None else 1 - given.p_min
    return given.value.expm1() * rest**2 if given.epsilon_before >= 2 else None


@FROM_ROWS("renyi-of-strong-chi-square", "strong_chi_square -> local_renyi_dp", needs="p_min", ours=True)
def strong_order_two(given: Given) -> arb | None:
    """log((1 + eta - 3 p^2)/p^2) at orders up to 2, p = p_min

    Source: ours
    If: the order is at most 2

    *Bound because* q >= p_x W_x + p_x' W_x', so that 1 + eta >= sum q^2/W_x' >= p_x^2 sum W_x^2/W_x' + 2 p_x p_x' + p_x'^2.
    """
    if not given.epsilon_after <= 2:
        return None
    p = given.p_min
    return ((1 + given.value - 3 * p**2) / p**2).log().max(arb(0))


@FROM_ROWS("power-of-pure", "local_dp -> true_positive_rate")
def power_of_pure(given: Given) -> arb:
    """min(exp(e) f, 1 - exp(-e)(1 - f)), f the rate of false positives

    Source: Wasserman, Zhou, A statistical framework for differential privacy, Theorem 2.4
    Attained by: binary randomised response
    """
    return power(given.value, arb(0), given.epsilon_after)


@FROM_ROWS("power-of-delta", "local_dp_delta -> true_positive_rate")
def power_of_delta(given: Given) -> arb:
    """min(d + exp(e) f, 1 - exp(-e)(1 - d - f)), f the rate of false positives

    Source: KOV, Theorem 2.1
    Attained by: randomised response that tells the secret with probability d
    """
    return power(given.epsilon_before, given.value, given.epsilon_after)


@FROM_ROWS("power-of-gdp", "local_gdp -> true_positive_rate", meets=continuous)
def normal_power(given: Given) -> arb:
    """Phi(Phi^-1(f) + mu), f the rate of false positives

    Source: DONG, Definition 3
    Attained by: Gaussian noise
    """
    level = given.epsilon_after
    if level == 0 or level == 1:
        return level
    return normal_tail(-arb(2).sqrt() * (2 * level - 1).erfinv() - given.value)


def _known_test(given: Given) -> tuple[arb, arb] | None:
    """A rate f of false positives with the most true ones t, f + t at most 1; None where it says nothing of other tests.

    As both orders of two values are tested, 1 - t and 1 - f are such a pair if f and t are.
    """
    false, true = given.epsilon_before, given.value.max(given.epsilon_before)
    return (false.min(1 - true), true.min(1 - false)) if false > 0 and true < 1 else None


@FROM_ROWS("power-of-power", "true_positive_rate -> true_positive_rate", ours=True)
def power_of_power(given: Given) -> arb | None:
    """min(max(t g/f, 1 - (1-t)(1-g)/(1-f)), max(g (1-f)/(1-t), 1 - f (1-g)/t)), t at f, g the rate asked for

    Source: ours; Neyman, Pearson: the true positives are concave in the false ones
    Attained by: a channel of two inputs and two outputs

    *Bound because* the true positives of two values are concave, at least 0 at 0, and 1 at 1: were more allowed at g, the chord from
    there to 0 or 1 would be above t at f; and 1 - t false positives with 1 - f true ones are such a test of the other order.
    """
    known = _known_test(given)
    if known is None:
        return None
    level = given.epsilon_after
    return arb(1).min(_through(*known, level)).min(_through(1 - known[1], 1 - known[0], level))


def _through(false: arb, true: arb, level: arb) -> arb:
    """The larger of the lines from (0, 0) and from (1, 1) through a point, at this level."""
    return (true * level / false).max(1 - (1 - true) * (1 - level) / (1 - false))


@FROM_ROWS("delta-of-power", "true_positive_rate -> local_dp_delta", ours=True)
def delta_of_power(given: Given) -> arb | None:
    """max((t-f)/(1-f), (t - f exp e)/(t+f)), t at f; of 1-t and 1-f where t + f > 1

    Source: ours
    Attained by: a channel of two inputs and two outputs

    *Bound because* delta is the most true positives less e^epsilon times the false ones g, where at most those of `power_of_power` are
    true: piecewise linear in g, with corners at 0, at f/(t+f), and where all are true, which is never better than at 0.
    """
    known = _known_test(given)
    if known is None:
        return None
    false, true = known
    return ((true - false) / (1 - false)).max((true - given.epsilon_after.exp() * false) / (true + false))


RULES = (*PAIRS, *map(of_rows, PAIRS), *OF_DATASETS, *OF_RECORDS, *FROM_ROWS)
