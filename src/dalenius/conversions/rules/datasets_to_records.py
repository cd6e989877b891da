"""From differential privacy, which compares datasets, to what a release tells about one record."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import SAEIDIAN, Given, Rule

__all__ = ["RULES"]


def group(given: Given) -> arb:
    """n epsilon."""
    assert given.facts.records is not None
    return given.facts.records * given.value


def independent(given: Given) -> arb:
    """Epsilon: the record's channel is a mean of those with the others known."""
    return given.value


RULES = (
    Rule(
        "group-privacy",
        "differential_privacy",
        "free_lunch_privacy",
        "n e",
        f"{SAEIDIAN}, Definition 4.4; any two datasets differ in n records at most",
        group,
        needs=("records",),
        attained="randomised response of every record",
    ),
    Rule(
        "neighbours",
        "free_lunch_privacy",
        "differential_privacy",
        "e",
        "neighbours are two datasets",
        independent,
    ),
    Rule(
        "CONV-3",
        "differential_privacy",
        "local_dp",
        "e, for one record",
        f"{SAEIDIAN}, Theorem 4.2(3); with CONV-2 it generalises Prop. 4.6 to any mechanism and alphabet",
        independent,
        needs=("independent",),
        conditions="the secret is one record, and the others are independent of it",
        attained="any mechanism, where the others are known",
        keeps=True,
    ),
    Rule(
        "CONV-4",
        "free_lunch_privacy",
        "local_dp",
        "e, for any attribute of the dataset",
        f"{SAEIDIAN}, Theorems 4.3, 4.5: with all records equal nothing less than group privacy holds",
        independent,
        conditions="the secret is a record or any other attribute, correlated with the others in any way",
        attained="any mechanism, where all records are equal",
        keeps=True,
    ),
)
