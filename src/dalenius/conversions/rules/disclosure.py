"""What is left of the min-entropy of attributes after any output."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.rule import OURS, SAEIDIAN, Given, Rule
from dalenius.information.balls import ball

__all__ = ["RULES"]


def _before(given: Given) -> arb:
    """The attribute's min-entropy before the release."""
    assert given.facts.attribute_max is not None
    return -ball(given.facts.attribute_max).log()


def one_attribute(given: Given) -> arb | None:
    """H - epsilon; 0 if the leakage is larger."""
    if given.facts.prior_ratio is not None:
        return None
    return positive(_before(given) - given.value)


def other_prior(given: Given) -> arb:
    """-log(1 - ratio (1 - e^-(H-epsilon))), for an adversary whose prior is another one."""
    assert given.facts.prior_ratio is not None
    left = positive(_before(given) - given.value)
    return positive(-(1 - ball(given.facts.prior_ratio) * (1 - (-left).exp())).log())


def likely_attribute(given: Given) -> arb | None:
    """Log(1 + (1-m)/m e^-C), m the largest probability of a value of the attribute.

    *Bound because* under C-local differential privacy P(y | not u) >= e^-C P(y | u) for every value u of the attribute, both being
    means of P(y | x); so P(u | y) <= p / (p + (1-p) e^-C), p = P(u), which grows with p, and p <= m.
    """
    if given.facts.prior_ratio is not None:
        return None
    most = ball(given.facts.attribute_max or Fraction(1))
    return (1 + (1 - most) / most * (-given.value).exp()).log()


def any_attribute(given: Given) -> arb:
    """Log(1 + q/(1-q) e^-C), q the least probability that the adversary's prior has."""
    return (1 + given.p_min / (1 - given.p_min) * (-given.value).exp()).log()


RULES = (
    Rule(
        "CONV-13",
        "pointwise_maximal_leakage",
        "posterior_min_entropy",
        "H - e, H = -log attribute_max",
        f"{SAEIDIAN}, Theorem 3.5, (A.2); with the secret itself as the attribute Cor. 3.10",
        one_attribute,
        needs=("attribute_max",),
        conditions="the adversary's prior is the guarantee's; H > e: never disclosed",
        attained="a rare output with lift exp e for one value of the attribute",
    ),
    Rule(
        "CONV-14",
        "local_dp",
        "posterior_min_entropy",
        "log(1 + q/(1-q) exp(-C)), q = p_min",
        f"{SAEIDIAN}, Theorem 3.7: every function of the secret that is not constant, every adversary with this p_min",
        any_attribute,
        needs=("p_min",),
        attained="randomised response and the attribute 'X is the value of probability p_min'",
    ),
    Rule(
        "local-dp-attribute",
        "local_dp",
        "posterior_min_entropy",
        "log(1 + (1-m)/m exp(-C)), m = attribute_max",
        f"{OURS}; {SAEIDIAN}, Theorem 3.7, of an attribute no value of which is likely before",
        likely_attribute,
        needs=("attribute_max",),
        conditions="the adversary's prior is the one that attribute_max is about",
        attained="randomised response about an attribute with a value of probability m",
        ours=True,
    ),
    Rule(
        "CONV-15",
        "pointwise_maximal_leakage",
        "posterior_min_entropy",
        "-log(1 - ratio (1 - exp(-(H-e))))",
        f"{OURS}; quantifies {SAEIDIAN}, Theorem 3.4",
        other_prior,
        needs=("attribute_max", "prior_ratio"),
        conditions="the adversary has another prior",
        ours=True,
    ),
)
