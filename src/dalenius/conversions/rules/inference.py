"""Rules about inference: guesses, estimates, the min-entropy of attributes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dalenius.conversions.numbers import positive
from dalenius.conversions.rule import Given, Rules, any_alphabets
from dalenius.conversions.rules.distances import cauchy_schwarz

# What a distance leaves to the best guess of the secret.


def fair(given: Given) -> bool:
    """True if two values may be equally likely, and the number is at most what a bit may have; or nothing bounds their number."""
    bit = (given.facts.p_max is None or given.facts.p_max * 2 >= 1) and bool(given.value <= 1)
    return bit or (any_alphabets(given) and given.facts.p_max is None)


def likely_values(given: Given) -> bool:
    """True if there can be as many values of probability p_max, and as many outputs, as the leakage asks for."""
    most = int(1 / (given.facts.p_max or 1))
    size = min(most, given.facts.outputs or most)
    return given.facts.p_min is None and bool(given.value.exp() <= size)


def even_values(given: Given) -> bool:
    """True if p_max is that of so many values that are equally likely, and there can be an output for each."""
    number = 1 / (given.facts.p_max or Fraction(1))
    few = given.facts.outputs is not None and given.facts.outputs < number
    return number.denominator == 1 and given.facts.p_min is None and not few


PLAIN, STRONG = "information_privacy_delta", "strong_information_privacy_delta"


# What is left of the min-entropy of attributes after any output.


def _before(given: Given) -> arb:
    """The attribute's min-entropy before the release."""
    return -given.attribute_max.log()


RULES = Rules()


@RULES("CONV-17", "total_variation -> bayes_advantage", meets=fair, ours=True)
def conv_17(given: Given) -> arb:
    """TV/2

    Source: ours; FDIV, section V, has the two uniform values
    Attained by: randomised response under the uniform prior, of two values up to a distance of 1
    """
    return given.value / 2


@RULES(
    "CONV-17 (chi-square)",
    "chi_square -> bayes_advantage",
    meets=lambda given: fair(given) and bool(given.value <= 1),
    ours=True,
)
def conv_17_chi_square(given: Given) -> arb:
    """sqrt(eta)/2, from eta = 1 on eta/(1 + eta)

    Source: ours; FDIV, section V, has the two uniform values
    Attained by: binary randomised response under the uniform prior

    Half of the distance that goes with it: of two uniform values the success (1 + sqrt eta)/2.
    """
    return cauchy_schwarz(given) / 2


@RULES(
    "advantage-of-rows",
    "local_dp_delta -> bayes_advantage",
    needs="letters",
    meets=lambda given: given.facts.outputs is None or given.facts.outputs >= given.letters,
    ours=True,
)
def of_rows(given: Given) -> arb | None:
    """(1 - 1/k) d, k letters

    Source: ours
    If: epsilon is 0
    Attained by: an output of its own, of probability d, for each value but one, under the uniform prior

    At epsilon 0, where d is how far the rows of two values are apart at most.

    *Bound because* with the likeliest value z the advantage is sum_y max_x (P(x) W(x,y) - P(z) W(z,y)), at most
    sum over x != z of P(x) sum_y (W(x,y) - W(z,y))_+ as P(x) <= P(z), and so at most (1 - P(z)) d; and P(z) >= 1/k.
    """
    return None if given.epsilon_before != 0 else (1 - 1 / arb(given.letters)) * given.value


@RULES("success", "bayes_advantage -> guessing_success", needs="p_max", keeps=True)
def success(given: Given) -> arb:
    """p_max + advantage

    Source: by definition
    Attained by: every mechanism
    """
    return given.p_max + given.value


def any_outputs(given: Given) -> bool:
    """True if there can be an output for every set of values."""
    return given.facts.outputs is None


@RULES("advantage-of-success", "guessing_success -> bayes_advantage", meets=any_outputs, ours=True)
def advantage_of_success(given: Given) -> arb:
    """success, with k letters success - 1/k

    Source: by definition; the likeliest of k values has probability 1/k at least
    Attained by: telling a uniform secret with some probability, in the limit of many letters where their number is not known
    """
    return given.value if given.facts.letters is None else given.value - 1 / arb(given.letters)


