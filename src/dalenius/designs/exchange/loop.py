"""The exchange: a master program over the priors found so far, and every adversary as an oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.designs.exchange.bound import DesignBound, design_bound
from dalenius.designs.exchange.goals import Goal, Leakages, Master, Place, Watched, Watcher
from dalenius.designs.exchange.region import Region
from dalenius.information.arrays import Floats
from dalenius.programs.base import BlockSolution, Tally
from dalenius.programs.solvers import OWN, order_of
from dalenius.search import Run

ROUNDS = 500
LOOKING = 0.2  # share of the remaining time that the oracles may look at one mechanism
STARTS, THOROUGH = 24, 96  # of the oracles' search, in a round and before an audit
NEWS = 0.05  # share of the gap by which a reply must leak more than is allowed to be new
BETWEEN = 0.6  # how far from a master's mechanism to the best one so far the oracles are asked as well
SEARCH_GAP, FINE = 0.6, 0.1  # shares of the gap that the search may leave, and leaves if that takes no longer
NEAR = 0.4  # share of the time limit after which a search that has come near is over
FINEST = 1e-9  # relative gap of a master that is always enough
SHARE = 0.02  # of the exchange's gap that a master may leave
ALIKE = 1e-6  # relative gap of a master at which rows that are alike at its optimum are nearly so: audits take a tenth of the time
MASTER = 0.5  # share of the remaining time that the first master program may take, however late it is
NOTHING = 1e-11  # a difference that rounding alone may make
QUICKEST = OWN, "CLARABEL"  # our own method has something whenever it is stopped


def closed(lower: float, upper: float, gap: float) -> bool:
    """True if an upper bound is close enough to the lower one: within this share of it.

    >>> closed(0.99, 1.0, 0.02), closed(0.97, 1.0, 0.02), closed(0.0, math.inf, 0.02)
    (True, False, False)
    """
    return math.isfinite(upper) and upper - lower <= gap * abs(upper) + NOTHING


@dataclass(frozen=True, eq=False)
class Found:
    """A mechanism that meets everything as far as the search sees: its entries on orbits, what it attains, what it leaks."""

    q: Floats
    attained: float
    leakages: Leakages
    found_by: str = "start"


@dataclass(frozen=True, eq=False)
class Answer:
    """A master program over these priors, and a solution of it with an interval in closed form, whoever found it."""

    watched: Sequence[Watched]
    program: Master
    solution: BlockSolution

    @property
    def q(self) -> Floats:
        """The mechanism's entries on orbits."""
        return np.asarray(self.solution.point["q"])

    @property
    def found_by(self) -> str:
        """Origin of the mechanism."""
        return self.solution.found_by["point"]

    @property
    def told(self) -> dict[Place, float]:
        """Largest leakage of the mechanism to the priors of each place."""
        found, leakages = dict[Place, float](), self.program.leakages
        values = [] if leakages is None else leakages.values(self.program.mechanism(self.solution.point)).tolist()
        for (place, _), value in zip(self.watched, values, strict=True):
            found[place] = max(found.get(place, 0.0), value)
        return found


