"""The exchange for designs with constraints: a conic master program over the priors found so far, and every adversary as an oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.designs.constrained.bound import ConstrainedBound, constrained_bound
from dalenius.designs.constrained.goals import Goal, Leakages, Place, Watched, Watcher
from dalenius.designs.constrained.region import Region
from dalenius.designs.exchange.bound import NOTHING, closed
from dalenius.information.arrays import Floats
from dalenius.programs import ConstrainedUpdate
from dalenius.programs.base import BlockSolution, Tally
from dalenius.programs.solvers import OWN, order_of
from dalenius.search import Run

ROUNDS = 300
LOOKING = 0.2  # share of the remaining time that the oracles may look at one mechanism
STARTS, THOROUGH = 24, 96  # of the oracles' search, in a round and once nothing new is found
NEWS = 0.05  # share of the gap by which a reply must leak more than is allowed to be new
FINEST = 1e-9  # relative gap of a master that is always enough
SHARE = 0.02  # of the exchange's gap that a master may leave


@dataclass(frozen=True, eq=False)
class Found:
    """A mechanism that meets everything as far as the search sees: its entries on orbits, what it attains, what it leaks."""

    q: Floats
    attained: float
    leakages: Leakages
    found_by: str = "start"


class Rounds:
    """One exchange for one goal: rounds of a master program and questions to the watchers.

    Parameters
    ----------
    goal : Goal
    anchor : Found
        A mechanism that meets everything; what does not is mixed with it.
    search : Run
        Limits, clock and random numbers.
    gap : float
        Relative; absolute where `scale` says what it is a share of.
    late : float
        Seconds on the clock after which no round begins.

    Attributes
    ----------
    bound : ConstrainedBound or None
    best : Found
    count : int
        Rounds.
    """

    def __init__(self, goal: Goal, anchor: Found, search: Run, *, gap: float, late: float, tally: Tally) -> None:
        self.goal, self.anchor, self.search, self.gap, self.late, self.tally = goal, anchor, search, gap, late, tally
        self.bound: ConstrainedBound | None = None
        self.best, self.count = anchor, 0

    @property
    def lower(self) -> float:
        return -math.inf if self.bound is None else self.bound.value

    @property
    def region(self) -> Region:
        return self.goal.region

    def watched(self) -> list[Watched]:
        """Every prior that is known, with the place of its watcher."""
        return [(watcher.place, prior) for watcher in self.goal.watchers for prior in watcher.known.priors]

    def run(self) -> None:
        """Until the bounds meet, nothing new is found, or it is late."""
        while self.count < ROUNDS and not self.out_of_time:
            added = self._round()
            if self.done:
                break
            if not added and not self._look(self.best.q, THOROUGH, self.best.found_by):
                break

    @property
    def out_of_time(self) -> bool:
        clock = self.search.clock
        return clock.expired or clock.seconds >= self.late

    @property
    def done(self) -> bool:
        """Whether the bounds have met."""
        return closed(self.lower, self.best.attained, self.gap)

    def _round(self) -> int:
        """One master program and one question to everybody; how many priors are new."""
        watched = self.watched()
        clock = self.search.clock
        program, answer = self._answer(watched, min(clock.remaining, self.late - clock.seconds))
        found_by = answer.found_by["multipliers"]
        bound = constrained_bound(program, self.goal, watched, dict(answer.multipliers), found_by)
        if bound is not None and bound.value > self.lower:
            self.bound = bound
        self._note(watched, np.asarray(answer.multipliers["weights"]))
        added = self._look(np.asarray(answer.point["q"]), STARTS, answer.found_by["point"])
        lower, upper = self.goal.terms.scale * max(self.lower, 0.0), self.goal.terms.scale * self.best.attained
        clock.tell("exchange", lower, upper, len(watched), rounds=self.count, now=True)
        return added

    def roomier(self, room: float) -> Found:
        """The best mechanism for limits of leakage that are lower by a share of them; half of that is left to those who look.

        It costs less than the best mechanism mixed with the anchor, as a rule. Where the anchor has less room, it may not exist.
        """
        mixed = self._within(self.best.q, self.best.leakages, self.best.found_by, 0.5 * room)
        if not self.goal.keeps(self.anchor.q, room):
            return mixed
        _, answer = self._answer(self.watched(), 0.5 * self.search.clock.remaining, room)
        q = np.asarray(answer.point["q"])
        leakages, _ = self._seen(q, STARTS)
        lower = self._within(q, leakages, answer.found_by["point"], 0.5 * room)
        return min((mixed, lower), key=lambda found: found.attained)

    def _answer(
        self, watched: Sequence[Watched], left: float, room: float = 0.0
    ) -> tuple[ConstrainedUpdate, BlockSolution]:
        """Solve the master over these priors."""
        program = self.goal.program(watched, self.anchor.q, room)
        order = [name for name in order_of(self.search.solver) if name != OWN]
        limit = self.search.clock.machine(max(left, 0.0)) if math.isfinite(left) else None
        answer = program.solve(solver=order, gap=max(SHARE * self.gap, FINEST), time_limit=limit)
        self.tally.add(program.name, answer)
        self.count += 1
        return program, answer

    def _note(self, watched: Sequence[Watched], weights: Floats) -> None:
        """Which priors had weight; those that stay without are forgotten."""
        for watcher in self.goal.watchers:
            mine = [s for s, (place, _) in enumerate(watched) if place == watcher.place]
            if mine and weights.sum() > 0.0:
                watcher.known.used(weights[mine])
                watcher.known.drop_idle()

    def _look(self, q: Floats, starts: int, found_by: str) -> int:
        """Show everybody a mechanism: priors that learn more than is allowed become known; how many are new."""
        leakages, added = self._seen(q, starts)
        found = self._within(q, leakages, found_by)
        if found.attained < self.best.attained:
            self.best = found
        return added

    def _seen(self, q: Floats, starts: int) -> tuple[Leakages, int]:
        """What a mechanism leaks to everybody, and how many priors that tells for the first time."""
        Q, leakages, added = self.region.expanded(q), dict[Place, float](), 0
        for watcher in self.goal.watchers:
            replies, leakages[watcher.place] = watcher.replies(Q, self.search.clock.part(LOOKING), starts)
            known = watcher.seen(Q)
            allowed = known if self.goal.is_raised(watcher) else max(known, watcher.limit or 0.0)
            enough = allowed + NEWS * self.gap * abs(allowed) + NOTHING
            added += watcher.known.add([p for p in replies if watcher.oracle.leakage(p, Q) > enough])
        return leakages, added

    def _within(self, q: Floats, leakages: Leakages, found_by: str, room: float = 0.0) -> Found:
        """A mechanism mixed with the anchor until it keeps all limits, and leaves so much room in them."""
        share = self.goal.share(leakages, self.anchor.leakages, room)
        mixed = (1.0 - share) * q + share * self.anchor.q
        leaked = {j: (1.0 - share) * x + share * self.anchor.leakages[j] for j, x in leakages.items()}
        return Found(mixed, self.goal.value(mixed, leaked), leaked, found_by)

    @staticmethod
    def seen(watchers: Sequence[Watcher], region: Region, q: Floats, search: Run) -> Leakages:
        """What a mechanism leaks to each watcher, as far as their oracles see; what they answer becomes known."""
        leakages = dict[Place, float]()
        for watcher in watchers:
            replies, leakages[watcher.place] = watcher.replies(region.expanded(q), search.clock.part(LOOKING), STARTS)
            watcher.known.add([*replies, watcher.oracle.any_prior])
        return leakages
