"""The order of distances from independence."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.programs import input_and_output
from dalenius.conversions.rule import FDIV, OURS, Given, Rule, any_alphabets

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
    """Sqrt(eta), or 2 eta/(1 + eta) from eta = 1 on.

    *Bound because* z = d - 1 is at least -1 with mean 0 and square eta on average; the distance is the mean of 2 (-z)_+, and
    2 (z - eta)^2/(1 + eta)^2, whose mean is 2 eta/(1 + eta), is at least that: if eta >= 1 it meets -2z at z = -1, and rises above it.
    """
    eta = positive(given.value)
    return 2 * eta / (1 + eta) if eta > 1 else eta.sqrt()


PAIRS = (
    ("total_variation", "mutual_information", "total_variation"),
    ("strong_total_variation", "strong_kl", "strong_total_variation"),
    ("largest_divergence", "largest_divergence", "strong_total_variation"),
)
FORMULA = "sqrt(eta), from eta = 1 on 2 eta/(1 + eta)"
RULES = (
    *(
        Rule(
            f"pinsker ({name})",
            source,
            target,
            "sqrt(2 KL)",
            f"{FDIV}, after Definition 6, with the 2 that is missing there",
            pinsker,
        )
        for name, source, target in PAIRS
    ),
    *(
        Rule(
            f"exact-pinsker ({name})",
            source,
            target,
            "2 max q - p with d(p||q) <= KL",
            OURS,
            exact_pinsker,
            attained="X uniform on a ring, the output X + noise with two probabilities"
            if name == target == PAIRS[0][0]
            else "",
            meets=any_alphabets,
            ours=True,
        )
        for name, source, target in PAIRS
    ),
    Rule(
        "jensen",
        "chi_square",
        "mutual_information",
        "log(1 + eta)",
        f"{FDIV}, after Definition 6",
        jensen,
        attained="X uniform on a ring, the output X + noise that is uniform on its share 1/(1 + eta)",
        meets=any_alphabets,
    ),
    Rule("jensen (strong)", "strong_chi_square", "strong_kl", "log(1 + eta)", f"{FDIV}, after Definition 6", jensen),
    Rule(
        "cauchy-schwarz",
        "chi_square",
        "total_variation",
        FORMULA,
        f"{OURS}; sharper than sqrt(2 log(1 + eta))",
        cauchy_schwarz,
        attained="X uniform on a ring, the output X + noise with two probabilities: lifts 1 + t and 1 - t, or 0 and 1 + eta",
        meets=lambda given: any_alphabets(given) or bool(given.value <= 1),
        ours=True,
    ),
    Rule(
        "cauchy-schwarz (strong)",
        "strong_chi_square",
        "strong_total_variation",
        FORMULA,
        OURS,
        cauchy_schwarz,
        ours=True,
    ),
)
