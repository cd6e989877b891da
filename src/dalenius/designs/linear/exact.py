"""Private mechanisms and bounds on the optimum in rationals: at the vertex where doubles point to, or rounded and repaired."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dalenius.designs.linear.program import Comparison, DoubleSolution, PrivateDesign, Rows
from dalenius.designs.rational import GRID, TIGHT, LinearSystem, Terms, whole_weights, writable


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


def multipliers_in_doubles(program: PrivateDesign, near: DoubleSolution) -> dict[int, Multipliers]:
    """The solver's own."""
    found = {}
    for j, comparison in enumerate(program.comparisons):
        sides = [
            {
                x: Fraction(value) * program.scale
                for x, value in zip(comparison.inputs, side, strict=True)
                if value > 0.0
            }
            for side in ([near.a[j].tolist(), near.b[j].tolist()] if program.any_law else [near.a[j].tolist()])
        ]
        found[j] = Multipliers(*sides)
    return found


# ---------------------------------------------------------------- the vertex


@dataclass(frozen=True)
class _Active:
    """A multiplier that is not 0: a of an input in a comparison, or its b."""

    comparison: int
    input: int
    is_a: bool

    @property
    def sign(self) -> Fraction:
        return Fraction(1 if self.is_a else -1)

    def in_sums(self, exp_epsilon: Fraction) -> Fraction:
        """Its factor in sum a - sum b / c."""
        return Fraction(1) if self.is_a else -1 / exp_epsilon


@dataclass(frozen=True)
class _ByEntry:
    """A multiplier that the equation of its entry expresses by unknowns: sign (sum of terms - cost)."""

    active: _Active
    entry: int
    terms: Terms


@dataclass(frozen=True)
class _Unknown:
    """A multiplier that is an unknown."""

    active: _Active
    unknown: int


def dual_vertex(program: PrivateDesign, near: DoubleSolution) -> dict[int, Multipliers] | None:
    """The multipliers that are 0 exactly where these doubles seem to be; None if that is no solution of the dual.

    With u_x of the sums, A_j of s_j = c sum beta Q, r of Q >= 0: the terms of each entry of Q are cost - u + sum a - sum b -
    c sum A beta - r = 0, and those of s_j are sum a = A_j, or sum a = sum b / c, unless s_j >= 0 has a multiplier, too. An entry's
    first a or b is expressed by u and A.
    """
    return _DualVertex(program, near).solved()


class _DualVertex:
    """The equations of the dual at its vertex: unknowns are u by row, A by comparison, then multipliers."""

    def __init__(self, program: PrivateDesign, near: DoubleSolution) -> None:
        self.program, self.near, self.c = program, near, program.above
        self.system = LinearSystem(program.rows + len(program.comparisons))
        self.base: list[Terms] = [{z // program.outputs: Fraction(1)} for z in range(len(program.cost))]
        self.active: list[list[_Active]] = [[] for _ in program.cost]
        self.sums: list[Terms] = [{} for _ in program.comparisons]
        self.constants = [Fraction(0)] * len(program.comparisons)
        self.by_entry, self.unknowns = list[_ByEntry](), list[_Unknown]()

    def solved(self) -> dict[int, Multipliers] | None:
        for j in range(len(self.program.comparisons)):
            self._compare(j)
        for z in range(len(self.program.cost)):
            self._balance(z)
        for terms, constant, slack in zip(self.sums, self.constants, self.near.of_s, strict=True):
            if slack <= TIGHT:
                self.system.add(terms, constant)
        values = self.system.solved()
        return None if values is None else self._multipliers(values)

    def _compare(self, j: int) -> None:
        """What a comparison adds to the equations of its entries and of its end."""
        comparison, average = self.program.comparisons[j], self.program.rows + j
        for i, (x, z) in enumerate(zip(comparison.inputs, comparison.entries, strict=True)):
            if self.near.a[j][i] > TIGHT:
                self.active[z].append(_Active(j, x, True))
            if self.program.any_law and self.near.b[j][i] > TIGHT:
                self.active[z].append(_Active(j, x, False))
            if comparison.law is not None:
                self.base[z][average] = self.base[z].get(average, Fraction(0)) + self.c * comparison.law[i]
        if comparison.law is not None:
            self.sums[j][average] = Fraction(-1)
        else:  # no such unknown
            self.system.add({average: Fraction(1)}, Fraction(0))

    def _balance(self, z: int) -> None:
        """The equation of an entry: it expresses one multiplier, or none if Q >= 0 has one of its own, or must hold by itself."""
        free, terms, active = self.near.of_q[z] > TIGHT, dict(self.base[z]), self.active[z]
        for own in active if free else active[1:]:
            unknown = self.system.another()
            self.unknowns.append(_Unknown(own, unknown))
            terms[unknown] = -own.sign
            self.sums[own.comparison][unknown] = own.in_sums(self.c)
        if free:
            return
        if not active:
            self.system.add(terms, self.program.cost[z])
            return
        first = active[0]
        self.by_entry.append(_ByEntry(first, z, terms))
        weight = first.sign * first.in_sums(self.c)
        sums = self.sums[first.comparison]
        for unknown, factor in terms.items():
            sums[unknown] = sums.get(unknown, Fraction(0)) + weight * factor
        self.constants[first.comparison] += weight * self.program.cost[z]

    def _multipliers(self, values: list[Fraction]) -> dict[int, Multipliers]:
        found = {j: Multipliers() for j in range(len(self.program.comparisons))}
        for part in self.by_entry:
            value = sum((factor * values[unknown] for unknown, factor in part.terms.items()), Fraction(0))
            _put(found, part.active, part.active.sign * (value - self.program.cost[part.entry]))
        for own in self.unknowns:
            _put(found, own.active, values[own.unknown])
        return found


def _put(found: dict[int, Multipliers], active: _Active, value: Fraction) -> None:
    part = found[active.comparison]
    (part.a if active.is_a else part.b)[active.input] = max(value, Fraction(0))
