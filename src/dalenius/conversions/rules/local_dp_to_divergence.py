"""What local differential privacy leaves of divergences between rows."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import OURS, PUFFERFISH, Given, Rule

__all__ = ["RULES"]


def sharp(given: Given) -> arb:
    """Epsilon tanh(epsilon/2)."""
    return given.value * (given.value / 2).tanh()


def printed(given: Given) -> arb:
    """min(epsilon, epsilon^2/2)."""
    return given.value.min(given.value**2 / 2)


def reverse_pinsker(given: Given) -> arb:
    """Delta' (epsilon/(1-e^-epsilon) - e^-epsilon), delta' = tanh(epsilon/2).

    Of eq. (4) of the paper without its factor 1/2, which belongs to the distance from 0 to 2 (E0.1).
    """
    epsilon = given.value
    if epsilon == 0:
        return arb(0)
    least = (-epsilon).exp()
    return (epsilon / 2).tanh() * (epsilon / (1 - least) - least)


RULES = (
    Rule(
        "local-dp-divergence",
        "local_dp",
        "pairwise_divergence",
        "e tanh(e/2)",
        f"{OURS}; sharpens the first implication of Theorem 1 of {PUFFERFISH}",
        sharp,
        attained="binary randomised response",
        ours=True,
    ),
    Rule(
        "theorem-1-divergence",
        "local_dp",
        "pairwise_divergence",
        "min(e, e^2/2)",
        f"{PUFFERFISH}, Theorem 1, first implication",
        printed,
    ),
    Rule(
        "theorem-1-reverse-pinsker",
        "local_dp",
        "pairwise_divergence",
        "tanh(e/2) (e/(1 - exp(-e)) - exp(-e))",
        f"{PUFFERFISH}, Theorem 1, part 2, eq. (4), without the 1/2 that is wrong there",
        reverse_pinsker,
    ),
)
