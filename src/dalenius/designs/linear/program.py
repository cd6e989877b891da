"""The linear program of a private design: variables, constraints, costs, exactly; and multipliers of what is compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from dalenius.designs.lp import LinearProgram, LinearRow
from dalenius.designs.rational import GRID, whole_weights, writable
from dalenius.errors import DaleniusError
from dalenius.model import MinDistortion
from dalenius.model.distortions import ExpectedDistortion
from dalenius.model.privacy import Reference

Rows = list[list[Fraction]]
X = TypeVar("X")
ONE = Fraction(1)
CEILING = Fraction(2**200)  # of e^epsilon for mechanisms: what is private for less is private for more
MOST_ENTRIES = 2**19


@dataclass(frozen=True)
class Comparison:
    """What privacy asks of one output y: Q(x,y) <= s for the reference's inputs x, s = e^epsilon times the least average it allows.

    Attributes
    ----------
    reference : Reference
    number : int
        Of the reference.
    output : int
    entries : tuple of int
        The numbers of the variables Q(x,y), for the reference's inputs x.
    """

    reference: Reference
    number: int
    output: int
    entries: tuple[int, ...]

    @property
    def law(self) -> tuple[Fraction, ...] | None:
        """beta, or None if it is any law."""
        return self.reference.law

    @property
    def inputs(self) -> tuple[int, ...]:
        return self.reference.inputs


@dataclass(frozen=True)
class PrivateDesign:
    """Minimise sum_z cost_z q_z over rows q that are laws, with q_z <= s_j for the entries z of every comparison j.

    s_j is e^epsilon times an average of these entries; where any law averages them, it only has to be at most e^epsilon q_z for each.

    Attributes
    ----------
    problem : MinDistortion
        With `privacy`.
    cost : tuple of Fraction
        Of every variable, row by row.
    comparisons : tuple of Comparison
    below, above : Fraction
        Rationals around e^epsilon: what is private for the smaller is private; what bounds the optimum for the larger bounds it.

    Raises
    ------
    DaleniusError
        If there are too many inputs and outputs.
    """

    problem: MinDistortion
    cost: tuple[Fraction, ...]
    comparisons: tuple[Comparison, ...]
    below: Fraction
    above: Fraction

    @classmethod
    def of(cls, problem: MinDistortion, minimised: ExpectedDistortion) -> PrivateDesign:
        """Of a feasible problem, whose mechanisms are to distort so little."""
        assert problem.privacy is not None
        n, m, references = problem.input_count, problem.output_count, problem.references
        if (size := n * m * len(references)) > MOST_ENTRIES:
            raise DaleniusError(
                f"nothing can be computed about this design: inputs times outputs, times priors, is {size}, expected at most "
                f"{MOST_ENTRIES}; coarsen the query"
            )
        low, above = problem.privacy.factor()
        numbers = problem.tied.numbers
        comparisons = tuple(
            Comparison(reference, k, y, tuple(numbers[list(reference.inputs), y].tolist()))
            for k, reference in enumerate(references)
            for y in range(m)
        )
        cost = tuple(entry for row in minimised.costs() for entry in row)
        return cls(problem, cost, comparisons, min(low, CEILING), above)

    @property
    def outputs(self) -> int:
        return self.problem.output_count

    @property
    def rows(self) -> int:
        """How many laws q has."""
        return len(self.cost) // self.outputs

    @property
    def any_law(self) -> bool:
        """Whether averages are by any law: local differential privacy."""
        return self.comparisons[0].law is None

    @cached_property
    def scale(self) -> Fraction:
        """A power of 2 of the size of the largest cost."""
        largest = max(self.cost)
        return Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())

    def by_row(self, values: Sequence[X]) -> list[list[X]]:
        """Numbers of the variables q, as the rows of a mechanism."""
        m = self.outputs
        return [list(values[start : start + m]) for start in range(0, len(values), m)]

    def program(self, c: Fraction) -> LinearProgram:
        """For e^epsilon = c, in the entries q, then the ends s.

        Rows: q <= s and s/c <= q, by comparison; sums of laws, then s = c sum beta q.
        """
        count = len(self.cost)
        ends = [(count + j, z) for j, comparison in enumerate(self.comparisons) for z in comparison.entries]
        share, minus = 1 / c, -ONE
        rows = [LinearRow({z: ONE, s: minus}) for s, z in ends]
        if self.any_law:
            rows += [LinearRow({s: share, z: minus}) for s, z in ends]
        rows += [LinearRow(dict.fromkeys(row, ONE), ONE, equal=True) for row in self.by_row(range(count))]
        for j, comparison in enumerate(self.comparisons):
            if comparison.law is not None:
                averaged = zip(comparison.entries, comparison.law, strict=True)
                rows.append(LinearRow({**{z: -c * p for z, p in averaged}, count + j: ONE}, equal=True))
        above = {z for _, z in ends} if self.any_law else ()  # s/c bounds them from below
        return LinearProgram(count + len(self.comparisons), dict(enumerate(self.cost)), rows, above)

    def multipliers(self, of_rows: Sequence[Fraction]) -> dict[int, Multipliers]:
        """Of the comparisons, from those of the program's rows; what is below 0 counts as 0."""
        inputs = [comparison.inputs for comparison in self.comparisons]
        numbers = iter(of_rows)
        a = [{x: value for x in own if (value := next(numbers)) > 0} for own in inputs]
        b = [{x: value for x in own if (value := next(numbers)) > 0} if self.any_law else {} for own in inputs]
        return {j: Multipliers(*both) for j, both in enumerate(zip(a, b, strict=True))}


@dataclass(frozen=True)
class Multipliers:
    """Of one comparison, by input: a of Q(x,y) <= s, b of s <= e^epsilon Q(x,y); b is empty where a listed law averages."""

    a: dict[int, Fraction] = field(default_factory=dict)
    b: dict[int, Fraction] = field(default_factory=dict)

    def averages(self, comparison: Comparison, exp_epsilon: Fraction) -> list[Fraction]:
        """e^epsilon beta(x) sum a for the comparison's inputs; beta is b over its sum where any law averages."""
        total = exp_epsilon * sum(self.a.values())
        if comparison.law is not None:
            return [total * p for p in comparison.law]
        share = total / sum(self.b.values())
        return [share * self.b.get(x, Fraction(0)) for x in comparison.inputs]

    def rounded(self, step: Fraction) -> Multipliers:
        """To multiples of a step."""
        return Multipliers(*({x: round(value / step) * step for x, value in side.items()} for side in (self.a, self.b)))


# Private mechanisms and bounds on the optimum in rationals, rounded and repaired where they are not as they should be.


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
