"""Designs by exchange, from their rows to an exact mechanism: inside the rows, within the limits, then the exchange itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius.designs.claims import EPSILON
from dalenius.designs.exchange.bound import DesignBound, OwnBound, without_search
from dalenius.designs.exchange.goals import OWN, Goal, Place, Watched, Watcher, distinct, watchers_of
from dalenius.designs.exchange.interior import Inside, Outside
from dalenius.designs.exchange.keeping import Keeper, Kept
from dalenius.designs.exchange.loop import ROUNDS, STARTS, Found, Rounds, closed
from dalenius.designs.exchange.region import Exact, FreeRegion, Region
from dalenius.designs.exchange.rows import BUDGET, numbered_rows
from dalenius.designs.exchange.vertex import Vertex, vertex_of
from dalenius.designs.oracle import EntropyOracle, Prior, certificate_priors
from dalenius.designs.terms import Terms
from dalenius.errors import InputError
from dalenius.evidence import Certificate
from dalenius.information.arrays import Floats, Integers
from dalenius.model.adversaries import EntropyAtLeast
from dalenius.model.constraints import LeakageLimit, MaximalCorrelation, SecondOrderCone, SecretLimit
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.outcome import Termination
from dalenius.programs import ConstrainedUpdate
from dalenius.programs.base import Tally
from dalenius.reduction import Orbits
from dalenius.search import Clock, Limits, Run

Listed = Mapping[tuple[int, int], Fraction]


class Invariance:
    """The constraints of a design as sets of rows and cones, to be compared with themselves after a move; its further terms, too."""

    def __init__(self, problem: DesignProblem) -> None:
        terms = Terms.of(problem)
        limited = [limit.adversary for limit in problem.numbered(LeakageLimit).values()]
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
        self.about_secrets = bool(problem.numbered(SecretLimit) or problem.told)
        self.cones = problem.numbered(SecondOrderCone).values()
        self._still = self._moved(None, None)

    def kept_by(self, inputs: Integers, outputs: Integers) -> bool:
        """True if every constraint is again one after inputs[x] has taken the place of x, and outputs[y] that of y."""
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
            parts = [(part.summed, part.constant) for part in (cone.bound, *cone.norm)]
            keyed = [(terms(listed), offset) for listed, offset in parts]
            found[keyed[0], frozenset(Counter(keyed[1:]).items())] += 1
        return found


WITHIN = 0.3  # share of the time after which no better mechanism within the limits is looked for
SEARCHING = 0.6  # share of the time after which what there is gets audited
MIXED = 0.1  # share of what is below the limits that is given for being inside the rows
DEEP = 0.1  # relative gap of the mechanism that is farthest within the limits
FIRST_AUDIT, ROUGH = 0.03, 0.3  # share of the time that the first mechanism's audit may take, and its gap
ROOMS = (
    1e-3,
    1e-2,
    0.1,
    0.5,
)  # shares of the limits that somebody else's mechanism leaves, until its audits prove that it keeps them
BLURRED = 0.1  # share of the constant mechanism in the first one that everybody is asked about


class Exchange:
    """A running exchange for a design. Its bound and its mechanism are valid (up to rounding) when `run` returns.

    First a mechanism as far inside the rows and cones as there is; multipliers that prove that there is none end the work. Then, where
    leakage is limited, one as far below the limits as there is: the least excess, itself an exchange, whose bound above 0 proves that
    there is none. What the exchange for the design's own objective finds is mixed with it until everything is met exactly. A design
    with nothing but a budget knows all that in closed form (`FreeRegion`).

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
    search : Run
        Limits, clock and random numbers; the limits of nodes and memory are those of its audits.

    Attributes
    ----------
    region : Region
    terms : Terms
        Of what is minimised.
    bound : DesignBound
    conflict : DesignBound or None
        Multipliers which prove that no mechanism meets everything.
    keeper : Keeper
        With the mechanisms to hand out.
    rounds : int
    vertex : Vertex or None
        The optimum itself, where it is that of a linear program and known exactly.

    Raises
    ------
    DaleniusError
        If the constraints have too many terms.
    """

    def __init__(self, problem: DesignProblem, search: Run) -> None:
        free = problem.plain and problem.adversary is not None
        self.problem, self.search = problem, search
        self.orbits = Orbits.of(problem, None if free else Invariance(problem).kept_by)
        self.region = (FreeRegion if free else Region)(problem, self.orbits, search)
        self.terms = Terms.of(problem)
        self.watchers: list[Watcher] = watchers_of(problem, self.orbits, search.rng, gap=self.gap if free else 0.0)
        self.goal = Goal(self.region, self.watchers)
        self.keeper, self.bound = Keeper(self.goal, search), without_search(self.goal)
        self.conflict: DesignBound | None = None
        self.tally, self.rounds = Tally(), 0
        self.vertex: Vertex | None = None

    @property
    def gap(self) -> float:
        return self.search.limits.gap

    @property
    def limited(self) -> list[Watcher]:
        """Those to whom only so much may leak."""
        return self.keeper.limited

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
            conflict = DesignBound(prices=found.prices, cones=found.cones, tangents=found.tangents)
            rows_alone = not (found.cones or found.tangents)  # which exact numbers have decided
            self.conflict = conflict if rows_alone or self._is_proof(conflict) else None
            return
        if not isinstance(found, Inside) or self.region.anchor is None:
            return
        self.vertex = None if self.watchers else vertex_of(self.region)  # whose program knows no limit of leakage
        if self.vertex is not None:
            self._settle(self.vertex)
            return
        if self._nothing_leaks_less():
            return
        if isinstance(self.region, FreeRegion):
            self._begin(self.free, self.region)
            self._exchange(self.free, self.region.anchor)
            return
        anchor = self._anchor(self.region.anchor)
        if self.conflict is None and anchor is not None:
            self._bounded(anchor)

    def _is_proof(self, conflict: DesignBound) -> bool:
        """True if these multipliers, as they are written, say by more than rounding that nothing meets everything."""
        value, size = OwnBound(conflict, self.region, infeasible=True).value()
        weights = sum(part.weight for _, part in conflict.priors)  # scores are differences of what these weigh
        return value > EPSILON * (size + weights)

    def _settle(self, vertex: Vertex) -> None:
        """The optimum is known exactly."""
        prices = np.array(vertex.prices, dtype=object)
        self.bound = DesignBound(float(vertex.value), prices=prices, tangents=vertex.tangents)
        constant, rows = self.region.is_constant(vertex.q), self.region.own_rows(vertex.q)
        self.keeper.take(Kept(vertex.q, rows, {}, float(vertex.value), constant), "highs")

    def _nothing_leaks_less(self) -> bool:
        """True if a constant mechanism is the answer, which is kept."""
        kept = all(watcher.limit is not None and watcher.limit >= 0.0 for watcher in self.limited)
        if not (self.goal.only_leaks and kept and self.region.constant is not None):
            return False
        self.keeper.take(self.keeper.audited(self.region.constant, 0.0))
        return True

    def _found(self, q: Exact, goal: Goal) -> Found:
        """An exact mechanism, as the search sees it."""
        entries = self.region.matrix(q)
        leakages = Rounds.seen(self.watchers, self.region, entries, self.search)
        if self.region.is_constant(q):
            leakages = dict.fromkeys(leakages, 0.0)
        return Found(entries, goal.value(entries, leakages), leakages)

    def _anchor(self, inner: Exact) -> Exact | None:
        """A mechanism that meets everything, as far below the limits of leakage as there is; None, and a conflict, without one."""
        if not self.limited:
            return inner
        goal = Goal(self.region, self.limited, raises=True)
        inside, constant = self._found(inner, goal), self.region.constant
        silent = None if constant is None else self._found(constant, goal)
        if constant is not None and silent is not None and silent.attained <= 0.0:  # nothing leaks less
            return self._mixed(constant, silent, inner, inside)
        rounds = self._rounds(goal, inside, DEEP, WITHIN)
        rounds.run()
        self.rounds += rounds.count
        if rounds.bound is not None and self._is_proof(rounds.bound):
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
        return Rounds(goal, anchor, self.search, gap=gap, late=late * self.search.clock.time_limit, tally=self.tally)

    @cached_property
    def free(self) -> Rounds:
        """The rounds of a design that has nothing to meet but a budget: they begin with a mechanism of which nobody was asked yet."""
        assert self.region.anchor is not None
        entries, nothing = self.region.matrix(self.region.anchor), {OWN: 0.0}
        attained = self.goal.value(entries, nothing) if self.limited else np.inf
        return self._rounds(self.goal, Found(entries, attained, nothing), self.gap, SEARCHING)

    def _begin(self, rounds: Rounds, region: FreeRegion) -> None:
        """Audit a mechanism that needs no search roughly, so that there is one to hand out at once; then ask about blurred truth."""
        assert region.anchor is not None
        part = self.search.clock.part(FIRST_AUDIT)
        if self.limited:  # the constant one
            self.keeper.mixture(rounds.anchor.q, self.search.part(part, self.gap))
        else:
            self.keeper.take(self.keeper.audited(region.anchor, 0.0, share=FIRST_AUDIT, gap=ROUGH))
        if self._closed:
            return
        blurred = (1.0 - BLURRED) * region.least + BLURRED * region.matrix(region.silent)
        for watcher in self.watchers:
            replies, _ = watcher.replies(region.expanded(blurred), self.search.clock, STARTS)
            watcher.known.add(replies or [watcher.oracle.any_prior])
        rounds.look(region.least)

    def _bounded(self, anchor: Exact) -> None:
        """The exchange for the design's own objective within its rows and limits."""
        if not self.watchers and self.problem.objective is None:
            best = self.region.choosing(self.goal.costs[0])
            self.keeper.take(self.keeper.audited(best, 0.0) if self.region.meets(best) else None)
        rounds = self._rounds(self.goal, self._found(anchor, self.goal), self.gap, SEARCHING)
        self._exchange(rounds, anchor)
        if not self.keeper.kept:
            self.keeper.take(self.keeper.audited(anchor, self.bound.value, 1.0))
        if not self._closed:
            self.keeper.take(self.keeper.silent(self.keeper.upper))

    def _exchange(self, rounds: Rounds, anchor: Exact) -> None:
        """Rounds, and an audit of the best mechanism whenever it is time for one; on where the audit finds what the search did not."""
        audited: Found | None = None
        while not self._closed:
            more = rounds.run()
            self.keep(rounds)
            before, upper = rounds.known, self.keeper.upper
            if rounds.best is not audited and not (rounds.over and rounds.best.attained >= self.keeper.upper):
                audited = rounds.best
                self.keeper.keep(rounds, self.bound, anchor)
            if rounds.known > before:
                rounds.learned()
            elif not more:
                break
            if self.keeper.upper < upper and not (self._closed or rounds.over):
                self.keeper.stand(self.keeper.kept[-1])
            if rounds.over:
                break
        self.rounds += rounds.count

    def keep(self, rounds: Rounds) -> None:
        """Keep the bound of these rounds if it is better."""
        if rounds.bound is not None and rounds.lower > self.bound.value:
            self.bound = rounds.bound

    def judge(self, Q: Floats, leakage: float) -> None:
        """Audit a mechanism (inputs, outputs) of somebody else's that is thought to leak so much."""
        q = self.region.tied.variable(self.orbits.apply_mechanism(Q))
        if isinstance(self.region, FreeRegion):
            self.free.consider(q, {OWN: leakage}, "start")
            self.conclude()
            return
        anchor = None if self.region.anchor is None else self._anchor(self.region.anchor)
        if anchor is None:
            return
        rounds = self._rounds(self.goal, self._found(anchor, self.goal), self.gap, SEARCHING)
        leakages = Rounds.seen(self.watchers, self.region, q, self.search)
        for room in ROOMS if self.limited else (0.0,):
            mixed = self.region.exact(rounds.within(q, leakages, "start", room).q, anchor)
            self.keeper.take(None if mixed is None else self.keeper.audited(mixed, 0.0, room))
            if self.keeper.kept or self.search.clock.expired:
                break
        else:
            self.keeper.take(self.keeper.audited(anchor, 0.0))

    def conclude(self) -> None:
        """Audit the best mechanism that the rounds of a design with a budget alone have come to, unless one is known that is close."""
        assert self.region.anchor is not None
        self.keep(self.free)
        if self._closed:
            return
        if self.keeper.kept:
            self.keeper.stand(self.keeper.kept[-1])
        self.keeper.keep(self.free, self.bound, self.region.anchor)
        if not self.keeper.kept:
            self.keeper.take(self.keeper.audited(self.region.anchor, 0.0))

    @property
    def _closed(self) -> bool:
        return closed(self.bound.value, self.keeper.upper, self.gap)

    @property
    def termination(self) -> Termination:
        """Why the work stopped, where the gap was not reached."""
        audits = [audit for kept in self.keeper.kept for audit in kept.audits.values()]
        if self.search.clock.stopped:
            return Termination.INTERRUPTED
        late = self.search.clock.expired or self.search.clock.seconds >= SEARCHING * self.search.clock.time_limit
        if late or any(audit.out_of_time for audit in audits):
            return Termination.TIME_LIMIT
        full = self.rounds >= ROUNDS or any(audit.out_of_room for audit in audits)
        return Termination.SIZE_LIMIT if full else Termination.STALLED