def whole_share(given: Given) -> bool:
    """True if all values may have probability p_min, and any outputs."""
    share = given.facts.p_min
    return any_outputs(given) and share is not None and share * (given.facts.letters or share.denominator) == 1


def _of_uniform(given: Given, of: Callable[[int], arb]) -> arb:
    """The chord of (1/j, of(j)) and (1/(j+1), of(j+1)) at this success, j near to 1/success.

    Where `of` grows and the points are convex, it is at most the convex function through all of them, whatever j is.
    """
    j = max(int((1 / given.value).mid().floor().unique_fmpz() or 1), 1)
    return of(j) + (1 - j * given.value) * (j + 1) * (of(j + 1) - of(j))


@RULES(
    "information-of-success", "guessing_success -> mutual_information", needs="letters", meets=any_outputs, ours=True
)
def information_of_success(given: Given) -> arb:
    """log k less the chord of (1/j, log j) and (1/(j+1), log (j+1)) at the success, k letters

    Source: ours, by Feder, Merhav, Relations between entropy and error probability, Theorem 1
    Attained by: a random subset of j or j+1 values, the secret among them, which is uniform

    *Bound because* no law whose largest entry is m has less entropy than that with as many entries m as there can be, and a rest:
    between m = 1/(j+1) and 1/j it is concave in m, and so not below the chord; the chords are convex, the mean of m is the success.
    """
    return arb(given.letters).log() - _of_uniform(given, lambda j: arb(j).log())


@RULES("distance-of-success", "guessing_success -> total_variation", needs="p_min", meets=whole_share, ours=True)
def distance_of_success(given: Given) -> arb:
    """2 - 2 p_min (2j + 1 - j (j+1) success), 1/(j+1) <= success <= 1/j

    Source: ours
    Attained by: a random subset of j or j+1 values, the secret among them, which is uniform

    *Bound because* half the distance of a posterior r from the prior is 1 less sum min(r, prior) >= sum min(r, p_min), which is
    concave in r, and so least at j entries m, the largest, and a rest: there j p_min + min(1 - j m, p_min), which is concave in m
    and not below the chord from (j+1) p_min at m = 1/(j+1) to j p_min at 1/j; the chords are convex, the mean of m is the success.
    """
    return 2 - 2 * given.p_min * _of_uniform(given, arb)


@RULES("leakage-of-a-guess", "maximal_leakage -> bayes_advantage", needs="p_max", meets=likely_values)
def leakage_of_a_guess(given: Given) -> arb:
    """(exp L - 1) p_max

    Source: Issa, Wagner, Kamath, An operational approach to information leakage, Theorem 1
    Attained by: randomised response between values of probability p_max, other values told apart from none
    """
    return (given.value.exp() - 1) * given.p_max


@RULES("leakage-of-any-guess", "maximal_leakage -> bayes_advantage", ours=True)
def leakage_of_any_guess(given: Given) -> arb:
    """1 - exp(-L)

    Source: ours; Issa, Wagner, Kamath, Theorem 1, where the likeliest value is the worst

    *Bound because* with p the likeliest value's probability the advantage is at most min(1 - p, p (exp L - 1)), which grows up to
    p = exp(-L) and falls from there on.
    """
    return 1 - (-given.value).exp()


def _likeliest(most: arb, given: Given) -> arb:
    """The most that a value of this probability has after any output."""
    return most / (most + (1 - most) * (-given.value).exp())


@RULES("guess-of-ratios", "local_dp -> guessing_success", needs="p_max", meets=even_values, ours=True)
def guess_of_ratios(given: Given) -> arb:
    """m/(m + (1-m) exp(-C)), m = p_max

    Source: ours; SAEIDIAN, Theorem 3.7, of the secret itself
    Attained by: randomised response of 1/p_max values under the uniform prior

    *Bound because* P(y | not x) >= e^-C P(y | x), so that P(x | y) is at most this for every value x and every output.
    """
    return _likeliest(given.p_max, given)


@RULES("advantage-of-ratios", "local_dp -> bayes_advantage", ours=True)
def advantage_of_ratios(given: Given) -> arb:
    """tanh(C/4), or m/(m + (1-m) exp(-C)) - m where m = p_max is less than 1/(1 + exp(C/2))

    Source: ours

    *Bound because* with p the probability of the likeliest value the success is at most p/(p + (1-p) e^-C) (`guess_of_ratios`), which
    exceeds p by most at p = 1/(1 + e^(C/2)), by tanh(C/4), and by less the smaller p is.
    """
    if given.facts.p_max is not None and given.p_max < 1 / (1 + (given.value / 2).exp()):
        return _likeliest(given.p_max, given) - given.p_max
    return (given.value / 4).tanh()


