"""Rules about inference: guesses, estimates, the min-entropy of attributes."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.numbers import positive
from dalenius.conversions.rule import FDIV, OURS, SAEIDIAN, Given, Rule, Sharper, any_alphabets
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


def of_rows(given: Given) -> arb | None:
    """(1 - 1/k) d at epsilon 0, where d is how far the rows of two values are apart at most, of k values.

    *Bound because* with the likeliest value z the advantage is sum_y max_x (P(x) W(x,y) - P(z) W(z,y)), at most
    sum over x != z of P(x) sum_y (W(x,y) - W(z,y))_+ as P(x) <= P(z), and so at most (1 - P(z)) d; and P(z) >= 1/k.
    """
    return None if given.epsilon_before != 0 else (1 - 1 / arb(given.letters)) * given.value


# What likely lifts within a band leave to guesses and estimates.


def strong_detection(given: Given) -> arb:
    """(1-delta) e^epsilon p_max + delta."""
    share = (given.epsilon_before.exp() * given.p_max).min(arb(1))
    return (1 - given.value) * share + given.value


def strong_estimation(given: Given) -> arb:
    """(1-delta) e^-epsilon.

    *Bound because* given an output with every lift at least e^-epsilon the variance of S is at least e^-epsilon times what it was. For
    plain information privacy this fails without the regularity (11) of the paper: a rare value that is always told leaves no error.
    """
    return positive(1 - given.value) * (-given.epsilon_before).exp()


PLAIN, STRONG = "information_privacy_delta", "strong_information_privacy_delta"


# What is left of the min-entropy of attributes after any output.


def _before(given: Given) -> arb:
    """The attribute's min-entropy before the release."""
    return -given.attribute_max.log()


def one_attribute(given: Given) -> arb | None:
    """H - epsilon; 0 if the leakage is larger."""
    if given.facts.prior_ratio is not None:
        return None
    return positive(_before(given) - given.value)


def other_prior(given: Given) -> arb:
    """-log(1 - ratio (1 - e^-(H-epsilon))), for an adversary whose prior is another one."""
    left = positive(_before(given) - given.value)
    return positive(-(1 - given.prior_ratio * (1 - (-left).exp())).log())


def likely_attribute(given: Given) -> arb | None:
    """Log(1 + (1-m)/m e^-C), m the largest probability of a value of the attribute.

    *Bound because* under C-local differential privacy P(y | not u) >= e^-C P(y | u) for every value u of the attribute, both being
    means of P(y | x); so P(u | y) <= p / (p + (1-p) e^-C), p = P(u), which grows with p, and p <= m.
    """
    if given.facts.prior_ratio is not None:
        return None
    most = given.attribute_max
    return (1 + (1 - most) / most * (-given.value).exp()).log()


RULES = (
    Sharper(
        "CONV-17",
        "total_variation -> bayes_advantage",
        "TV/2",
        f"{OURS}; {FDIV}, section V, has the two uniform values",
        lambda given: given.value / 2,
        attained="randomised response under the uniform prior, of two values up to a distance of 1",
        meets=fair,
    ),
    Sharper(
        "CONV-17 (chi-square)",
        "chi_square -> bayes_advantage",
        "sqrt(eta)/2, from eta = 1 on eta/(1 + eta)",
        f"{OURS}; {FDIV}, section V, has the two uniform values",
        # Half of the distance that goes with it: of two uniform values the success (1 + sqrt eta)/2.
        lambda given: cauchy_schwarz(given) / 2,
        attained="binary randomised response under the uniform prior",
        meets=lambda given: fair(given) and bool(given.value <= 1),
    ),
    Sharper(
        "advantage-of-rows",
        "local_dp_delta -> bayes_advantage",
        "(1 - 1/k) d, k letters",
        OURS,
        of_rows,
        needs=("letters",),
        conditions="epsilon is 0",
        attained="an output of its own, of probability d, for each value but one, under the uniform prior",
        meets=lambda given: given.facts.outputs is None or given.facts.outputs >= given.letters,
    ),
    Rule(
        "success",
        "bayes_advantage -> guessing_success",
        "p_max + advantage",
        "by definition",
        lambda given: given.p_max + given.value,
        needs=("p_max",),
        attained="every mechanism",
        keeps=True,
    ),
    Rule(
        "leakage-of-a-guess",
        "maximal_leakage -> bayes_advantage",
        "(exp L - 1) p_max",
        "Issa, Wagner, Kamath, An operational approach to information leakage, Theorem 1",
        lambda given: (given.value.exp() - 1) * given.p_max,
        needs=("p_max",),
        attained="randomised response between values of probability p_max, other values told apart from none",
        meets=likely_values,
    ),
    Rule(
        "CONV-12 (detection)",
        f"{PLAIN} -> guessing_success",
        "d + exp(e) p_max",
        f"{FDIV}, Lemma 2",
        lambda given: given.value + given.epsilon_before.exp() * given.p_max,
        needs=("p_max",),
    ),
    Sharper(
        "CONV-12 (strong detection)",
        f"{STRONG} -> guessing_success",
        "(1-d) exp(e) p_max + d",
        f"{OURS}; sharpens Lemma 2 of {FDIV}",
        strong_detection,
        needs=("p_max",),
    ),
    Sharper(
        "CONV-12 (strong estimation)",
        f"{STRONG} -> estimation_error",
        "(1-d) exp(-e)",
        f"{OURS}; sharpens Lemma 3 of {FDIV}, whose proof has an error (E3-5)",
        strong_estimation,
    ),
    Sharper(
        "estimation-of-lifts",
        "information_privacy -> estimation_error",
        "exp(-e)",
        f"{OURS}; the strong form without a delta",
        lambda given: (-given.value).exp(),
    ),
    Rule(
        "CONV-13",
        "pointwise_maximal_leakage -> posterior_min_entropy",
        "H - e, H = -log attribute_max",
        f"{SAEIDIAN}, Theorem 3.5, (A.2); with the secret itself as the attribute Cor. 3.10",
        one_attribute,
        needs=("attribute_max",),
        conditions="the adversary's prior is the guarantee's; H > e: never disclosed",
        attained="a rare output with lift exp e for one value of the attribute",
    ),
    Rule(
        "CONV-14",
        "local_dp -> posterior_min_entropy",
        "log(1 + q/(1-q) exp(-C)), q = p_min",
        f"{SAEIDIAN}, Theorem 3.7: every function of the secret that is not constant, every adversary with this p_min",
        lambda given: (1 + given.p_min / (1 - given.p_min) * (-given.value).exp()).log(),
        needs=("p_min",),
        attained="randomised response and the attribute 'X is the value of probability p_min'",
    ),
    Sharper(
        "local-dp-attribute",
        "local_dp -> posterior_min_entropy",
        "log(1 + (1-m)/m exp(-C)), m = attribute_max",
        f"{OURS}; {SAEIDIAN}, Theorem 3.7, of an attribute no value of which is likely before",
        likely_attribute,
        needs=("attribute_max",),
        conditions="the adversary's prior is the one that attribute_max is about",
        attained="randomised response about an attribute with a value of probability m",
    ),
    Sharper(
        "CONV-15",
        "pointwise_maximal_leakage -> posterior_min_entropy",
        "-log(1 - ratio (1 - exp(-(H-e))))",
        f"{OURS}; quantifies {SAEIDIAN}, Theorem 3.4",
        other_prior,
        needs=("attribute_max", "prior_ratio"),
        conditions="the adversary has another prior",
    ),
)
