"""The mechanisms that meet all rows and cones of a design: in doubles for its programs, exactly for what is handed out."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from dalenius.designs.exchange.interior import Inside, Outside, Strict, cheapest, inside, raising, strictly
from dalenius.designs.exchange.rows import Cone, Folding, Row, cones_of, numbered_rows, rows_of
from dalenius.designs.exchange.secrets import ToldLaw, as_matrix, told_laws
from dalenius.designs.rational import AffineHull, mixtures, rational_rows
from dalenius.exact import few_digits, sum_of_ratios
from dalenius.information.arrays import Floats, Integers
from dalenius.model.constraints import Rows
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.programs import ConstrainedUpdate
from dalenius.programs.demands import ConeRows, Demands, Levels, LinearRows, cone_interior
from dalenius.programs.secrets import Secrets
from dalenius.programs.solvers import order_of
from dalenius.reduction import Orbits, orbits_of
from dalenius.search import Clock, Run

MIXED = 0.1  # share of what is inside the rows that a mechanism inside the cones takes on, at most
NOTHING = 1e-8  # room, or excess, that a solver may only seem to see


def inside_cones(
    rows: LinearRows,
    cones: Sequence[ConeRows],
    found: Inside,
    order: Sequence[str],
    secrets: Secrets,
    tied: TiedEntries,
) -> Inside | Outside | None:
    """A mechanism inside rows, cones and limits, from one inside the rows; None if no solver answers.

    Or multipliers that say there is none: hardly, where hardly any room is left or missing, so that they may be wrong.
    """
    told = secrets.excess(tied.expand(found.q))
    if all(cone.room(found.q) > NOTHING for cone in cones) and told < -NOTHING:
        return found
    answer = cone_interior(rows, cones, found.support, order, secrets, tied)
    if answer is None:
        return None
    if answer.excess > -NOTHING:
        return Outside(answer.prices, answer.cones, answer.tangents)
    worst = min([-told, *(cone.room(found.q) for cone in cones)])
    share = MIXED * min(1.0, -answer.excess / (-answer.excess - worst)) if worst < 0.0 else MIXED
    return replace(found, q=(1.0 - share) * answer.q + share * found.q)


Exact = list[Fraction]
FINEST = 10**18  # shares are multiples of 1 / FINEST
EXACTLY = 0.3  # share of the time that is left which exact numbers may take of all rows
DIGITS = 200  # of multipliers of which doubles have too few
CONES = 60  # times that a share is doubled for the sake of the cones
TIES = 1e-14  # costs of outputs that differ by less, relatively, are equal


class Region:
    """Mechanisms on the orbits of a design's inputs that meet its linear rows and its cones.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
    orbits : Orbits
        Of symmetries that leave the constraints as they are.
    search : Run
        Its clock, and who solves conic programs.

    Attributes
    ----------
    tied : TiedEntries
        Which entries of a mechanism on orbits are one number.
    numbered : dict of number -> Rows
        The problem's own rows, by constraint.
    rows, cones : what they must meet, exactly, on orbits
    linear, cone_rows : the same in doubles
    """

    def __init__(self, problem: DesignProblem, orbits: Orbits, search: Run) -> None:
        self.problem, self.orbits, self._search = problem, orbits, search
        self.tied: TiedEntries = problem.mechanism_class.tied(*orbits.cost.shape)
        self.shape = self.tied.rows, self.tied.outputs
        self.folding = Folding(orbits.orbit, self.tied.numbers)
        self.numbered: dict[int, Rows] = numbered_rows(problem)
        self.rows: list[Row] = rows_of(self.numbered, self.folding)
        self.cones: list[Cone] = cones_of(problem, self.folding)
        self.linear = in_doubles(self.rows, self.shape[0] * self.shape[1])
        self.secrets: list[ToldLaw] = told_laws(problem)
        self.told = Secrets([law.part for law in self.secrets])
        self.cone_rows = tuple(self._cone_in_doubles(cone) for cone in self.cones)

    def _cone_in_doubles(self, cone: Cone) -> ConeRows:
        matrix = np.zeros((len(cone.parts), self.shape[0] * self.shape[1]))
        for k, (terms, _) in enumerate(cone.parts):
            for i, c in terms.items():
                matrix[k, i] = float(c)
        return ConeRows(matrix, np.array([float(constant) for _, constant in cone.parts]))

    @property
    def clock(self) -> Clock:
        return self._search.clock

    # ------------------------------------------------------------ what there is

    @cached_property
    def found(self) -> Inside | Outside | None:
        """A mechanism inside the rows and cones; or multipliers that say there is none, which those of cones are to prove; or None."""
        found = self._within_rows
        if not isinstance(found, Inside) or not (self.cone_rows or self.secrets):
            return found
        if self.secrets and self.constant is not None:  # it reveals nothing
            near = self.told.towards(self.expanded(found.q))
            found = replace(found, q=(1.0 - near) * self.matrix(self.constant) + near * found.q)
            if not self.cone_rows:
                return found
        outside = inside_cones(self.linear, self.cone_rows, found, order_of(self._search.solver), self.told, self.tied)
        if (
            not isinstance(outside, Inside) and self.constant is not None
        ):  # hardly any room, and here is what meets everything
            return replace(found, q=self.matrix(self.constant))
        return self._lifted(outside, found) if isinstance(outside, Outside) else outside

    @property
    def _within_rows(self) -> Inside | Outside | None:
        """Feasibility by the rows alone, in exact numbers, where there is no mechanism of which doubles see that it meets them."""
        exactly = self._exactly
        if isinstance(exactly, Strict):
            support = np.array(exactly.support).reshape(self.shape)
            return Inside(self.matrix(exactly.q), support, np.array(exactly.tight, dtype=bool))
        return self._in_doubles if exactly is None and isinstance(self._in_doubles, Inside) else exactly

    @cached_property
    def _in_doubles(self) -> Inside | Outside | None:
        return inside(self.linear, self.shape, self.clock)

    @cached_property
    def _exactly(self) -> Strict | Outside | None:
        """A mechanism inside the rows, or why there is none, exactly; None where doubles do, or it would take too long."""
        found = self._in_doubles
        if isinstance(found, Outside) and self._excluded(found):  # clearly, and by few rows
            return found
        if isinstance(found, Inside):
            hull = self._hull_of(found)
            if hull is not None and self._meets_rows(hull.near(found.q.reshape(-1))):
                return None
        exactly = strictly(self.rows, self.shape, self.clock.part(EXACTLY))
        if not isinstance(exactly, list):
            return exactly
        if not self._excluded(
            outside := _shown(exactly)
        ):  # hardly any row is missed by more than the rounding of e^epsilon
            exactly = strictly(self._looser, self.shape, self.clock.part(EXACTLY))
            outside = _shown(exactly) if isinstance(exactly, list) else outside
        return outside if self._excluded(outside) else None

    @cached_property
    def _looser(self) -> list[Row]:
        """The rows as bounds may use them: what no mechanism meets is shown of these."""
        first = (row.members[0] for row in self.rows)
        listed = (self.folding.terms(self.numbered[j].above[r]) for j, r in first)
        return [replace(row, terms=terms) for row, terms in zip(self.rows, listed, strict=True)]

    def _excluded(self, outside: Outside) -> bool:
        """True if these multipliers of the rows prove, exactly, that there is no mechanism."""
        summed, spent = [Fraction(0)] * (self.shape[0] * self.shape[1]), Fraction(0)
        for row, price in zip(self._looser, map(Fraction, outside.prices.tolist()), strict=True):
            spent += price * row.end
            for i, c in row.terms.items() if price else ():
                summed[i] += price * c
        least = (min(summed[i : i + self.shape[1]]) for i in range(0, len(summed), self.shape[1]))
        return sum(least, Fraction(0)) > spent

    def _lifted(self, outside: Outside, within: Inside) -> Outside | None:
        """Multipliers of rows and cones with those that keep entries away which are 0 in every mechanism."""
        raised = raising(self.linear, within.support, Clock(self.clock.left))
        if raised is None:
            return None
        demands = Demands(self.linear, within.support, within.q, self.cone_rows, secrets=self.told)
        program = ConstrainedUpdate([], [], Levels.of([]), np.zeros(self.orbits.cost.shape), demands, tied=self.tied)
        cones = {f"cone{k}": both for k, both in enumerate(outside.cones)}
        start = program.start()[1]
        tangents = self.told.restored(outside.tangents, start)
        lift = program.lift_needed(start | {"prices": outside.prices} | cones | tangents)
        return Outside(outside.prices + lift * raised, outside.cones, outside.tangents)

    @property
    def inner(self) -> Inside:
        """The mechanism inside; only where there is one."""
        assert isinstance(self.found, Inside)
        return self.found

    @cached_property
    def raised(self) -> Floats | None:
        """Multipliers of the rows that raise the entries which are 0 in every mechanism, at no cost; None if none were found."""
        return raising(self.linear, self.inner.support, Clock(self.clock.left))

    def demands(self, anchor: Floats) -> Demands:
        """Demands for the programs, with a mechanism that meets everything."""
        return Demands(self.linear, self.inner.support, anchor, self.cone_rows, self.inner.tight, self.told)

    # ------------------------------------------------------------ exactly

    @cached_property
    def constant(self) -> Exact | None:
        """A mechanism that releases nothing and meets everything exactly; None if none was found."""
        count, outputs = self.shape
        if self.tied.across_outputs:
            q = [Fraction(1, outputs)] * (count * outputs)
            return q if self.meets(q) else None
        folded = self._folded
        found = inside(in_doubles(folded, outputs), (1, outputs), self.clock)
        if isinstance(found, Inside):
            tight = [(row.terms, row.end) for row, holds in zip(folded, found.tight, strict=True) if holds]
            law = ({y: Fraction(1) for y in range(outputs)}, Fraction(1))
            hull = AffineHull.of([law, *tight], np.flatnonzero(found.support).tolist(), first=found.q.reshape(-1))
            q = [] if hull is None else hull.near(found.q.reshape(-1)) * count
            if q and self.meets(q):
                return q
        exactly = strictly(folded, (1, outputs), self.clock)
        return exactly.q * count if isinstance(exactly, Strict) and self.meets(exactly.q * count) else None

    @cached_property
    def _folded(self) -> list[Row]:
        """Rows for the one law of a constant mechanism."""
        return [Row(_by_output(row.terms, self.shape[1]), row.end, row.equal) for row in self.rows]

    def cheapest_constant(self, cost: Floats) -> Exact | None:
        """A mechanism that releases nothing and meets everything exactly, of little cost (rows, outputs); None if none was found."""
        (count, outputs), deep = self.shape, self.constant
        if deep is None or self.tied.across_outputs:
            return deep
        rows = in_doubles(self._folded, outputs)
        found = cheapest(rows, cost.sum(axis=0)[None], self.clock)
        own = deep[:outputs]
        tight = [(row.terms, row.end) for row in self._folded if not row.excess(own)]
        law = ({y: Fraction(1) for y in range(outputs)}, Fraction(1))
        used = [y for y, p in enumerate(own) if p]
        hull = None if found is None else AffineHull.of([law, *tight], used, first=found)
        if found is None or hull is None:
            return deep
        near, share = hull.near(found), Fraction(0)
        while share < 1:  # with as little as is needed of the one that is deep within
            q = [(1 - share) * a + share * b for a, b in zip(near, own, strict=True)] * count
            if self.meets(q):
                return q
            share = 8 * share or Fraction(1, 10**12)
        return deep

    @cached_property
    def _hull(self) -> AffineHull | None:
        return self._hull_of(self.inner)

    def _hull_of(self, found: Inside) -> AffineHull | None:
        """The equations, those that follow from inequalities too, with the sums of the rows."""
        count, outputs = self.shape
        sums = [({x * outputs + y: Fraction(1) for y in range(outputs)}, Fraction(1)) for x in range(count)]
        tight = [(row.terms, row.end) for row, holds in zip(self.rows, found.tight, strict=True) if holds]
        entries = np.flatnonzero(found.support).tolist()
        return AffineHull.of([*sums, *tight], entries, first=found.q.reshape(-1))

    @cached_property
    def anchor(self) -> Exact | None:
        """A mechanism that meets everything exactly, with room wherever there is any; None if none was found."""
        return next(filter(self.meets, self._anchors()), None)

    def _anchors(self) -> Iterator[Exact]:
        """The one inside, in thirteen digits; where these are too few the exact one; the constant one, which reveals nothing."""
        if self._hull is not None:
            yield self._hull.near(self.inner.q.reshape(-1))
        if isinstance(self._exactly, Strict):
            yield self._exactly.q
        if self.constant is not None:
            yield self.constant

    def meets(self, q: Exact) -> bool:
        """True if these entries are a mechanism that meets every row and cone."""
        return self._meets_rows(q) and self._within(q)

    def _meets_rows(self, q: Exact) -> bool:
        outputs = self.shape[1]
        each = (q[x : x + outputs] for x in range(0, len(q), outputs))
        laws = all(sum_of_ratios(map(Fraction.as_integer_ratio, law)) == 1 for law in each) and min(q) >= 0
        excesses = ((row.excess(q), row.equal) for row in self.rows)
        return laws and all(e == 0 if equal else e <= 0 for e, equal in excesses)

    def _within(self, q: Exact) -> bool:
        """True if these entries meet the cones and the limits about secrets."""
        if not all(cone.met_by(q) for cone in self.cones):
            return False
        if not self.secrets:
            return True
        mechanism = as_matrix(self._full(q))
        return all(law.met_by(mechanism) for law in self.secrets)

    def is_constant(self, q: Exact) -> bool:
        """True if all rows are one, so that nothing leaks."""
        outputs = self.shape[1]
        rows = self.tied.expand_rows([q[x : x + outputs] for x in range(0, len(q), outputs)])
        return all(row == rows[0] for row in rows)

    def choosing(self, cost: Floats) -> Exact:
        """The mechanism of least cost that there would be without rows, cones and limits: the best output, always."""
        chosen = self.tied.sums(cost).argmin(axis=1)
        return [Fraction(int(y == best)) for best in chosen.tolist() for y in range(self.shape[1])]

    def exact(self, q: Floats, anchor: Exact) -> Exact | None:
        """A mechanism that meets everything near one in doubles: on the equations, mixed with as little of the anchor as is needed."""
        if self._hull is None:
            return None
        near, share = self._hull.near(q.reshape(-1)), Fraction(0)
        for have, spare in (
            *self._over(near, anchor),
            *((-value, room) for value, room in zip(near, anchor, strict=True)),
        ):
            if have > 0:
                share = max(share, have / (have + spare) if spare > 0 else Fraction(1))
        if self.secrets:
            told = self.told.share(self.expanded(self.matrix(near)), self.expanded(self.matrix(anchor)))
            share = max(share, Fraction(told))
        share = Fraction(math.ceil(share * FINEST), FINEST)
        for _ in range(CONES):
            mixed = near if not share else [(1 - share) * a + share * b for a, b in zip(near, anchor, strict=True)]
            if share == 1 or self._within(mixed):
                break
            share = min(max(2 * share, Fraction(1, 10**12)), Fraction(1))
        return mixed if self.meets(mixed) else None

    def _over(self, near: Exact, anchor: Exact) -> list[tuple[Fraction, Fraction]]:
        """For every inequality that is broken: by how much, and the anchor's room."""
        broken = ((row, row.excess(near)) for row in self.rows if not row.equal)
        return [(have, -row.excess(anchor)) for row, have in broken if have > 0]

    def matrix(self, q: Exact) -> Floats:
        """In doubles: (rows, outputs)."""
        return np.array([float(entry) for entry in q]).reshape(self.shape)

    def own_rows(self, q: Exact) -> list[list[Fraction]]:
        """The rows of the problem's class on its own inputs."""
        laws = self._full(q)
        return [list(row) for row in self.problem.mechanism_class.rows_of_variable(laws, len(laws))]

    def _full(self, q: Exact) -> list[tuple[Fraction, ...]]:
        """The mechanism on all inputs."""
        listed = [q[x : x + self.shape[1]] for x in range(0, len(q), self.shape[1])]
        on_orbits = self.tied.expand_rows(listed)
        return [on_orbits[k] for k in self.orbits.orbit.tolist()]

    def expanded(self, q: Floats) -> Floats:
        """A mechanism (orbits, outputs) of the variable's entries."""
        return self.tied.expand(q)


