"""Private mechanisms and bounds on the optimum in rationals, rounded and repaired where they are not as they should be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dalenius.designs.linear.program import Multipliers, PrivateDesign, Rows
from dalenius.designs.rational import GRID, whole_weights, writable


def private_near(program: PrivateDesign, rows: Rows) -> Rows | None:
    """The mechanism itself if it is private and can be written; else rounded and repaired; None where that is not possible."""
    return rows if _usable(program, rows) else repaired(program, rows)


def _usable(program: PrivateDesign, rows: Rows) -> bool:
    if any(min(row) < 0 or sum(row) != 1 for row in rows) or not writable(entry for row in rows for entry in row):
        return False
    exp_epsilon = program.problem.exp_epsilon(rows)
    return exp_epsilon is not None and exp_epsilon <= program.below


def repaired(program: PrivateDesign, rows: Rows) -> Rows | None:
    """Rounded to whole weights w, w(x,y) + k_y for every x: private where w(x,y) - c sum beta w <= (c - 1) k_y.

    None if c = 1, or a row has no mass.
    """
    if program.below == 1 or not all(max(row) > 0 for row in rows):
        return None
    weights = [whole_weights(row) for row in rows]
    added = _added([weight for row in weights for weight in row], program)
    total = GRID + sum(added)
    return [[Fraction(weight + more, total) for weight, more in zip(row, added, strict=True)] for row in weights]


def _added(weights: Sequence[int], program: PrivateDesign) -> list[int]:
    """k_y; the same for all outputs where their entries are one number."""
    added = [0] * program.outputs
    for comparison in program.comparisons:
        column = [Fraction(weights[z]) for z in comparison.entries]
        excess = max(column) - program.below * comparison.reference.average(column)
        y = comparison.output
        added[y] = max(added[y], math.ceil(excess / (program.below - 1)))
    return [max(added)] * len(added) if program.problem.tied.across_outputs else added


ByComparison = Mapping[int, Multipliers]


def multipliers_near(program: PrivateDesign, multipliers: ByComparison) -> dict[int, Multipliers]:
    """Those that prove something; rounded, unless they can be written as they are."""
    if not writable(value for part in multipliers.values() for value in (*part.a.values(), *part.b.values())):
        multipliers = {j: part.rounded(program.scale / GRID) for j, part in multipliers.items()}
    return {
        j: part
        for j, part in multipliers.items()
        if any(part.a.values()) and (any(part.b.values()) or not program.any_law)
    }


def proved(program: PrivateDesign, multipliers: ByComparison) -> Fraction:
    """The bound of docs/certificate-format.md: sum_x min_y [ p d + sum (a - c+ A beta) ].

    *Bound because* what is added sums to at most 0 over a private mechanism, and its rows are laws.
    """
    G = list(program.cost)
    for j, part in multipliers.items():
        comparison = program.comparisons[j]
        averages = part.averages(comparison, program.above)
        for x, z, average in zip(comparison.inputs, comparison.entries, averages, strict=True):
            G[z] += part.a.get(x, Fraction(0)) - average
    return sum((min(row) for row in program.by_row(G)), Fraction(0))
