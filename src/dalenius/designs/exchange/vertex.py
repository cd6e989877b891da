"""Designs that are linear programs, solved exactly: the mechanism and the multipliers at the vertex to which doubles point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dalenius.designs.exchange.region import Exact, Region
from dalenius.designs.exchange.rows import BUDGET, PRIVACY, Terms
from dalenius.designs.exchange.secrets import SecretLaw
from dalenius.designs.lp import LinearProgram, LinearRow, value
from dalenius.designs.rational import writable
from dalenius.model.constraints import TotalVariation
from dalenius.model.constraints.secret_limits import HockeyStick
from dalenius.programs.highs import METHODS

ZERO, ONE = Fraction(0), Fraction(1)
LARGEST = 3000  # variables of a program that is tried
SHARE, LONGEST = 0.2, 100.0  # of the time that is left, which the solver may take, and seconds of that that count


@dataclass(eq=False)
class _Limit:
    """A limit on a sum of sizes: the row of the sum, and for each size the rows that are below it, with their signs."""

    law: SecretLaw
    number: int  # of its tangent
    total: int
    sides: list[list[tuple[int, int]]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Vertex:
    """The optimum, exactly.

    Attributes
    ----------
    q : exact entries of the variable on orbits
    value : Fraction
    prices : (rows of the region,), exactly
    tangents : list of (law, number of the tangent, weight, hint)
    """

    q: Exact
    value: Fraction
    prices: list[Fraction]
    tangents: list[tuple[SecretLaw, int, Fraction, list[Fraction]]]


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
    return Vertex(entries, attained, multipliers[: len(region.rows)], list(built.tangents(multipliers)))


def _proves(program: LinearProgram, multipliers: list[Fraction]) -> bool:
    """Whether multipliers have their signs, leave no cost below 0, and can be written."""
    signed = all(row.equal or m >= 0 for row, m in zip(program.rows, multipliers, strict=True))
    return signed and min(program.left(multipliers)) >= 0 and all(writable([abs(m)]) for m in multipliers)


def _is_linear(region: Region) -> bool:
    problem = region.problem
    plain = problem.adversary is None and problem.objective is None
    rational = all(
        rows.factor[0] == rows.factor[1] for j, rows in region.numbered.items() if j not in (BUDGET, PRIVACY)
    )
    linear = all(
        isinstance(law.limit, TotalVariation)
        or (isinstance(law.limit, HockeyStick) and law.limit.factor()[0] == law.limit.factor()[1])
        for law in region.secrets
    )
    return plain and rational and linear and PRIVACY not in region.numbered and not region.cones


def _size(region: Region) -> int:
    """How many variables the program has, without making any."""
    count, outputs = region.shape
    sizes = (
        outputs * (law.part.count if isinstance(law.limit, HockeyStick) else len(law.letters)) for law in region.secrets
    )
    return count * outputs + sum(sizes)


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
        for each in region.secrets:
            assert isinstance(each, SecretLaw)  # others are not linear
            for number, pieces in _pieces(each, region, outputs):
                self._limit(each, number, pieces)

    @property
    def program(self) -> LinearProgram:
        return LinearProgram(self.variables, self.cost, self.rows)

    def _limit(self, law: SecretLaw, number: int, pieces: list[tuple[Fraction, list[Terms]]]) -> None:
        """sum of share * size <= limit, each size at least each of its differences, and 0."""
        first = self.variables
        self.variables += len(pieces)
        made = _Limit(law, number, len(self.rows))
        self.limits.append(made)
        self.rows.append(
            LinearRow({first + k: share for k, (share, _) in enumerate(pieces)}, law.limit.limit[0], False)
        )
        for k, (_, sides) in enumerate(pieces):
            made.sides.append([(len(self.rows) + n, 1 - 2 * n) for n in range(len(sides))])
            self.rows += [LinearRow({**terms, first + k: -ONE}, ZERO, False) for terms in sides]

    def tangents(self, multipliers: list[Fraction]) -> Iterator[tuple[SecretLaw, int, Fraction, list[Fraction]]]:
        """Of each limit that has a multiplier: how much of it each difference has, by size."""
        for limit in self.limits:
            price, terms = multipliers[limit.total], self.rows[limit.total].terms
            if price:
                sums = (sum((sign * multipliers[r] for r, sign in sides), ZERO) for sides in limit.sides)
                hint = [x / (price * share) for x, share in zip(sums, terms.values(), strict=True)]
                of_all = isinstance(limit.law.limit, HockeyStick)  # each size has the same share, which is the line's
                yield limit.law, limit.number, price * next(iter(terms.values())) if of_all else price, hint


def _pieces(law: SecretLaw, region: Region, outputs: int) -> Iterator[tuple[int, list[tuple[Fraction, list[Terms]]]]]:
    """Of each tangent the sizes that its limit sums, each with its share and the differences that it is at least."""
    joint, folded = law.joint, region.folding.terms

    def difference(above: Mapping[int, Fraction], below: Mapping[int, Fraction], c: Fraction, y: int) -> Terms:
        return folded({(x, y): above.get(x, ZERO) - c * below.get(x, ZERO) for x in {*above, *below}})

    def both(terms: Terms) -> list[Terms]:
        return [terms, {i: -c for i, c in terms.items()}]

    given = [joint.given(s) for s in law.letters]
    if isinstance(law.limit, HockeyStick):
        c = law.limit.factor()[0]
        for number, (a, b) in enumerate(law.pairs):
            sides = (joint.support if a is None else given[a], joint.support if b is None else given[b])
            yield number, [(1 / c if b is None else ONE, [difference(*sides, c, y)]) for y in range(outputs)]
        return
    assert isinstance(law.limit, TotalVariation)
    parts = [
        [
            (ONE if law.limit.strong else joint.pi[s], both(difference(each, joint.support, ONE, y)))
            for y in range(outputs)
        ]
        for s, each in zip(law.letters, given, strict=True)
    ]
    if law.limit.strong:
        yield from enumerate(parts)
    else:
        yield 0, [piece for part in parts for piece in part]
