"""What likely lifts within a band leave to guesses and estimates."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.rule import FDIV, OURS, Given, Rule

__all__ = ["RULES"]


def detection(given: Given) -> arb:
    """Delta + e^epsilon p_max."""
    return given.value + given.epsilon_before.exp() * given.p_max


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
RULES = (
    Rule(
        "CONV-12 (detection)",
        PLAIN,
        "guessing_success",
        "d + exp(e) p_max",
        f"{FDIV}, Lemma 2",
        detection,
        needs=("p_max",),
    ),
    Rule(
        "CONV-12 (strong detection)",
        STRONG,
        "guessing_success",
        "(1-d) exp(e) p_max + d",
        f"{OURS}; sharpens Lemma 2 of {FDIV}",
        strong_detection,
        needs=("p_max",),
        ours=True,
    ),
    Rule(
        "CONV-12 (strong estimation)",
        STRONG,
        "estimation_error",
        "(1-d) exp(-e)",
        f"{OURS}; sharpens Lemma 3 of {FDIV}, whose proof has an error (E3-5)",
        strong_estimation,
        ours=True,
    ),
    Rule(
        "estimation-of-lifts",
        "information_privacy",
        "estimation_error",
        "exp(-e)",
        f"{OURS}; the strong form without a delta",
        lambda given: (-given.value).exp(),
        ours=True,
    ),
)
