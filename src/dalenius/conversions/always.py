"""What holds of every mechanism, without a guarantee: limits by the sizes of alphabets and the least probability."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.facts import Facts
from dalenius.conversions.notions import NOTIONS
from dalenius.information.balls import ball

__all__ = ["holds_always"]


def holds_always(notion: str, facts: Facts) -> tuple[arb, str] | None:
    """A guarantee in this notion that every mechanism has, and why; None if there is none.

    >>> holds_always("local_dp", Facts()) is None, holds_always("total_variation", Facts())[1]
    (True, 'it is never more than 2')
    """
    size = min((x for x in (facts.letters, facts.outputs) if x is not None), default=None)
    if notion == "pointwise_maximal_leakage" and facts.p_min is not None:
        return -ball(facts.p_min).log(), "no posterior probability is above 1: log 1/p_min"
    if notion in ("mutual_information", "shannon_capacity", "maximal_leakage") and size is not None:
        return arb(size).log(), f"the logarithm of {size}, the smaller alphabet"
    if notion == "chi_square" and size is not None:
        return arb(size - 1), f"{size} - 1, of the smaller alphabet"
    if NOTIONS[notion].at_least:
        return arb(0), "it is never less than 0"
    most = NOTIONS[notion].most
    return None if most is None else (arb(most), f"it is never more than {most}")