class FreeRegion(Region):
    """The mechanisms of a class that treat the inputs of an orbit alike, within a budget of distortion if there is one.

    Attributes
    ----------
    least : (rows, outputs)
        A mechanism of least distortion, of the variable's entries.
    """

    def __init__(self, problem: DesignProblem, orbits: Orbits, search: Run) -> None:
        super().__init__(problem, orbits, search)
        self._costs = self.tied.sums(orbits.cost)
        self.least = self.tied.cheapest(self._costs)

    @property
    def found(self) -> Inside:
        """The anchor: every entry may have mass."""
        assert self.anchor is not None
        return Inside(self.matrix(self.anchor), np.ones(self.shape, dtype=bool), np.zeros(len(self.rows), dtype=bool))

    @property
    def raised(self) -> Floats:
        """No entry is 0 in every mechanism."""
        return np.zeros(len(self.rows))

    @cached_property
    def silent(self) -> Exact:
        """The constant mechanism of least distortion, whether or not it meets the budget."""
        return [entry for row in self.tied.constant(self._costs) for entry in row]

    @cached_property
    def constant(self) -> Exact | None:
        """The same, if it meets the budget."""
        return self.silent if self.meets(self.silent) else None

    def cheapest_constant(self, cost: Floats) -> Exact | None:
        """The same: the cost is that of the distortion."""
        return self.constant

    @cached_property
    def anchor(self) -> Exact | None:
        """The constant mechanism, mixed with as little of one of least distortion as the budget asks; it leaks less (convexity)."""
        return self.constant or self.exact(self.matrix(self.silent), self.silent)

    def exact(self, q: Floats, anchor: Exact) -> Exact:
        """A mechanism near q, mixed with as little of one of least distortion as makes the exact rows meet the budget.

        It is exactly as symmetric as the problem, for proofs know symmetries of a channel where they are exact: the mean of a
        mechanism over symmetries leaks no more (convexity), and distorts as much.
        """
        if np.array_equal(q, self.matrix(self.silent)) and self.constant is not None:
            return self.silent
        least, share = self.tied.cheapest(self._costs, q, within=TIES), 0.0
        for have, most in zip(self.linear.excess(q), self.linear.excess(least), strict=True):
            share = min(have / (have - most), 1.0) if have > 0.0 and have > most else 0.0
        for mixed in mixtures(q, least, share):
            made = self._symmetric(rational_rows(mixed))
            if self.meets(made):
                return made
        return [Fraction(int(entry)) for entry in self.least.reshape(-1)]

    def _symmetric(self, rows: list[list[Fraction]]) -> Exact:
        """The mean over the symmetries that move outputs, of which each entry of the variable has an orbit."""
        orbit, entries = self._entry_orbits.tolist(), [entry for row in rows for entry in row]
        sums, sizes = defaultdict[int, Fraction](Fraction), Counter(orbit)
        for k, entry in zip(orbit, entries, strict=True):
            sums[k] += entry
        means = {k: total / sizes[k] for k, total in sums.items()}
        return [means[k] for k in orbit]

    @cached_property
    def _entry_orbits(self) -> Integers:
        """Of the entries of the class's variable; a symmetry that the class does not have moves none."""
        moves = [self.tied.moved(symmetry.inputs, symmetry.outputs) for symmetry in self.orbits.moving_outputs]
        return orbits_of(self.tied.rows * self.tied.outputs, [move for move in moves if move is not None])


def in_doubles(rows: Sequence[Row], entries: int) -> LinearRows:
    """Rows for programs."""
    listed = [(r, i, float(c)) for r, row in enumerate(rows) for i, c in row.terms.items()]
    r, i, c = map(list, zip(*listed, strict=True)) if listed else ([], [], [])
    matrix = csr_matrix((c, (r, i)), shape=(len(rows), entries))
    ends = np.array([float(row.end) for row in rows])
    return LinearRows(matrix, ends, np.array([row.equal for row in rows], dtype=bool))


def _by_output(terms: Mapping[int, Fraction], outputs: int) -> dict[int, Fraction]:
    """Summed over the rows of a constant mechanism."""
    found: dict[int, Fraction] = {}
    for i, c in terms.items():
        found[i % outputs] = found.get(i % outputs, Fraction(0)) + c
    return found


def _shown(exactly: list[Fraction]) -> Outside:
    """Multipliers of at most 1, which doubles can tell, in digits that can be written."""
    size = Fraction(10) ** len(str(int(max(map(abs, exactly)))))
    return Outside(np.array([few_digits(price / size, DIGITS) for price in exactly], dtype=object))
