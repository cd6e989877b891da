"""What a distance leaves to the best guess of the secret."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.rule import FDIV, OURS, Given, Rule

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
    """Sqrt(eta)/2: of two uniform values the success (1 + sqrt eta)/2."""
    return positive(given.value).sqrt() / 2


RULES = (
    Rule(
        "CONV-17",
        "total_variation",
        "bayes_advantage",
        "TV/2",
        f"{OURS}; {FDIV}, section V, has the two uniform values",
        half,
        attained="any binary channel under the uniform prior",
        ours=True,
    ),
    Rule(
        "CONV-17 (chi-square)",
        "chi_square",
        "bayes_advantage",
        "sqrt(eta)/2",
        f"{OURS}; {FDIV}, section V, has the two uniform values",
        by_chi_square,
        attained="binary randomised response under the uniform prior",
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
        attained="every mechanism, under the uniform prior",
    ),
)
