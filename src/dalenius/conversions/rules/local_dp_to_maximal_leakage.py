"""What local differential privacy leaves of maximal leakage."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import OURS, SAEIDIAN, Given, Rule, any_alphabets

__all__ = ["RULES"]


def with_letters(given: Given) -> arb:
    """Log(k / (1 + (k-1) e^-C)).

    *Bound because* the entries of a column sum to at least (1 + (k-1) e^-C) times the largest, and those of all columns to k.
    """
    return (given.letters / (1 + (given.letters - 1) * (-given.value).exp())).log()


RULES = (
    Rule(
        "local-dp-maximal-leakage",
        "local_dp",
        "maximal_leakage",
        "log(k / (1 + (k-1) exp(-C)))",
        OURS,
        with_letters,
        needs=("letters",),
        attained="k-ary randomised response",
        meets=lambda given: given.facts.outputs is None or given.facts.outputs >= given.letters,
        ours=True,
    ),
    Rule(
        "local-dp-maximal-leakage-any",
        "local_dp",
        "maximal_leakage",
        "C",
        f"{SAEIDIAN}: the maximal leakage is a mean of exp l(y), at most C each",
        lambda given: given.value,
        attained="k-ary randomised response, in the limit of many letters",
        meets=any_alphabets,
    ),
)
