"""What a small delta leaves of maximal leakage, where the secret has few values."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.epsilon import ZERO
from dalenius.conversions.rule import OURS, Given, Rule

__all__ = ["RULES"]


def between_inputs(given: Given) -> arb:
    """Log(e^epsilon + (k-1) delta).

    *Bound because* the largest entry of a column is at most e^epsilon times that of one row, and besides what the k-1 others have
    above it, which is delta each in all columns.
    """
    return (given.epsilon_before.exp() + (given.letters - 1) * given.value).log()


def above_the_mean(given: Given) -> arb:
    """Epsilon + log(1 + k delta): the same with the law of the outputs, above which each of k rows has e^epsilon delta."""
    return given.epsilon_before + (1 + given.letters * given.value).log()


def room(given: Given) -> bool:
    """Whether epsilon is 0, and every value may have an output of its own beside the common one."""
    return given.before == ZERO and (given.facts.outputs is None or given.facts.outputs > given.letters)


RULES = (
    Rule(
        "delta-maximal-leakage",
        "local_dp_delta",
        "maximal_leakage",
        "log(exp e + (k-1) d)",
        OURS,
        between_inputs,
        needs=("letters",),
        attained="telling every value with probability d, at epsilon 0",
        meets=room,
        ours=True,
    ),
    Rule(
        "delta-maximal-leakage (inputs)",
        "local_information_privacy_delta",
        "maximal_leakage",
        "e + log(1 + k d)",
        OURS,
        above_the_mean,
        needs=("letters",),
        ours=True,
    ),
)
