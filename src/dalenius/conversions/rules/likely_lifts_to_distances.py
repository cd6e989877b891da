"""What likely lifts within a band leave of distances: (epsilon, delta)-information privacy, plain and strong."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import FDIV, OURS, Given, Rule

__all__ = ["RULES"]


def printed(given: Given) -> arb:
    """2 (e^epsilon - 1 + delta)."""
    return 2 * (given.epsilon_before.exp() - 1 + given.value)


def total_variation(given: Given) -> arb:
    """2 (1 - e^-epsilon (1-delta))."""
    return 2 * (1 - (-given.epsilon_before).exp() * (1 - given.value))


def strong_total_variation(given: Given) -> arb:
    """2 ((1-delta) tanh(epsilon/2) + delta)."""
    return 2 * ((1 - given.value) * (given.epsilon_before / 2).tanh() + given.value)


def _within(given: Given) -> arb:
    """min(epsilon, log 1/p_min): no lift is larger."""
    return given.epsilon_before.min(-given.p_min.log())


def information(given: Given) -> arb:
    """(1-delta) epsilon + delta log 1/p_min."""
    return (1 - given.value) * _within(given) - given.value * given.p_min.log()


def chi_square(given: Given) -> arb:
    """(1-delta) e^epsilon + delta/p_min - 1."""
    return (1 - given.value) * _within(given).exp() + given.value / given.p_min - 1


PLAIN, STRONG = "information_privacy_delta", "strong_information_privacy_delta"
RULES = (
    Rule("lemma-4", PLAIN, "total_variation", "2 (exp e - 1 + d)", f"{FDIV}, Lemma 4", printed),
    Rule(
        "CONV-11 (total variation)",
        PLAIN,
        "total_variation",
        "2 (1 - exp(-e) (1-d))",
        f"{OURS}; sharpens Lemma 4 of {FDIV}",
        total_variation,
        ours=True,
    ),
    Rule(
        "CONV-11 (strong)",
        STRONG,
        "total_variation",
        "2 ((1-d) tanh(e/2) + d)",
        f"{OURS}; sharpens Lemma 4 of {FDIV}",
        strong_total_variation,
        ours=True,
    ),
    Rule(
        "CONV-11 (information)",
        PLAIN,
        "mutual_information",
        "(1-d) e + d log 1/p_min",
        f"{OURS}; answers Remark 2 of {FDIV}",
        information,
        needs=("p_min",),
        ours=True,
    ),
    Rule(
        "CONV-11 (chi-square)",
        PLAIN,
        "chi_square",
        "(1-d) exp e + d/p_min - 1",
        f"{OURS}; answers Remark 2 of {FDIV}",
        chi_square,
        needs=("p_min",),
        ours=True,
    ),
    Rule(
        "strong-to-plain",
        STRONG,
        PLAIN,
        "d",
        f"{FDIV}, Definition 1",
        lambda given: given.value if given.before == given.after else None,
    ),
)
