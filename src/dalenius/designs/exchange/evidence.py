"""The bound from below as the lines of a certificate, and what these lines prove."""

from __future__ import annotations

import math
from fractions import Fraction

from dalenius.designs.exchange.bound import MasterBound
from dalenius.designs.exchange.goal import Goal
from dalenius.designs.rational import DENOMINATOR, weight_texts
from dalenius.evidence import matrix_text, short_text
from dalenius.evidence.lower import DualLine, Matrix, PriorLine

__all__ = ["bound_lines", "mechanism_text", "proved_value"]


def bound_lines(bound: MasterBound) -> tuple[DualLine | PriorLine, ...]:
    """The lines that prove a bound whose priors are on the problem's own inputs; the one that proves 0, if there are none."""
    if not bound.priors or bound.value <= 0.0:
        return (DualLine(None),)
    listed = (
        PriorLine(
            short_text(part.weight),
            part.prior.record,
            matrix_text(part.prior.masses) if part.prior.hint is None else part.prior.hint,
            matrix_text(part.posteriors),
        )
        for part in bound.priors
    )
    return (DualLine(short_text(bound.budget_multiplier)), *listed)


def proved_value(bound: MasterBound, goal: Goal) -> float:
    """What the lines prove, in doubles, and no more than the bound says."""
    if not bound.priors:
        return 0.0
    value = goal.proved(bound)
    return min(bound.value, value) if math.isfinite(value) else 0.0


def mechanism_text(rows: list[list[Fraction]]) -> Matrix:
    """The mechanism as whole weights, each row with the same sum."""
    return weight_texts(rows, DENOMINATOR)
