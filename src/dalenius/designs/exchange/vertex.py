"""Designs that are linear programs, solved exactly: the mechanism and the multipliers at the vertex to which doubles point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby

from dalenius.designs.exchange.region import Exact, Region
from dalenius.designs.exchange.rows import BUDGET, PRIVACY
from dalenius.designs.exchange.secrets import ToldLaw
from dalenius.designs.lp import LinearProgram, LinearRow, value
from dalenius.designs.rational import writable
from dalenius.programs.highs import METHODS
from dalenius.programs.secrets import Difference, Tangent

ZERO, ONE = Fraction(0), Fraction(1)
LARGEST = 3000  # variables of a program that is tried
SHARE, LONGEST = 0.2, 100.0  # of the time that is left, which the solver may take, and seconds of that that count


@dataclass(eq=False)
class _Limit:
    """A limit on a sum of sizes: the row of the sum, and for each size the rows that are below it, with their signs."""

    law: int
    tangent: int
    total: int
    shared: bool  # whether each size has the same share, which is the line's
    sides: list[list[tuple[int, int]]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Vertex:
    """The optimum, exactly.

    Attributes
    ----------
    q : exact entries of the variable on orbits
    value : Fraction
    prices : (rows of the region,), exactly
    tangents : tuple of (number of the law, number of the tangent, weight, hint), exactly
    """

    q: Exact
    value: Fraction
    prices: list[Fraction]
    tangents: tuple[Tangent, ...]


def vertex_of(region: Region) -> Vertex | None:
    """The exact optimum of a design with linear rows and limits alone; None where it is another, or doubles do not lead there."""
    if not _is_linear(region) or _size(region) > LARGEST:
        return None
    built = _Program(region)
    program = built.program
    found = program.in_doubles(region.clock.slice(SHARE * min(region.clock.remaining, LONGEST)), methods=METHODS[1:])
    if found is None:
        return None
    q, multipliers = program.primal(found), program.dual(found)
    if q is None or multipliers is None or not _proves(program, multipliers):
        return None
    entries, attained = q[: built.size], value(program.cost, q)
    bound = -sum((m * row.end for m, row in zip(multipliers, program.rows, strict=True) if m), ZERO)
    if bound != attained or not region.meets(entries) or not writable([attained]):
        return None
    return Vertex(entries, attained, multipliers[: len(region.rows)], tuple(built.tangents(multipliers)))


def _proves(program: LinearProgram, multipliers: list[Fraction]) -> bool:
    """True if multipliers have their signs, leave no cost below 0, and can be written."""
    signed = all(row.equal or m >= 0 for row, m in zip(program.rows, multipliers, strict=True))
    return signed and min(program.left(multipliers)) >= 0 and all(writable([abs(m)]) for m in multipliers)


def _is_linear(region: Region) -> bool:
    problem = region.problem
    plain = problem.adversary is None and problem.objective is None
    rational = all(
        rows.factor[0] == rows.factor[1] for j, rows in region.numbered.items() if j not in (BUDGET, PRIVACY)
    )
    linear = all(_differences(law) is not None for law in region.secrets)
    return plain and rational and linear and PRIVACY not in region.numbered and not region.cones


def _differences(law: ToldLaw) -> list[Difference] | None:
    """Those whose sizes the limit sums; None where it is not linear."""
    return law.part.differences([sum(row, ZERO) for row in law.masses])


def _size(region: Region) -> int:
    """Number of variables of the program, without making any."""
    count, outputs = region.shape
    return count * outputs + sum(outputs * len(_differences(law) or ()) for law in region.secrets)


class _Program:
    """A region as a linear program: the region's rows, the sums of laws, and those of linear limits.

    Its variables are the entries of a mechanism, then sizes of differences.
    """

    def __init__(self, region: Region) -> None:
        problem, count, outputs = region.problem, *region.shape
        self.size = self.variables = count * outputs
        law, cost = problem.exact_input_law(), problem.exact_cost()
        self.cost = region.folding.terms({(x, y): p * d for x, p in enumerate(law) for y, d in enumerate(cost[x])})
        self.rows = [LinearRow(row.terms, row.end, row.equal) for row in region.rows]
        self.rows += [LinearRow({x * outputs + y: ONE for y in range(outputs)}, ONE, True) for x in range(count)]
        self.limits: list[_Limit] = []
        for k, told in enumerate(region.secrets):
            for tangent, own in groupby(_differences(told) or (), lambda each: each.tangent):
                self._limit(k, tangent, told, list(own), region)

    @property
    def program(self) -> LinearProgram:
        return LinearProgram(self.variables, self.cost, self.rows)

    def _limit(self, number: int, tangent: int, law: ToldLaw, differences: list[Difference], region: Region) -> None:
        """sum of share * size <= limit, each size at least each of its differences, and 0."""
        first, outputs, given = self.variables, region.shape[1], [_scaled(row) for row in law.masses]
        own = [sum(column, ZERO) for column in zip(*law.masses, strict=True)]
        limit = _Limit(number, tangent, len(self.rows), not differences[0].both)
        self.limits.append(limit)
        shares = [each.share for each in differences for _ in range(outputs)]
        self.rows.append(LinearRow({first + k: share for k, share in enumerate(shares)}, law.limit.limit[0], False))
        for each in differences:
            laws = [(own if s is None else given[s], c) for s, c in each.taken.items()]
            mean = [sum((c * row[x] for row, c in laws), ZERO) for x in range(len(own))]
            for y in range(outputs):
                terms = region.folding.terms({(x, y): c for x, c in enumerate(mean)})
                sides = [terms, {i: -c for i, c in terms.items()}][: 1 + each.both]
                limit.sides.append([(len(self.rows) + n, 1 - 2 * n) for n in range(len(sides))])
                self.rows += [LinearRow({**side, self.variables: -ONE}) for side in sides]
                self.variables += 1

    def tangents(self, multipliers: list[Fraction]) -> Iterator[Tangent]:
        """Of each limit that has a multiplier: how much of it each difference has, by size."""
        for limit in self.limits:
            price, terms = multipliers[limit.total], self.rows[limit.total].terms
            if price:
                sums = (sum((sign * multipliers[r] for r, sign in sides), ZERO) for sides in limit.sides)
                hint = [x / (price * share) for x, share in zip(sums, terms.values(), strict=True)]
                weight = price * next(iter(terms.values())) if limit.shared else price
                yield limit.law, limit.tangent, weight, hint


def _scaled(masses: Sequence[Fraction]) -> list[Fraction]:
    total = sum(masses, ZERO)
    return [p / total for p in masses]