class Rounds:
    """One exchange for one goal: rounds of a master program and questions to the watchers.

    What is revealed is convex in the mechanism. A master knows some of the priors: its multipliers prove a bound on the optimum
    (docs/certificate-format.md, *Design*). Its mechanism is shown to the oracles, whose priors join them, until none learns more than
    the bound allows.

    Parameters
    ----------
    goal : Goal
    anchor : Found
        A mechanism that meets everything; what does not is mixed with it.
    search : Run
        Limits, clock and random numbers.
    gap : float
        Relative; of what the whole exchange may leave.
    late : float
        Seconds on the clock after which no round begins, but for the first: without one there is no bound.
    tally : Tally
        Which solver did how much.

    Attributes
    ----------
    bound : DesignBound or None
    best : Found
    count : int
        Master programs.
    """

    def __init__(
        self,
        goal: Goal,
        anchor: Found,
        search: Run,
        *,
        gap: float,
        late: float,
        tally: Tally,
    ) -> None:
        self.goal, self.anchor, self.search, self.gap, self.late, self.tally = goal, anchor, search, gap, late, tally
        self.order = order_of(search.solver, QUICKEST)
        self.bound: DesignBound | None = None
        self.best, self.count, self._near = anchor, 0, math.inf

    @property
    def lower(self) -> float:
        return -math.inf if self.bound is None else self.bound.value

    @property
    def region(self) -> Region:
        return self.goal.region

    @property
    def known(self) -> int:
        """Number of priors that are known."""
        return sum(len(watcher.known) for watcher in self.goal.watchers)

    def watched(self) -> list[Watched]:
        """Every prior that is known, with the place of its watcher."""
        return [(watcher.place, prior) for watcher in self.goal.watchers for prior in watcher.known.priors]

    # ------------------------------------------------------------ the loop

    def run(self) -> bool:
        """Until it is time for an audit, nothing new is found, or it is late; whether the last round found anything."""
        while not self.over:
            added = self._round()
            if self.goal.raises and self.done:
                return False
            if added and not self.done:
                continue
            if not self._look(self.best.q, self.best.leakages, THOROUGH, self.best.found_by):
                return added > 0
        return False

    @property
    def out_of_time(self) -> bool:
        """The first round needs no more than some time."""
        clock = self.search.clock
        return clock.expired or (self.count > 0 and clock.seconds >= self.late)

    @property
    def over(self) -> bool:
        """True if no further round begins."""
        return self.count >= ROUNDS or self.out_of_time

    @property
    def done(self) -> bool:
        """True if it is time for an audit, which takes the longer the less of the gap is left to it.

        The search goes on for as long again as it took to come near, while that is within a share of the time limit.
        """
        if self.goal.raises:
            return closed(self.lower, self.best.attained, self.gap)
        seconds = self.search.clock.seconds
        if self._near == math.inf and closed(self.lower, self.best.attained, SEARCH_GAP * self.gap):
            self._near = seconds
        enough = min(2.0 * self._near, max(self._near, NEAR * self.search.clock.time_limit))
        return closed(self.lower, self.best.attained, FINE * self.gap) or seconds >= enough

    def _round(self) -> int:
        """One master program and one question to everybody; how many priors are new."""
        answer = self.solved(self.watched())
        self.keep_bound(answer)
        self._note(answer.watched, np.asarray(answer.solution.multipliers["weights"]))
        added = self._answered(answer)
        for watcher in self.goal.watchers:
            watcher.known.drop_idle()
        if not self.goal.raises:  # by how much limits are passed is no bound of what is minimised
            lower, upper = self.goal.terms.scale * max(self.lower, 0.0), self.goal.terms.scale * self.best.attained
            self.search.clock.tell("exchange", lower, upper, len(answer.watched), rounds=self.count, now=True)
        return added

    def solved(self, watched: Sequence[Watched], program: Master | None = None) -> Answer:
        """The master over these priors, or one that has them as data, solved in the time that is left for the search."""
        clock = self.search.clock
        left = min(clock.remaining, self.late - clock.seconds)
        return self.answer(watched, left if self.count else max(left, MASTER * clock.remaining), program=program)

    def answer(
        self, watched: Sequence[Watched], left: float, room: float = 0.0, program: Master | None = None
    ) -> Answer:
        """The same in so many seconds, with limits lowered by a share of them."""
        program = program or self.goal.program(watched, self.anchor.q, room)
        program.room, program.negligible = self.search.limits.least[1], NOTHING
        program.stopped = lambda: self.search.clock.interrupted
        limit = self.search.clock.machine(max(left, 0.0)) if math.isfinite(left) else None
        wanted = max(min(SHARE * self.gap, ALIKE), FINEST)
        solution = program.solve(solver=self.order, gap=wanted, time_limit=limit)
        self.tally.add(program.name, solution)
        self.count += 1
        return Answer(watched, program, solution)

    def keep_bound(self, answer: Answer) -> None:
        """Keep what a master's multipliers prove if it is better."""
        multipliers, found_by = dict(answer.solution.multipliers), answer.solution.found_by["multipliers"]
        bound = design_bound(answer.program, self.goal, answer.watched, multipliers, found_by)
        if bound is not None and bound.value > self.lower:
            self.bound = bound

    def _note(self, watched: Sequence[Watched], weights: Floats) -> None:
        """Note the priors that had weight: those that stay without are forgotten."""
        for watcher in self.goal.watchers:
            mine = [s for s, (place, _) in enumerate(watched) if place == watcher.place]
            if mine and weights.sum() > 0.0:
                watcher.known.used(weights[mine])

    # ------------------------------------------------------------ what everybody says of a mechanism

    def _answered(self, answer: Answer) -> int:
        """Show everybody a master's mechanism, and one between it and the best one so far; how many priors are new.

        A master's mechanisms lie far apart while it knows few priors, and each is bad in its own way. What is bad about one that is
        nearer to the best is bad about both, so that fewer rounds are needed (in-out separation: Ben-Ameur and Neto, "Acceleration
        of cutting-plane and column generation algorithms", Networks 49, 2007). A count of 20 people: 27 rounds instead of 59.
        """
        q, allowed, found_by = answer.q, answer.told, answer.found_by
        between = BETWEEN * self.best.q + (1.0 - BETWEEN) * q
        added = self._look(between, allowed, STARTS, found_by, against=q)
        return added + self._look(q, allowed, STARTS, found_by)

    def look(self, q: Floats) -> int:
        """Show everybody a mechanism: priors that learn anything from it become known; how many are new."""
        return self._look(q, {}, STARTS, "start")

    def _look(self, q: Floats, allowed: Leakages, starts: int, found_by: str, against: Floats | None = None) -> int:
        """Show everybody a mechanism: priors that learn more than allowed, from it or the one they are meant against, become known;
        how many are new."""
        leakages, added = self._seen(q, allowed, starts, q if against is None else against)
        self.consider(q, leakages, found_by)
        return added

    def _seen(self, q: Floats, allowed: Leakages, starts: int, against: Floats) -> tuple[Leakages, int]:
        """Leakage of a mechanism to everybody, and the number of priors that this makes known."""
        Q, judged, leakages, added = self.region.expanded(q), self.region.expanded(against), dict[Place, float](), 0
        for watcher in self.goal.watchers:
            replies, leakages[watcher.place] = watcher.replies(Q, self.search.clock.part(LOOKING), starts)
            most = allowed.get(watcher.place, 0.0)
            most = most if self.goal.is_raised(watcher) else max(most, watcher.limit or 0.0)
            enough = most + NEWS * self.gap * abs(most) + NOTHING
            added += watcher.known.add([p for p in replies if watcher.oracle.leakage(p, judged) > enough])
        return leakages, added

    def _told(self, q: Floats) -> dict[Place, float]:
        """Leakage of a mechanism to the priors that are known."""
        Q = self.region.expanded(q)
        return {watcher.place: watcher.seen(Q) for watcher in self.goal.watchers}

    # ------------------------------------------------------------ mechanisms

    def consider(self, q: Floats, leakages: Leakages, found_by: str) -> None:
        """Keep a mechanism that leaks so much, made to keep all limits, if it is the best."""
        found = self.within(q, leakages, found_by)
        if found.attained < self.best.attained or q is self.best.q:
            self.best = found

    def learned(self) -> None:
        """The priors that have become known may learn more from the best mechanism than was seen."""
        told, before = self._told(self.best.q), self.best.leakages
        self.consider(self.best.q, {j: max(x, before[j]) for j, x in told.items()}, self.best.found_by)

    def roomier(self, room: float) -> Found:
        """The best mechanism for limits of leakage that are lower by a share of them; half of that is left to those who look.

        It costs less than the best mechanism mixed with the anchor, as a rule. Where the anchor has less room, it may not exist.
        """
        mixed = self.within(self.best.q, self.best.leakages, self.best.found_by, 0.5 * room)
        if not self.goal.keeps(self.anchor.q, room):
            return mixed
        answer = self.answer(self.watched(), 0.5 * self.search.clock.remaining, room)
        leakages, _ = self._seen(answer.q, answer.told, STARTS, answer.q)
        lower = self.within(answer.q, leakages, answer.found_by, 0.5 * room)
        return min((mixed, lower), key=lambda found: found.attained)

    def within(self, q: Floats, leakages: Leakages, found_by: str, room: float = 0.0) -> Found:
        """A mechanism mixed with the anchor until it keeps all limits, and leaves so much room in them."""
        share = self.goal.share(leakages, self.anchor.leakages, room)
        mixed = (1.0 - share) * q + share * self.anchor.q
        leaked = {j: (1.0 - share) * x + share * self.anchor.leakages[j] for j, x in leakages.items()}
        return Found(mixed, self.goal.value(mixed, leaked), leaked, found_by)

    @staticmethod
    def seen(watchers: Sequence[Watcher], region: Region, q: Floats, search: Run) -> Leakages:
        """Leakage of a mechanism to each watcher, as far as their oracles see; what they answer becomes known."""
        leakages = dict[Place, float]()
        for watcher in watchers:
            replies, leakages[watcher.place] = watcher.replies(region.expanded(q), search.clock.part(LOOKING), STARTS)
            watcher.known.add([*replies, watcher.oracle.any_prior])
        return leakages
