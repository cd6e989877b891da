"""The exchange: a master program over the priors found so far, and the adversary as its oracle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dalenius.designs.claims import need_workable
from dalenius.designs.exchange.audits import AuditedMechanism, KnownPriors, MechanismAudits, distinct
from dalenius.designs.exchange.bound import NOTHING, MasterBound, closed, master_bound
from dalenius.designs.exchange.goal import Goal, LeastDistortion, LeastLeakage, MasterStatement
from dalenius.designs.exchange.mechanisms import Mechanisms, RepairedMechanism
from dalenius.designs.oracle import EntropyOracle, Prior, certificate_priors, oracle_of
from dalenius.evidence import Certificate
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.outcome import Termination
from dalenius.programs import BlockSolution
from dalenius.programs.base import Tally
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.programs.solvers import OWN, order_of
from dalenius.reduction import Orbits
from dalenius.search import Clock, Run

FINEST = 1e-9  # relative gap of a master that is always enough
SHARE = 0.02  # of the exchange's gap that a master may leave
LARGE = (
    2.0**22
)  # bytes of the conic form above which our own method goes before Clarabel: it has something whenever it is stopped
FIRST = ("MOSEK", OWN, "CLARABEL", "SCS").index


@dataclass(frozen=True, eq=False)
class MasterAnswer:
    """A master program, and a solution of it with an interval in closed form, whoever found it."""

    statement: MasterStatement
    program: MechanismUpdate
    solution: BlockSolution

    @property
    def mechanism(self) -> Floats:
        """Q (inputs, outputs)."""
        return self.program.mechanism(self.solution.point)

    @property
    def value(self) -> float:
        """What the mechanism attains."""
        return self.program.value(self.solution.point)

    @property
    def least(self) -> float:
        """What the multipliers prove: no mechanism attains less."""
        return self.program.bound(self.solution.multipliers)


@dataclass
class Master:
    """Solves master programs with the chosen solvers, one after the other, until one is close enough.

    Parameters
    ----------
    goal : Goal
        What is asked of them.
    order : sequence of str
        The solvers to try in turn (`dalenius.programs.solvers.order_of`): any mixture of cvxpy's and our own method.
    room : float
        Bytes that a solve may take.

    Attributes
    ----------
    tally : Tally
        Which solver did how much.
    """

    goal: Goal
    order: Sequence[str]
    room: float = math.inf
    tally: Tally = field(default_factory=Tally)

    def solved(self, priors: Sequence[Prior], seconds: float) -> MasterAnswer:
        """The program over these priors, solved within so many seconds."""
        statement = self.goal.statement(priors)
        program = statement.program()
        program.room, program.negligible = self.room, NOTHING
        gap = max(SHARE * self.goal.gap, FINEST)
        order = self.order if program.conic_bytes <= LARGE else sorted(self.order, key=FIRST)
        solution = program.solve(solver=order, gap=gap, time_limit=max(seconds, 0.0))
        self.tally.add(program.name, solution)
        return MasterAnswer(statement, program, solution)

    def bound(self, answer: MasterAnswer) -> MasterBound | None:
        """What the multipliers prove; None if that is nothing."""
        multipliers = self.goal.writable(answer.solution.multipliers)
        found_by = answer.solution.found_by["multipliers"]
        return master_bound(answer.program, answer.statement.priors, multipliers, found_by)


ROUNDS = 500
SEARCHING = 0.6  # share of the time after which what there is gets audited
FIRST_AUDIT = 0.1  # share of the time that the first mechanism's audit may take
MASTER = 0.5  # share of the remaining time that the first master program may take, however late it is
LOOKING = 0.2  # share of the remaining time that the oracle may look at one mechanism
AUDITING = 0.9  # share of the remaining time that one audit may take while the search goes on
STARTS, THOROUGH = 24, 96  # of the oracle's search, in a round and before an audit
SEARCH_GAP, FINE = (
    0.6,
    0.1,
)  # shares of the gap that the search may leave, and leaves if that takes no longer; the rest is the audit's
NEWS = 0.05  # share of the gap by which a reply must leak more than is allowed to be new
BETWEEN = 0.6  # how far from a master's mechanism to the best one so far the oracle is asked as well


class Exchange:
    """A running exchange for a feasible design problem. Its bounds and mechanisms are valid whenever `run` returns (up to rounding).

    The worst-case leakage L is the largest of I_s(Q) over the adversary's priors s, and convex in Q. The master knows some of the
    priors: its multipliers prove a bound on the optimum (docs/certificate-format.md, *Design*). Its mechanism is shown to the oracle,
    whose priors join them, until none learns more than the bound allows. Then the audit of Problem 1 bounds what the
    mechanism leaks against all.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
        Feasible.
    search : Run
        Limits, clock and random numbers; the limits of nodes and memory are those of its audits.

    Attributes
    ----------
    known : KnownPriors
    bound : MasterBound
        The best from below.
    best : RepairedMechanism
        The best that the search has seen.
    audits : MechanismAudits
        With the best mechanism that can be handed out.
    rounds : int
        How many master programs were solved.

    Raises
    ------
    DaleniusError
        If the largest distortion is beyond what doubles can work with.
    """

    def __init__(self, problem: DesignProblem, search: Run) -> None:
        need_workable(problem.distortions)
        self.problem, self.search = problem, search
        self.orbits = Orbits.of(problem)
        self.oracle = oracle_of(problem, self.orbits.completions, search.rng, gap=search.limits.gap)
        self.known = KnownPriors(self.orbits)
        self.mechanisms = Mechanisms(problem, self.orbits)
        self.audits = MechanismAudits(problem, search, self.known)
        goal = LeastDistortion if isinstance(problem, MinDistortion) else LeastLeakage
        self.goal = goal(problem, self.mechanisms, self.gap)
        self.master = Master(self.goal, order_of(search.solver), search.limits.least[1])
        self.bound: MasterBound = self.goal.without_search(self.oracle.any_prior)
        self._constant = RepairedMechanism(self.mechanisms.constant, np.inf, 0.0)
        self.best = self._audited = self._constant
        self.rounds, self._near = 0, math.inf

    @property
    def gap(self) -> float:
        return self.search.limits.gap

    @property
    def clock(self) -> Clock:
        return self.search.clock

    @property
    def upper(self) -> float:
        """What the mechanism to be handed out attains."""
        return self.audits.upper

    def recall(self, certificate: Certificate) -> None:
        """Begin with the priors of a certificate: of a design that differs in its budget only. What does not fit is left out."""
        if isinstance(self.oracle, EntropyOracle):
            folded = [Prior(*self.orbits.apply(*placed)) for placed in certificate_priors(certificate, self.problem)]
            self.known.add([self.oracle.made_feasible(prior.record, prior.masses) for prior in distinct(folded)])

    # ------------------------------------------------------------ the loop

    def run(self) -> None:
        """Exchange until the bounds meet, then audit; go on where the audit finds what the search did not."""
        if self.goal.trivial:
            self._audit(self._constant, self.clock)
            return
        self.goal.start(self.audits, self.clock.part(FIRST_AUDIT))
        blurred = 0.9 * self.mechanisms.least + 0.1 * self.mechanisms.constant
        self.known.add(self.oracle.worst_priors(blurred, [], self.clock))
        self._ask(self.mechanisms.least)
        while self.known and not self._closed(self.upper) and self.rounds < ROUNDS and not self._too_late:
            added = self._round()
            if not added or self._fine:
                added += self._look_harder()
            if not added:
                break
        self.conclude()

    def _round(self) -> int:
        """One master program and one question to the oracle; how many priors are new."""
        priors = self.known.priors
        answer = self.solved(priors)
        self.keep_bound(answer)
        self.known.used(answer.solution.multipliers["weights"])
        added = self._answered(answer)
        self.known.drop_idle()
        self.rounds += 1
        upper = min(self.best.attained, self.upper)
        self.clock.tell("exchange", self.bound.value, upper, len(priors), rounds=self.rounds, now=True)
        return added

    def solved(self, priors: Sequence[Prior]) -> MasterAnswer:
        """The master program over these priors, solved in the time that is left for the search."""
        left = min(self.clock.remaining, SEARCHING * self.clock.time_limit - self.clock.seconds)
        if not self.rounds:  # without it there is no bound at all
            left = max(left, MASTER * self.clock.remaining)
        return self.master.solved(priors, self.clock.machine(left))

    def keep_bound(self, answer: MasterAnswer) -> None:
        """Keep what a master's multipliers prove if it is better."""
        bound = self.master.bound(answer)
        if bound is not None and bound.value > self.bound.value:
            self.bound = bound

    def _answered(self, answer: MasterAnswer) -> int:
        """Show the oracle a master's mechanism, and one between it and the best one so far; how many priors are new.

        A master's mechanisms lie far apart while it knows few priors, and each is bad in its own way. What is bad about one that is
        nearer to the best is bad about both, so that fewer rounds are needed (in-out separation: Ben-Ameur and Neto, "Acceleration
        of cutting-plane and column generation algorithms", Networks 49, 2007). A count of 20 people: 27 rounds instead of 59.
        """
        Q, allowed, found_by = (
            answer.mechanism,
            self.goal.allowed_leakage(answer.value),
            answer.solution.found_by["point"],
        )
        between = BETWEEN * self.best.Q + (1.0 - BETWEEN) * Q
        return self._ask(between, allowed, found_by=found_by, against=Q) + self._ask(Q, allowed, found_by=found_by)

    def _ask(
        self,
        Q: Floats,
        allowed: float = 0.0,
        starts: int = STARTS,
        found_by: str = "start",
        against: Floats | None = None,
    ) -> int:
        """Show the oracle a mechanism: priors that learn more than allowed, from it or the one they are meant against, become known;
        how many are new."""
        replies = self.oracle.worst_priors(Q, self.known.priors, self.clock.part(LOOKING), starts)
        leakages = [self.oracle.leakage(prior, Q) for prior in replies]
        self.consider(Q, max([0.0, *leakages]), found_by)
        if against is not None:
            leakages = [self.oracle.leakage(prior, against) for prior in replies]
        enough = allowed * (1.0 + NEWS * self.gap) + NOTHING
        return self.known.add([prior for prior, leakage in zip(replies, leakages, strict=True) if leakage > enough])

    def consider(self, Q: Floats, leakage: float, found_by: str) -> None:
        """Keep a mechanism that leaks so much, made to meet the budget, if it is the best."""
        found = replace(self.goal.repaired(Q, leakage), found_by=found_by)
        if found.attained < self.best.attained or Q is self.best.Q:
            self.best = found

    def _look_harder(self) -> int:
        """Ask the oracle for more about the best mechanism, then audit it; how many priors that adds. Nothing is audited twice."""
        if added := self._ask(self.best.Q, self.best.leakage, THOROUGH, self.best.found_by):
            return added
        before = len(self.known)
        if self.best is not self._audited:
            self._audit(self.best, self.clock.part(AUDITING))
        if added := len(self.known) - before:  # which may learn more from it than was seen
            learned = max(self.oracle.leakage(prior, self.best.Q) for prior in self.known.priors)
            self.consider(self.best.Q, max(learned, self.best.leakage), self.best.found_by)
        return added

    def _audit(self, found: RepairedMechanism, clock: Clock) -> None:
        self._audited = found
        self.goal.audit(found, self.audits, self.bound.value, clock)

    def conclude(self) -> None:
        """Audit the best mechanism if that is still to be done; whatever happens there is one to hand out afterwards."""
        if self.best is not self._audited and self.best.attained < self.upper and not self._closed(self.upper):
            self._audit(self.best, self.clock)
        if self.audits.best is None:
            self._audit(self._constant, self.clock)

    # ------------------------------------------------------------ when it stops

    def _closed(self, upper: float, share: float = 1.0) -> bool:
        """Whether an upper bound is within this share of the gap."""
        return closed(self.bound.value, upper, share * self.gap)

    @property
    def _fine(self) -> bool:
        """Whether it is time for an audit, which takes the longer the less of the gap is left to it: the search goes on for as long
        again as it took to come near."""
        if self._near == math.inf and self._closed(self.best.attained, SEARCH_GAP):
            self._near = self.clock.seconds
        return self._closed(self.best.attained, FINE) or self.clock.seconds >= 2.0 * self._near

    @property
    def _late(self) -> bool:
        """Whether it is time for the audit: some time must be left for it."""
        return self.clock.expired or self.clock.seconds >= SEARCHING * self.clock.time_limit

    @property
    def _too_late(self) -> bool:
        """The same, but for the first round: without one there is no bound."""
        return self._late if self.rounds else self.clock.expired

    @property
    def termination(self) -> Termination:
        """Why the work stopped, where the gap was not reached."""
        best = self.audits.best
        if self.clock.stopped:
            return Termination.INTERRUPTED
        if self._late or (best is not None and best.audit.out_of_time):
            return Termination.TIME_LIMIT
        out_of_room = best is not None and best.audit.out_of_room
        return Termination.SIZE_LIMIT if self.rounds >= ROUNDS or out_of_room else Termination.STALLED

    # ------------------------------------------------------------ what is handed out

    def candidates(self) -> Iterator[AuditedMechanism]:
        """Mechanisms to hand out, the best first, until one is proved to meet the budget; the last one needs no search."""
        yield from self.audits.candidates()
        yield from self.goal.last_resort(self.audits, self.clock)
