"""The multipliers of a private design as the lines of a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dalenius.designs.linear.dual import Multipliers
from dalenius.designs.linear.program import PrivateDesign
from dalenius.designs.rational import weight_texts
from dalenius.evidence.lower import DualLine, LowerLine, Matrix, RatioLine, Vector, WeightLine
from dalenius.exact import fraction_text

__all__ = ["bound_lines", "mechanism_text"]


def bound_lines(program: PrivateDesign, multipliers: Mapping[int, Multipliers]) -> tuple[LowerLine, ...]:
    """The lines that prove what the multipliers prove, where that is above 0."""
    inputs = program.problem.input_count
    ratios = []
    for j, part in multipliers.items():
        comparison = program.comparisons[j]
        below = comparison.number if comparison.law is not None else _by_input(part.b, inputs)
        ratios.append(RatioLine(comparison.output, below, _by_input(part.a, inputs)))
    objective = program.problem.objective
    weights = () if objective is None else objective.weights
    return (DualLine("0"), *ratios, *(WeightLine(j, fraction_text(w)) for j, w in enumerate(weights)))


def _by_input(values: Mapping[int, Fraction], inputs: int) -> Vector:
    return tuple(fraction_text(values.get(x, Fraction(0))) for x in range(inputs))


def mechanism_text(rows: list[list[Fraction]]) -> Matrix:
    """The mechanism as whole weights, each row with the same sum."""
    return weight_texts(rows)
