"""A design with constraints, from its rows to an exact mechanism: inside the rows, within the limits, then the exchange itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dalenius.audits import Audit
from dalenius.designs.claims import need_workable
from dalenius.designs.constrained.bound import ConstrainedBound
from dalenius.designs.constrained.goals import OWN, Goal, Leakages, Place, Watcher, watchers_of
from dalenius.designs.constrained.interior import Inside, Outside
from dalenius.designs.constrained.loop import Found, Rounds
from dalenius.designs.constrained.region import Exact, Region
from dalenius.designs.constrained.rows import BUDGET, numbered_rows
from dalenius.designs.constrained.vertex import Vertex, vertex_of
from dalenius.designs.exchange.audits import distinct
from dalenius.designs.exchange.bound import closed
from dalenius.designs.oracle import EntropyOracle, Prior, certificate_priors
from dalenius.designs.terms import Terms
from dalenius.evidence import Certificate
from dalenius.information.arrays import Integers
from dalenius.model.adversaries import EntropyAtLeast
from dalenius.model.constraints import LeakageLimit, SecondOrderCone, SecretLeakageLimit, SecretLimit
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.outcome import Termination
from dalenius.programs.base import Tally
from dalenius.reduction import Orbits
from dalenius.search import Run

Listed = Mapping[tuple[int, int], Fraction]


class Invariance:
    """The constraints of a design as sets of rows and cones, to be compared with themselves after a move; its further terms, too."""

    def __init__(self, problem: DesignProblem) -> None:
        terms = Terms.of(problem)
        limited = [c.adversary for c in problem.own_constraints if isinstance(c, LeakageLimit)]
        self.entropies = all(isinstance(each, EntropyAtLeast) for each in (*limited, *terms.adversaries.values()))
        self.rows: list[tuple[Listed, Hashable]] = [
            (listed, (rows.equal, end))
            for j, rows in numbered_rows(problem).items()
            if j != BUDGET  # whether that is invariant, whoever looks for symmetries asks of costs
            for listed, end in zip(rows.below, rows.ends, strict=True)
        ]
        law = problem.exact_input_law()
        for j, distortion in terms.distortions.items():
            cost = distortion.exact_cost() if j else []  # of the first whoever looks for symmetries asks, too
            self.rows.append(({(x, y): law[x] * d for x, row in enumerate(cost) for y, d in enumerate(row)}, j))
        self.about_secrets = any(
            isinstance(constraint, SecretLimit | SecretLeakageLimit) for constraint in problem.own_constraints
        )
        self.cones = [constraint for constraint in problem.own_constraints if isinstance(constraint, SecondOrderCone)]
        self._still = self._moved(None, None)

    def kept_by(self, inputs: Integers, outputs: Integers) -> bool:
        """Whether every constraint is again one after inputs[x] has taken the place of x, and outputs[y] that of y."""
        return (
            self.entropies and not self.about_secrets and self._moved(inputs.tolist(), outputs.tolist()) == self._still
        )

    def _moved(self, inputs: list[int] | None, outputs: list[int] | None) -> Counter[Hashable]:
        def terms(listed: Listed) -> frozenset[tuple[int, int, Fraction]]:
            return frozenset(
                (x if inputs is None else inputs[x], y if outputs is None else outputs[y], c)
                for (x, y), c in listed.items()
                if c
            )

        found = Counter[Hashable]((terms(listed), key) for listed, key in self.rows)
        for cone in self.cones:
            parts = [(part.summed, part.offset) for part in (cone.bound, *cone.norm)]
            keyed = [(terms(listed), offset) for listed, offset in parts]
            found[keyed[0], frozenset(Counter(keyed[1:]).items())] += 1
        return found


WITHIN = 0.3  # share of the time after which no better mechanism within the limits is looked for
SEARCHING = 0.5  # share of the time after which what there is gets audited
MIXED = 0.1  # share of what is below the limits that is given for being inside the rows
DEEP = 0.1  # relative gap of the mechanism that is farthest within the limits
SEARCH_GAP = 0.4  # share of the gap that the search may leave; the rest is the audits'
AUDIT_GAP = 0.4
AUDITING = 0.45  # share of the time that is left which audits may take: their proofs take as long
GIVEN_AWAY = 0.3  # share of the gap that a mechanism may attain more so that its audits are easier
ROUNDING = 1e-11  # nats by which an audit's upper bound may grow when it is written and checked
ATTEMPTS, AUDITED = 6, 4
SMALL, LARGE = 1e-7, 0.3  # shares of the limits that may be left to audits at first
WIDER, WIDEST = (
    1.5,
    0.9,
)  # how much wider than the last one an audit may be; the largest share of the limits that is left to one


@dataclass(frozen=True, eq=False)
class Kept:
    """A mechanism that can be handed out.

    Attributes
    ----------
    q : exact entries of the variable on orbits
    rows : of the problem's class
    audits : dict of watcher's place -> Audit, which have run
    attained : float
    constant : bool
        Whether all rows are one, so that nothing leaks.
    """

    q: Exact
    rows: list[list[Fraction]]
    audits: Mapping[Place, Audit]
    attained: float
    constant: bool
    found_by: str = "start"


class ConstrainedExchange:
    """A running exchange for a design with constraints. Its bound and its mechanism are valid (up to rounding) when `run` returns.

    First a mechanism as far inside the rows and cones as there is; multipliers that prove that there is none end the work. Then, where
    leakage is limited, one as far below the limits as there is: the least excess, itself an exchange, whose bound above 0 proves that
    there is none. What the exchange for the design's own objective finds is mixed with it until everything is met exactly.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
    search : Run

    Attributes
    ----------
    region : Region
    terms : Terms
        Of what is minimised.
    bound : ConstrainedBound
    conflict : ConstrainedBound or None
        Multipliers which prove that no mechanism meets everything.
    kept : list of Kept
        Mechanisms to hand out, the best last.
    rounds : int
    vertex : Vertex or None
        The optimum itself, where it is that of a linear program and known exactly.

    Raises
    ------
    DaleniusError
        If the numbers are beyond what doubles can work with, or the constraints have too many terms.
    """

    def __init__(self, problem: DesignProblem, search: Run) -> None:
        need_workable(problem.distortions)
        self.problem, self.search = problem, search
        self.orbits = Orbits.of(problem, Invariance(problem).kept_by)
        self.region = Region(problem, self.orbits, search)
        self.terms = Terms.of(problem)
        self.terms.need_workable()
        self.watchers: list[Watcher] = watchers_of(problem, self.orbits, search.rng)
        self.bound = ConstrainedBound()
        self.conflict: ConstrainedBound | None = None
        self.kept = list[Kept]()
        self.tally, self.rounds = Tally(), 0
        self.vertex: Vertex | None = None

    @property
    def gap(self) -> float:
        return self.search.limits.gap

    @property
    def limited(self) -> list[Watcher]:
        """Those to whom only so much may leak."""
        return [watcher for watcher in self.watchers if watcher.limit is not None]

    def recall(self, certificate: Certificate) -> None:
        """Begin with the priors of a certificate of a design that differs in its budget only. What does not fit is left out."""
        for watcher in self.watchers:
            if watcher.place == OWN and isinstance(watcher.oracle, EntropyOracle):
                placed = [Prior(*self.orbits.apply(*pair)) for pair in certificate_priors(certificate, self.problem)]
                watcher.known.add([watcher.oracle.made_feasible(p.record, p.masses) for p in distinct(placed)])

    # ------------------------------------------------------------ the way to an answer

    def run(self) -> None:
        """Find a mechanism and a bound, or multipliers which prove that there is none; nothing where hardly any room is left."""
        found = self.region.found
        if isinstance(found, Outside):
            self.conflict = ConstrainedBound(prices=found.prices, cones=found.cones, tangents=found.tangents)
            return
        if not isinstance(found, Inside) or self.region.anchor is None:
            return
        self.vertex = None if self.watchers else vertex_of(self.region)  # whose program knows no limit of leakage
        if self.vertex is not None:
            self._settle(self.vertex)
            return
        anchor = self._anchor(self.region.anchor)
        if self.conflict is None and anchor is not None:
            self._exchange(anchor)

    def _settle(self, vertex: Vertex) -> None:
        """The optimum is known exactly."""
        prices = np.array([float(price) for price in vertex.prices])
        places = {law: k for k, law in enumerate(self.region.secrets)}
        tangents = tuple(
            (places[law], i, float(weight), np.array([float(x) for x in hint]))
            for law, i, weight, hint in vertex.tangents
        )
        self.bound = ConstrainedBound(float(vertex.value), prices=prices, paid=prices, tangents=tangents)
        constant = self._constant(vertex.q)
        self.kept.append(Kept(vertex.q, self.region.own_rows(vertex.q), {}, float(vertex.value), constant, "highs"))

    def _found(self, q: Exact, goal: Goal) -> Found:
        """An exact mechanism, as the search sees it."""
        entries = self.region.matrix(q)
        leakages = Rounds.seen(self.watchers, self.region, entries, self.search)
        if self._constant(q):
            leakages = dict.fromkeys(leakages, 0.0)
        return Found(entries, goal.value(entries, leakages), leakages)

    def _constant(self, q: Exact) -> bool:
        outputs = self.region.tied.outputs
        rows = self.region.tied.expand_rows([q[x : x + outputs] for x in range(0, len(q), outputs)])
        return all(row == rows[0] for row in rows)

    def _anchor(self, inner: Exact) -> Exact | None:
        """A mechanism that meets everything, as far below the limits of leakage as there is; None, and a conflict, without one."""
        if not self.limited:
            return inner
        goal = Goal(self.region, self.limited, raises=True)
        inside, constant = self._found(inner, goal), self.region.constant
        silent = None if constant is None else self._found(constant, goal)
        if constant is not None and silent is not None and silent.attained <= 0.0:  # nothing leaks less
            return self._mixed(constant, silent, inner, inside)
        rounds = self._rounds(goal, inside, DEEP, WITHIN * self.search.limits.seconds)
        rounds.run()
        self.rounds += rounds.count
        if rounds.bound is not None and rounds.bound.value > 0.0:
            self.conflict = rounds.bound
            return None
        deep = self.region.exact(rounds.best.q, inner)
        return inner if deep is None else self._mixed(deep, rounds.best, inner, inside)

    @staticmethod
    def _mixed(deep: Exact, found: Found, inner: Exact, inside: Found) -> Exact:
        """The mechanism that is deep within the limits of leakage, mixed with a little of the one that is deep within the rows."""
        room, more = -found.attained, inside.attained - found.attained
        share = (
            Fraction(round(1000 * min(MIXED, MIXED * room / more if more > 0.0 else 1.0)), 1000) if room > 0.0 else 0
        )
        return [(1 - share) * a + share * b for a, b in zip(deep, inner, strict=True)]

    def _rounds(self, goal: Goal, anchor: Found, gap: float, late: float) -> Rounds:
        return Rounds(goal, anchor, self.search, gap=gap, late=late, tally=self.tally)

    def _exchange(self, anchor: Exact) -> None:
        """The exchange for the design's own objective, and the audits of what it finds."""
        goal = Goal(self.region, self.watchers)
        kept = all(watcher.limit is not None and watcher.limit >= 0.0 for watcher in self.limited)
        if goal.only_leaks and self.region.constant is not None and kept:  # nothing leaks less
            self._take(self._audited(goal, self.region.constant, 0.0))
            return
        if not self.watchers and self.problem.objective is None:
            best = self.region.choosing(goal.costs[0])
            self._take(self._audited(goal, best, 0.0) if self.region.meets(best) else None)
        start = self._found(anchor, goal)
        rounds = self._rounds(goal, start, SEARCH_GAP * self.gap, SEARCHING * self.search.limits.seconds)
        for _ in range(AUDITED):
            rounds.run()
            self.bound = rounds.bound if rounds.bound is not None and rounds.lower > 0.0 else self.bound
            before = sum(len(watcher.known) for watcher in self.watchers)
            self._keep(goal, rounds, anchor)
            if self._closed or rounds.out_of_time or sum(len(w.known) for w in self.watchers) == before:
                break
        self.rounds += rounds.count
        if not self.kept:
            self._take(self._audited(goal, anchor, 1.0))
        if not self._closed:
            self._take(self.silent(self.upper))

    # ------------------------------------------------------------ what is handed out

    def silent(self, below: float = math.inf) -> Kept | None:
        """A cheap constant mechanism, which leaks nothing whatever its audits prove; None if there is none below."""
        goal = Goal(self.region, self.watchers)
        cost = sum((goal.terms.weight(j) * each for j, each in goal.costs.items()), np.zeros_like(self.orbits.cost))
        q = self.region.cheapest_constant(self.region.tied.sums(cost))
        nothing = {watcher.place: 0.0 for watcher in self.watchers}
        if q is None or goal.value(self.region.matrix(q), nothing) >= below:
            return None
        made = self._audited(goal, q, 0.0)
        return made if isinstance(made, Kept) else None

    @property
    def upper(self) -> float:
        return self.kept[-1].attained if self.kept else math.inf

    @property
    def _closed(self) -> bool:
        return closed(self.bound.value, self.upper, self.gap)

    def _keep(self, goal: Goal, rounds: Rounds, anchor: Exact) -> None:
        """Audit what was found: where leakage is limited with ever more room in the limits, at last the anchor itself."""
        if not self.limited:
            q = self.region.exact(rounds.best.q, anchor)
            self._take(None if q is None else self._audited(goal, q, 0.0), rounds.best.found_by)
            return
        room, found = self._first_room(rounds)
        for attempt in range(ATTEMPTS):
            found = rounds.roomier(room) if attempt else found
            q = self.region.exact(found.q, self.region.anchor or anchor)
            made = None if q is None else self._audited(goal, q, room)
            if isinstance(made, Kept) or room == WIDEST or self.search.clock.expired:
                self._take(made, found.found_by)
                return
            room = min(
                max(4.0 * room, WIDER * (made or 0.0)), WIDEST
            )  # the next audit has less time, and will be wider

    def _take(self, made: Kept | float | None, found_by: str = "start") -> None:
        """Keep it, if it was proved to keep all limits and is the best."""
        if isinstance(made, Kept) and made.attained < self.upper:
            self.kept.append(replace(made, found_by=found_by))

    def _first_room(self, rounds: Rounds) -> tuple[float, Found]:
        """The share of the limits that may be left to audits, so that this costs a part of the gap, and the mechanism that leaves it.

        The prices of the bound say what it costs, unless a limit begins to bind on the way.
        """
        limits = {watcher.place: watcher.limit or 0.0 for watcher in self.limited}
        spent = sum(part.weight * limits.get(j, 0.0) for j, part in self.bound.priors)
        wanted = GIVEN_AWAY * self.gap * abs(rounds.best.attained)
        room = float(np.clip(wanted / spent if spent > 0.0 else LARGE, SMALL, LARGE))
        while True:
            found = rounds.roomier(room)
            if found.attained <= rounds.best.attained + 2.0 * wanted or room <= SMALL or self.search.clock.expired:
                return room, found
            room = max(room / 8.0, SMALL)

    def _audited(self, goal: Goal, q: Exact, room: float) -> Kept | float:
        """The mechanism with its audits; the relative width of the first one that does not prove its limit."""
        rows, audits, clock = self.region.own_rows(q), dict[Place, Audit](), self.search.clock
        constant, target = self._constant(q), self.bound.value / (1.0 - 0.9 * min(self.gap, 0.9))
        for watcher in sorted(self.watchers, key=lambda watcher: watcher.limit is None):
            if watcher.limit is not None:
                part = self.search.part(clock.part(AUDITING), gap=min(max(0.1 * room, 1e-9), 0.1), checks=2)
                audit = watcher.audited(self.problem, rows, part, enough=watcher.limit - ROUNDING)
                if audit.upper > max(watcher.limit - ROUNDING, 0.0) and not constant:
                    return 1.0 - audit.lower / audit.upper
            else:
                enough = goal.enough(watcher, self.region.matrix(q), target)
                part = self.search.part(clock.part(AUDITING), AUDIT_GAP * self.gap, checks=2)
                audit = watcher.audited(self.problem, rows, part, enough=enough)
            audits[watcher.place] = audit
        leakages: Leakages = {j: 0.0 if constant else audit.upper for j, audit in audits.items()}
        return Kept(q, rows, audits, goal.value(self.region.matrix(q), leakages), constant)

    @property
    def termination(self) -> Termination:
        """Why the work stopped, where the gap was not reached."""
        audits = [audit for kept in self.kept[-1:] for audit in kept.audits.values()]
        if self.search.clock.stopped:
            return Termination.INTERRUPTED
        late = self.search.clock.seconds >= SEARCHING * self.search.limits.seconds
        if late or any(audit.out_of_time for audit in audits):
            return Termination.TIME_LIMIT
        return Termination.SIZE_LIMIT if any(audit.out_of_room for audit in audits) else Termination.STALLED
