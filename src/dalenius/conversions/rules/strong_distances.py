"""From strong distances, of every row, to strong information privacy, and from there to approximate differential privacy."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.rule import FDIV, OURS, Given, Rule, Value
from dalenius.conversions.rules.distances_to_lifts import BY_DISTANCE, FORMULAS

__all__ = ["RULES"]

STRONG = {
    "strong_total_variation": "total_variation",
    "strong_kl": "mutual_information",
    "strong_chi_square": "chi_square",
}


def times_letters(value: Value) -> Value:
    """The letters times what holds of each row.

    *Bound because* D_f(q || W_x) <= eta bounds the probability under q of |log W_x/q| > epsilon as the exact worst case does, whose
    band is the same for q/W_x; and an output is bad if it is for some x.
    """

    def all_rows(given: Given) -> arb | None:
        each = value(given)
        return None if each is None else (given.letters * each).min(arb(1))

    return all_rows


def lemma_1(given: Given) -> arb | None:
    """Delta / p_min, for twice the epsilon."""
    assert given.before is not None
    assert given.after is not None
    if not given.after.at_least(given.before.times(TWICE)):
        return None
    return (given.value / given.p_min).min(arb(1))


TWICE = 2
RULES = (
    *(
        Rule(
            f"CONV-10 ({strong})",
            strong,
            "strong_information_privacy_delta",
            f"letters times {FORMULAS[plain]}",
            f"{FDIV}, Corollary 1, with the exact worst case of Theorem 1 ({OURS})",
            times_letters(BY_DISTANCE[plain]),
            needs=("letters",),
            conditions="epsilon is above 0",
            ours=True,
        )
        for strong, plain in STRONG.items()
    ),
    Rule(
        "CONV-10 (Lemma 1)",
        "strong_information_privacy_delta",
        "local_dp_delta",
        "d/p_min at 2e",
        f"{FDIV}, Lemma 1; of plain information privacy the remark after it is false",
        lemma_1,
        needs=("p_min",),
    ),
)
