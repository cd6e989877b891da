"""Private mechanisms in rationals: at the vertex where doubles point to, or rounded and repaired."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dalenius.designs.linear.doubles import DoubleSolution
from dalenius.designs.linear.program import PrivateDesign, Rows
from dalenius.designs.linear.rational import GRID, TIGHT, LinearSystem, Terms, whole_weights
from dalenius.designs.rational import writable

__all__ = ["private_near", "repaired", "vertex"]


@dataclass(frozen=True)
class _Multiple:
    """An unknown times a factor."""

    unknown: int
    factor: Fraction = Fraction(1)

    def add_to(self, terms: Terms, weight: Fraction = Fraction(1)) -> None:
        terms[self.unknown] = terms.get(self.unknown, Fraction(0)) + weight * self.factor


def vertex(program: PrivateDesign, near: DoubleSolution) -> Rows | None:
    """The mechanism whose entries meet exactly the bounds that these doubles seem to meet; None if that is not one."""
    system = LinearSystem(len(near.s))
    entries = _entries(program, near, system)
    for row in program.by_row(entries):
        terms: Terms = {}
        for entry in row:
            entry.add_to(terms)
        system.add(terms, Fraction(1))
    for j, comparison in enumerate(program.comparisons):
        if comparison.law is not None:
            terms = {}
            for z, p in zip(comparison.entries, comparison.law, strict=True):
                entries[z].add_to(terms, -program.below * p)
            _Multiple(j).add_to(terms)
            system.add(terms, Fraction(0))
    found = system.solved()
    return None if found is None else program.by_row([found[entry.unknown] * entry.factor for entry in entries])


def _entries(program: PrivateDesign, near: DoubleSolution, system: LinearSystem) -> list[_Multiple]:
    """Every entry as a multiple of an unknown: of an end s, of itself, or 0."""
    where, lowest = dict[int, _Multiple](), set[int]()
    for j, comparison in enumerate(program.comparisons):
        if near.s[j] <= TIGHT:
            system.add({j: Fraction(1)}, Fraction(0))
        for z in comparison.entries:
            met = _met(program, near, j, z)
            if met is not None:
                first = where.setdefault(z, met)
                if first != met:  # one more equation
                    terms: Terms = {}
                    first.add_to(terms)
                    met.add_to(terms, Fraction(-1))
                    system.add(terms, Fraction(0))
        if program.any_law:
            lowest.update(comparison.entries)  # s/c bounds them from below, so that 0 is no bound of theirs
    for z in range(len(near.q)):
        if z not in where:
            zero = near.q[z] <= TIGHT and z not in lowest
            where[z] = _Multiple(0, Fraction(0)) if zero else _Multiple(system.another())
    return [where[z] for z in range(len(near.q))]


def _met(program: PrivateDesign, near: DoubleSolution, j: int, z: int) -> _Multiple | None:
    """The end of comparison j, or its share 1/c, if the entry seems to meet it."""
    if near.s[j] - near.q[z] <= TIGHT:
        return _Multiple(j)
    if program.any_law and near.q[z] - near.s[j] / near.exp_epsilon <= TIGHT:
        return _Multiple(j, 1 / program.below)
    return None


# ---------------------------------------------------------------- what can be handed out


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
