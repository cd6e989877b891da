"""The order of distances from independence."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.programs import input_and_output
from dalenius.conversions.rule import FDIV, OURS, Given, Rule

__all__ = ["RULES"]


def pinsker(given: Given) -> arb:
    """Sqrt(2 KL): the distance is from 0 to 2, and "TV^2 <= KL" is false for it (E3-2)."""
    return (2 * positive(given.value)).sqrt()


def exact_pinsker(given: Given) -> arb:
    """2 max q - p with d(p || q) <= KL: the largest distance of two laws with that divergence."""
    return 2 * input_and_output(given.value, arb(0))


def jensen(given: Given) -> arb:
    """Log(1 + chi-square)."""
    return (1 + given.value).log()


def cauchy_schwarz(given: Given) -> arb:
    """Sqrt(chi-square)."""
    return positive(given.value).sqrt()


PAIRS = (("mutual_information", "total_variation"), ("strong_kl", "strong_total_variation"))
LARGEST = ("largest_divergence", "strong_total_variation")
RULES = (
    *(
        Rule(
            f"pinsker ({target})",
            source,
            target,
            "sqrt(2 KL)",
            f"{FDIV}, after Definition 6, with the 2 that is missing there",
            pinsker,
        )
        for source, target in (*PAIRS, LARGEST)
    ),
    *(
        Rule(
            f"exact-pinsker ({target})",
            source,
            target,
            "2 max q - p with d(p||q) <= KL",
            OURS,
            exact_pinsker,
            attained="circulants whose noise has two values of likelihood" if source == "mutual_information" else "",
            ours=True,
        )
        for source, target in (*PAIRS, LARGEST)
    ),
    Rule(
        "jensen",
        "chi_square",
        "mutual_information",
        "log(1 + eta)",
        f"{FDIV}, after Definition 6",
        jensen,
        attained="telling which of several blocks of equally likely values it is",
    ),
    Rule("jensen (strong)", "strong_chi_square", "strong_kl", "log(1 + eta)", f"{FDIV}, after Definition 6", jensen),
    Rule(
        "cauchy-schwarz",
        "chi_square",
        "total_variation",
        "sqrt(eta)",
        f"{OURS}; sharper than sqrt(2 log(1 + eta))",
        cauchy_schwarz,
        attained="lifts 1 + t and 1 - t only",
        ours=True,
    ),
    Rule(
        "cauchy-schwarz (strong)",
        "strong_chi_square",
        "strong_total_variation",
        "sqrt(eta)",
        OURS,
        cauchy_schwarz,
        ours=True,
    ),
)
