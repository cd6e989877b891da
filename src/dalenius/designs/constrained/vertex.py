"""Designs that are linear programs, solved exactly: the mechanism and the multipliers at the vertex to which doubles point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import csr_matrix

from dalenius.designs.constrained.region import Exact, Region
from dalenius.designs.constrained.rows import BUDGET, PRIVACY, Terms
from dalenius.designs.constrained.secrets import SecretLaw
from dalenius.designs.rational import TIGHT, LinearSystem, writable
from dalenius.model import MinDistortion
from dalenius.model.constraints import TotalVariation
from dalenius.model.constraints.secret_limits import HockeyStick

ZERO, ONE = Fraction(0), Fraction(1)
MOST = 1000  # unknowns of an exact system: more take longer than they are worth
LARGEST = 3000  # variables of a program that is tried
FEASIBLE = 1e-10
SHARE, LONGEST = 0.2, 100.0  # of the time that is left, which the solver may take, and seconds of that that count


@dataclass(frozen=True, eq=False)
class _Row:
    """sum of terms <= end, or = end, over the program's variables: the entries of a mechanism, then sizes of differences."""

    terms: Terms
    end: Fraction
    equal: bool


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
    program = _Program(region)
    found = program.in_doubles()
    if found is None:
        return None
    q, multipliers = program.primal(found), program.dual(found)
    if q is None or multipliers is None:
        return None
    entries = q[: program.size]
    value = sum((c * entries[i] for i, c in program.cost.items()), ZERO)
    bound = -sum((m * row.end for m, row in zip(multipliers, program.rows, strict=True) if m), ZERO)
    if bound != value or not region.meets(entries) or not writable([value]):
        return None
    return Vertex(entries, value, multipliers[: len(region.rows)], list(program.tangents(multipliers)))


def _is_linear(region: Region) -> bool:
    problem = region.problem
    plain = isinstance(problem, MinDistortion) and problem.adversary is None and problem.objective is None
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
    """A region as a linear program in rationals: the region's rows, the sums of laws, and those of linear limits."""

    def __init__(self, region: Region) -> None:
        problem, count, outputs = region.problem, *region.shape
        self.seconds = SHARE * min(region.seconds, LONGEST)
        self.size = self.variables = count * outputs
        law, cost = problem.exact_input_law(), problem.exact_cost()
        self.cost = region.folding.terms({(x, y): p * d for x, p in enumerate(law) for y, d in enumerate(cost[x])})
        self.rows = [_Row(row.terms, row.end, row.equal) for row in region.rows]
        self.rows += [_Row({x * outputs + y: ONE for y in range(outputs)}, ONE, True) for x in range(count)]
        self.limits: list[_Limit] = []
        for each in region.secrets:
            assert isinstance(each, SecretLaw)  # others are not linear
            for number, pieces in _pieces(each, region, outputs):
                self._limit(each, number, pieces)

    def _limit(self, law: SecretLaw, number: int, pieces: list[tuple[Fraction, list[Terms]]]) -> None:
        """sum of share * size <= limit, each size at least each of its differences, and 0."""
        first = self.variables
        self.variables += len(pieces)
        made = _Limit(law, number, len(self.rows))
        self.limits.append(made)
        self.rows.append(_Row({first + k: share for k, (share, _) in enumerate(pieces)}, law.limit.limit[0], False))
        for k, (_, sides) in enumerate(pieces):
            made.sides.append([(len(self.rows) + n, 1 - 2 * n) for n in range(len(sides))])
            self.rows += [_Row({**terms, first + k: -ONE}, ZERO, False) for terms in sides]

    def in_doubles(self) -> OptimizeResult | None:
        """What HiGHS says, at a vertex."""
        matrix = csr_matrix(
            (
                [float(c) for row in self.rows for c in row.terms.values()],
                (
                    [r for r, row in enumerate(self.rows) for _ in row.terms],
                    [i for row in self.rows for i in row.terms],
                ),
            ),
            shape=(len(self.rows), self.variables),
        )
        costs = np.zeros(self.variables)
        for i, c in self.cost.items():
            costs[i] = float(c)
        ends, equal = np.array([float(row.end) for row in self.rows]), self._equal
        found = linprog(
            costs,
            A_ub=matrix[~equal],
            b_ub=ends[~equal],
            A_eq=matrix[equal],
            b_eq=ends[equal],
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": FEASIBLE,
                "dual_feasibility_tolerance": FEASIBLE,
                "time_limit": self.seconds,
            },
        )
        return found if found.status == 0 and found.x is not None else None

    @property
    def _equal(self) -> np.ndarray:
        return np.array([row.equal for row in self.rows], dtype=bool)

    def primal(self, found: OptimizeResult) -> Exact | None:
        """The point on the rows that seem to be met, whose variables are 0 where they seem to be."""
        used = np.flatnonzero(found.x > TIGHT).tolist()
        place = {i: k for k, i in enumerate(used)}
        room = np.zeros(len(self.rows))
        room[~self._equal] = found.ineqlin.residual
        system = LinearSystem(len(used))
        for row, slack in zip(self.rows, room.tolist(), strict=True):
            if slack <= TIGHT:
                system.add({place[i]: c for i, c in row.terms.items() if i in place}, row.end)
        solved = system.solved() if len(used) <= MOST else None
        if solved is None:
            return None
        point = [ZERO] * self.variables
        for i, x in zip(used, solved, strict=True):
            point[i] = x
        return point

    def dual(self, found: OptimizeResult) -> list[Fraction] | None:
        """The multipliers that are 0 where they seem to be, and leave no cost at variables that are used; None if they are invalid."""
        raw, equal = np.zeros(len(self.rows)), self._equal
        raw[~equal], raw[equal] = -found.ineqlin.marginals, -found.eqlin.marginals
        kept = [r for r, row in enumerate(self.rows) if row.equal or raw[r] > TIGHT]
        place = {r: k for k, r in enumerate(kept)}
        columns: dict[int, Terms] = {}
        for r in kept:
            for i, c in self.rows[r].terms.items():
                columns.setdefault(i, {})[place[r]] = c
        system = LinearSystem(len(kept))
        for i in np.flatnonzero(found.lower.marginals <= TIGHT).tolist():
            system.add(columns.get(i, {}), -self.cost.get(i, ZERO))
        solved = system.solved() if len(kept) <= MOST else None
        if solved is None or any(solved[k] < 0 for k, r in enumerate(kept) if not self.rows[r].equal):
            return None
        left = (
            self.cost.get(i, ZERO) + sum((c * solved[k] for k, c in columns.get(i, {}).items()), ZERO)
            for i in range(self.variables)
        )
        if any(x < 0 for x in left) or not all(map(_short, solved)):
            return None
        multipliers = [ZERO] * len(self.rows)
        for r, m in zip(kept, solved, strict=True):
            multipliers[r] = m
        return multipliers

    def tangents(self, multipliers: list[Fraction]) -> Iterator[tuple[SecretLaw, int, Fraction, list[Fraction]]]:
        """Of each limit that has a multiplier: how much of it each difference has, by size."""
        for limit in self.limits:
            price, terms = multipliers[limit.total], self.rows[limit.total].terms
            if price:
                sums = (sum((sign * multipliers[r] for r, sign in sides), ZERO) for sides in limit.sides)
                hint = [x / (price * share) for x, share in zip(sums, terms.values(), strict=True)]
                of_all = isinstance(limit.law.limit, HockeyStick)  # each size has the same share, which is the line's
                yield limit.law, limit.number, price * next(iter(terms.values())) if of_all else price, hint


def _short(value: Fraction) -> bool:
    return writable([abs(value)])


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