# The master program of a design with constraints or an objective, for listed priors: for other people's solvers.


FEW = 6  # of a search for priors


def constrained_master(problem: DesignProblem, priors: Mapping[Place, Sequence[Floats]]) -> ConstrainedUpdate:
    """On the problem's own inputs, with its budget, rows and objective, and without limits of leakage to further adversaries.

    Parameters
    ----------
    priors : mapping of place -> sequence of (letters, inputs)
        Of the design's own adversary, and of those of its objective. Whoever is not there answers a mechanism in the middle of the
        rows.

    Raises
    ------
    InputError
        If there are limits of the maximal correlation; if no mechanism was found that meets the constraints; or, of a least
        distortion, none that leaks nothing.
    """
    search, orbits = Run.of(Limits(time_limit=None)), Orbits.of(problem, lambda *_: False)
    region = Region(problem, orbits, search)
    if not isinstance(region.found, Inside):
        raise InputError("program: no mechanism was found that meets the constraints; solve the model, which says why")
    if problem.numbered(MaximalCorrelation).keys() & {law.number for law in region.secrets}:
        raise InputError(
            "program: a limit of the maximal correlation is a semidefinite cone, and cannot be exported; leave it out, or "
            "solve the model"
        )
    watchers = watchers_of(problem, orbits, search.rng)
    watched = list[Watched]()
    for watcher in watchers:
        if watcher.term is not None or watcher.place == OWN:
            watched += _answers(watcher, priors.get(watcher.place), region.expanded(region.found.q))
    anchor = region.found.q
    if problem.leakage_budget is not None and any(place == OWN for place, _ in watched):
        if region.constant is None:
            raise InputError(
                "program: no mechanism that leaks nothing meets the constraints; export a min_leakage model"
            )
        anchor = region.matrix(region.constant)
    program = Goal(region, watchers).program(watched, anchor)
    assert isinstance(program, ConstrainedUpdate)
    return program


def _answers(watcher: Watcher, listed: Sequence[Floats] | None, Q: Floats) -> list[Watched]:
    """The priors of an adversary: those that are listed, or what it answers a mechanism."""
    if listed is None:
        replies, _ = watcher.replies(Q, Clock(), FEW)
        listed = [prior.masses for prior in replies or [watcher.oracle.any_prior]]
    return [(watcher.place, Prior(0, np.asarray(masses))) for masses in listed]
