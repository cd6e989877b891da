"""What a distance leaves to the best guess of the secret."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import FDIV, OURS, Given, Rule, any_alphabets
from dalenius.conversions.rules.distances import cauchy_schwarz

__all__ = ["RULES"]


def half(given: Given) -> arb:
    """TV/2."""
    return given.value / 2


def success(given: Given) -> arb:
    """p_max + advantage."""
    return given.p_max + given.value


def leakage(given: Given) -> arb:
    """(e^L - 1) p_max."""
    return (given.value.exp() - 1) * given.p_max


def by_chi_square(given: Given) -> arb:
    """Half of the distance that goes with it: of two uniform values the success (1 + sqrt eta)/2."""
    return cauchy_schwarz(given) / 2


def fair(given: Given) -> bool:
    """Whether two values may be equally likely, and the number is at most what a bit may have; or nothing bounds their number."""
    bit = (given.facts.p_max is None or given.facts.p_max * 2 >= 1) and bool(given.value <= 1)
    return bit or (any_alphabets(given) and given.facts.p_max is None)


def likely_values(given: Given) -> bool:
    """Whether there can be as many values of probability p_max, and as many outputs, as the leakage asks for."""
    facts = given.facts
    assert facts.p_max is not None
    size = min(int(1 / facts.p_max), facts.outputs or int(1 / facts.p_max))
    return facts.p_min is None and bool(given.value.exp() <= size)


RULES = (
    Rule(
        "CONV-17",
        "total_variation",
        "bayes_advantage",
        "TV/2",
        f"{OURS}; {FDIV}, section V, has the two uniform values",
        half,
        attained="randomised response under the uniform prior, of two values up to a distance of 1",
        meets=fair,
        ours=True,
    ),
    Rule(
        "CONV-17 (chi-square)",
        "chi_square",
        "bayes_advantage",
        "sqrt(eta)/2, from eta = 1 on eta/(1 + eta)",
        f"{OURS}; {FDIV}, section V, has the two uniform values",
        by_chi_square,
        attained="binary randomised response under the uniform prior",
        meets=lambda given: fair(given) and bool(given.value <= 1),
        ours=True,
    ),
    Rule(
        "success",
        "bayes_advantage",
        "guessing_success",
        "p_max + advantage",
        "by definition",
        success,
        needs=("p_max",),
        attained="every mechanism",
        keeps=True,
    ),
    Rule(
        "leakage-of-a-guess",
        "maximal_leakage",
        "bayes_advantage",
        "(exp L - 1) p_max",
        "Issa, Wagner, Kamath, An operational approach to information leakage, Theorem 1",
        leakage,
        needs=("p_max",),
        attained="randomised response between values of probability p_max, other values told apart from none",
        meets=likely_values,
    ),
)
