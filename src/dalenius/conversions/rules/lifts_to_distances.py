"""What information privacy leaves of distances: the lifts lie in a band and have mean 1."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import OURS, Given, Rule, any_alphabets

__all__ = ["RULES"]


def total_variation(given: Given) -> arb:
    """2 tanh(epsilon/2)."""
    return 2 * (given.value / 2).tanh()


def divergence(given: Given) -> arb:
    """Epsilon tanh(epsilon/2)."""
    return given.value * (given.value / 2).tanh()


def chi_square(given: Given) -> arb:
    """2 cosh epsilon - 2."""
    return 4 * (given.value / 2).sinh() ** 2


VALUES = {
    "total_variation": (total_variation, "2 tanh(e/2)"),
    "strong_total_variation": (total_variation, "2 tanh(e/2)"),
    "mutual_information": (divergence, "e tanh(e/2)"),
    "largest_divergence": (divergence, "e tanh(e/2)"),
    "strong_kl": (divergence, "e tanh(e/2)"),
    "chi_square": (chi_square, "2 cosh e - 2"),
    "strong_chi_square": (chi_square, "2 cosh e - 2"),
}
RULES = tuple(
    Rule(
        f"CONV-8 ({target})",
        "information_privacy",
        target,
        formula,
        f"{OURS}: a convex function of lifts between exp(-e) and exp e with mean 1 is largest on both ends",
        value,
        attained="lifts exp e and exp(-e) only: X uniform on a ring, the output X + noise with two probabilities",
        meets=any_alphabets,
        ours=True,
    )
    for target, (value, formula) in VALUES.items()
)
