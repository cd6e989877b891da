"""What pointwise maximal leakage leaves of small lifts, and of ratios between inputs."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import OURS, SAEIDIAN, Given, Rule

__all__ = ["RULES", "least_lift"]


def least_lift(given: Given) -> arb:
    """(1 - e^epsilon (1-p))/p, p = p_min: what is left for a value of probability p if all others have lift e^epsilon."""
    return (1 - given.value.exp() * (1 - given.p_min)) / given.p_min


def capacity(given: Given) -> arb | None:
    """Log(p / (e^-epsilon - 1 + p)), where epsilon < log 1/(1-p)."""
    rest = (-given.value).exp() - 1 + given.p_min
    return (given.p_min / rest).log() if rest > 0 else None


def lifts(given: Given) -> arb | None:
    """Max(epsilon, log 1/l), l the least lift."""
    least = least_lift(given)
    return given.value.max(-least.log()) if least > 0 else None


CONDITION = "the leakage is below log 1/(1-p_min)"
RULES = (
    Rule(
        "CONV-1",
        "pointwise_maximal_leakage",
        "local_dp",
        "log(p/(exp(-e) - 1 + p)), p = p_min",
        f"{OURS}; quantifies {SAEIDIAN}, Prop. 3.8",
        capacity,
        needs=("p_min",),
        conditions=CONDITION,
        attained="a binary output that excludes a value of probability p_min as far as it may",
        ours=True,
    ),
    Rule(
        "CONV-5",
        "pointwise_maximal_leakage",
        "information_privacy",
        "max(e, log(p/(1 - exp(e)(1-p)))), p = p_min",
        OURS,
        lifts,
        needs=("p_min",),
        conditions=CONDITION,
        attained="a binary output that excludes a value of probability p_min as far as it may",
        ours=True,
    ),
)
