"""Maximal correlation and chi-square: singular values, of which the largest is one and the squares sum to the other."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.rule import FDIV, Given, Rule

__all__ = ["RULES"]


def to_chi_square(given: Given) -> arb:
    """(min(letters, outputs) - 1) rho^2."""
    size = min(given.letters, given.facts.outputs or given.letters)
    return (size - 1) * given.value**2


def from_chi_square(given: Given) -> arb:
    """Sqrt(chi-square)."""
    return positive(given.value).sqrt()


RULES = (
    Rule(
        "CONV-16",
        "maximal_correlation",
        "chi_square",
        "(min(letters, outputs) - 1) rho^2",
        f"{FDIV}, Lemma 5",
        to_chi_square,
        needs=("letters",),
        attained="randomised response under a uniform prior",
    ),
    Rule(
        "CONV-16 (back)",
        "chi_square",
        "maximal_correlation",
        "sqrt(eta)",
        f"{FDIV}, Lemma 5",
        from_chi_square,
        attained="every channel with two inputs or two outputs",
    ),
)