@RULES("CONV-12 (detection)", f"{PLAIN} -> guessing_success", needs="p_max")
def conv_12_detection(given: Given) -> arb:
    """d + exp(e) p_max

    Source: FDIV, Lemma 2
    """
    return given.value + given.epsilon_before.exp() * given.p_max


@RULES("CONV-12 (strong detection)", f"{STRONG} -> guessing_success", needs="p_max", ours=True)
def strong_detection(given: Given) -> arb:
    """(1-d) exp(e) p_max + d

    Source: ours; sharpens Lemma 2 of FDIV
    """
    share = (given.epsilon_before.exp() * given.p_max).min(arb(1))
    return (1 - given.value) * share + given.value


@RULES("CONV-12 (strong estimation)", f"{STRONG} -> estimation_error", ours=True)
def strong_estimation(given: Given) -> arb:
    """(1-d) exp(-e)

    Source: ours; sharpens Lemma 3 of FDIV, whose proof has an error (E3-5)

    *Bound because* given an output with every lift at least e^-epsilon the variance of S is at least e^-epsilon times what it was. For
    plain information privacy this fails without the regularity (11) of the paper: a rare value that is always told leaves no error.
    """
    return positive(1 - given.value) * (-given.epsilon_before).exp()


@RULES("estimation-of-lifts", "information_privacy -> estimation_error", ours=True)
def estimation_of_lifts(given: Given) -> arb:
    """exp(-e)

    Source: ours; the strong form without a delta
    """
    return (-given.value).exp()


@RULES("CONV-13", "pointwise_maximal_leakage -> posterior_min_entropy", needs="attribute_max")
def one_attribute(given: Given) -> arb | None:
    """H - e, H = -log attribute_max

    Source: SAEIDIAN, Theorem 3.5, (A.2); with the secret itself as the attribute Cor. 3.10
    If: the adversary's prior is the guarantee's; H > e: never disclosed
    Attained by: a rare output with lift exp e for one value of the attribute

    It is 0 if the leakage is larger.
    """
    if given.facts.prior_ratio is not None:
        return None
    return positive(_before(given) - given.value)


@RULES("CONV-14", "local_dp -> posterior_min_entropy", needs="p_min")
def conv_14(given: Given) -> arb:
    """log(1 + q/(1-q) exp(-C)), q = p_min

    Source: SAEIDIAN, Theorem 3.7: every function of the secret that is not constant, every adversary with this p_min
    Attained by: randomised response and the attribute 'X is the value of probability p_min'
    """
    return (1 + given.p_min / (1 - given.p_min) * (-given.value).exp()).log()


@RULES("local-dp-attribute", "local_dp -> posterior_min_entropy", needs="attribute_max", ours=True)
def likely_attribute(given: Given) -> arb | None:
    """log(1 + (1-m)/m exp(-C)), m = attribute_max

    Source: ours; SAEIDIAN, Theorem 3.7, of an attribute no value of which is likely before
    If: the adversary's prior is the one that attribute_max is about
    Attained by: randomised response about an attribute with a value of probability m

    *Bound because* under C-local differential privacy P(y | not u) >= e^-C P(y | u) for every value u of the attribute, both being
    means of P(y | x); so P(u | y) <= p / (p + (1-p) e^-C), p = P(u), which grows with p, and p <= m.
    """
    if given.facts.prior_ratio is not None:
        return None
    most = given.attribute_max
    return (1 + (1 - most) / most * (-given.value).exp()).log()


@RULES("CONV-15", "pointwise_maximal_leakage -> posterior_min_entropy", needs="attribute_max prior_ratio", ours=True)
def other_prior(given: Given) -> arb:
    """-log(1 - ratio (1 - exp(-(H-e))))

    Source: ours; quantifies SAEIDIAN, Theorem 3.4
    If: the adversary has another prior
    """
    left = positive(_before(given) - given.value)
    return positive(-(1 - given.prior_ratio * (1 - (-left).exp())).log())
