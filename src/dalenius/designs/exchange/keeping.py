"""Mechanisms that can be handed out: made exact, audited against everybody, and the best of them kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dalenius.audits.audit import Audit
from dalenius.designs.exchange.bound import DesignBound
from dalenius.designs.exchange.goals import Goal, Place, Watcher
from dalenius.designs.exchange.loop import Found, Rounds, closed
from dalenius.designs.exchange.region import Exact
from dalenius.information.arrays import Floats
from dalenius.search import Clock, Progress, Run

Rows = list[list[Fraction]]

AUDIT_GAP = 0.25  # share of the gap that the audit of a mechanism may leave in any case
AUDITING = 0.9  # share of the time that is left which audits may take
GIVEN_AWAY = 0.3  # share of the gap that a mechanism may attain more so that its audits are easier
ROUNDING = 1e-11  # nats by which an audit's upper bound may grow when it is written and checked
ATTEMPTS = 6
SMALL, LARGE = 1e-7, 0.3  # shares of the limits that may be left to audits at first
WIDER = 1.5  # times as wide as the last one an audit may be
WIDEST = 0.9  # largest share of the limits left to an audit
FIRST = 0.95  # share of the time that is left for the first mixture's audit and check
LATER = 0.8  # share of it for a later one's
DILUTED = 1.25  # times the share by which an audit passes a budget: what is constant takes less off boxes that are wide
BRIEFLY = 0.05  # share of the time that is left for the audit of what is proved on the way, whose boxes are there
AFRESH = 3  # times as far ahead of the end as usual, as the proof at the end has other leaves
SAFE = 0.8  # share of the time of a later one's search in which the one before had become narrow enough
CHECKS = 2  # of an audit: by itself, and as a part of the design's proof
MARGIN = 2.0  # times as wide as the one before it is allowed to be, at the least
USED = 0.97  # share of the gap that search and audit may take together
TINY = 1e-9  # budgets in nats near which rounding decides


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
    found_by : str
        The solver whose mechanism it is made from.
    doubtful : bool
        Rounding decides whether it meets its budget.
    """

    q: Exact
    rows: Rows
    audits: Mapping[Place, Audit]
    attained: float
    constant: bool
    found_by: str = "start"
    doubtful: bool = False


class Keeper:
    """Makes mechanisms exact, audits them, and keeps the best; what their audits find becomes known to the watchers.

    Parameters
    ----------
    goal : Goal
        The design's own.
    search : Run

    Attributes
    ----------
    kept : list of Kept
        Mechanisms to hand out, the best last.
    doubtful : list of Kept
        Those of which rounding decides.
    stand : callable
        Has a mechanism with its audits proved on the way; says whether it is.
    """

    def __init__(self, goal: Goal, search: Run) -> None:
        self.goal, self.region, self.problem, self.search = goal, goal.region, goal.region.problem, search
        self.kept, self.doubtful = list[Kept](), list[Kept]()
        self.stand: Callable[[Kept], bool] = lambda kept: False
        self._boxed = dict[Place, Audit]()  # the last ones that boxes of the posterior prove

    @property
    def gap(self) -> float:
        return self.search.limits.gap

    @property
    def clock(self) -> Clock:
        return self.search.clock

    @property
    def limited(self) -> list[Watcher]:
        """Those to whom only so much may leak."""
        return [watcher for watcher in self.goal.watchers if watcher.limit is not None]

    @property
    def upper(self) -> float:
        """Objective of the best mechanism; infinite while there is none."""
        return self.kept[-1].attained if self.kept else math.inf

    def take(self, made: Kept | float | None, found_by: str = "start") -> None:
        """Keep it, if it was proved to keep all limits and is the best.

        Of limits near 0, where rounding is in doubt, the checker judges in the end.
        """
        if not isinstance(made, Kept) or made.attained >= self.upper:
            return
        if made.doubtful:
            self.doubtful.append(made)
            return
        self.kept.append(replace(made, found_by=found_by))

    def keep(self, rounds: Rounds, bound: DesignBound, anchor: Exact) -> None:
        """Audit what was found: where leakage is limited with ever more room in the limits.

        With nothing but a budget, or without limits, an audit may take all the time: what it leaves open none will close in less.
        """
        best = rounds.best
        if not self.limited:
            q = self.region.exact(best.q, anchor)
            self.take(None if q is None else self.audited(q, bound.value, share=1.0), best.found_by)
        elif self.goal.is_free:
            self._within_budget(best, rounds.anchor, bound.value)
        else:
            self._within_limits(rounds, bound, anchor)
            if self.doubtful:
                self.take(self.silent(self.upper))

    # ------------------------------------------------------------ audits

    def audited(
        self, q: Exact, lower: float, room: float = 0.0, share: float = AUDITING, gap: float | None = None
    ) -> Kept | float:
        """The mechanism with its audits; the relative width of the first one that does not prove its limit."""
        rows, audits, Q = self.region.own_rows(q), dict[Place, Audit](), self.region.matrix(q)
        constant, target = self.region.is_constant(q), lower / (1.0 - 0.9 * min(self.gap, 0.9))
        held, doubtful, watchers = 0.0, False, sorted(self.goal.watchers, key=lambda watcher: watcher.limit is None)
        for waiting, watcher in zip(range(len(watchers), 0, -1), watchers, strict=True):
            clock = self.clock.slice(share * max(self.clock.remaining - held, 0.0) / waiting)
            if watcher.limit is not None:
                part = self.search.part(clock, gap=min(max(0.1 * room, 1e-9), 0.1), checks=CHECKS)
                audit = self._audit(watcher, rows, part, watcher.limit - ROUNDING)
                if audit.upper > max(watcher.limit - ROUNDING, 0.0) and not constant:
                    if not _is_in_doubt(audit, watcher.limit):
                        return 1.0 - audit.lower / audit.upper
                    doubtful = True
            else:
                enough = self.goal.enough(watcher, Q, target)
                left = 1.0 - watcher.seen(self.region.expanded(Q)) / enough if enough > 0.0 else 0.0
                asked = max(left, AUDIT_GAP * self.gap) if gap is None else gap
                part = self.search.part(clock, asked, checks=CHECKS, anytime=len(watchers) == 1)
                way = partial(self._as_it_is, q, rows, watcher.place)
                audit = self._audit(watcher, rows, part, 0.0 if gap else enough, news=gap is None, way=way)
            audits[watcher.place] = audit
            held += audit.checking
        leakages = {j: 0.0 if constant else audit.upper for j, audit in audits.items()}
        return Kept(q, rows, audits, self.goal.value(Q, leakages), constant, doubtful=doubtful)

    def _as_it_is(self, q: Exact, rows: Rows, place: Place, audit: Audit) -> bool:
        """Have a mechanism proved whose one audit goes on."""
        return self.stand(Kept(q, rows, {place: audit}, audit.upper, self.region.is_constant(q)))

    def _audit(
        self, watcher: Watcher, rows: Rows, part: Run, enough: float, *, news: bool = True, **more: Any
    ) -> Audit:
        """An audit that goes on from the boxes of the last one: of mechanisms one after another that is a part of the work."""
        earlier = self._boxed.get(watcher.place)
        audit = watcher.audited(self.problem, rows, part, enough, news=news, earlier=earlier, **more)
        if news and audit.boxed:
            self._boxed[watcher.place] = audit
        return audit

    def silent(self, below: float = math.inf) -> Kept | None:
        """A cheap constant mechanism, which leaks nothing whatever its audits prove; None if there is none below."""
        goal = self.goal
        cost = sum((goal.terms.weight(j) * c for j, c in goal.costs.items()), np.zeros_like(self.region.orbits.cost))
        q = self.region.cheapest_constant(self.region.tied.sums(cost))
        nothing = {watcher.place: 0.0 for watcher in goal.watchers}
        if q is None or goal.value(self.region.matrix(q), nothing) >= below:
            return None
        made = self.audited(q, 0.0)
        return made if isinstance(made, Kept) else None

    # ------------------------------------------------------------ several limits: the master knows what more room costs

    def _within_limits(self, rounds: Rounds, bound: DesignBound, anchor: Exact) -> None:
        """With ever more room in the limits, at last the anchor itself."""
        room, found = self._first_room(rounds, bound)
        for attempt in range(ATTEMPTS):
            found = rounds.roomier(room) if attempt else found
            q = self.region.exact(found.q, self.region.anchor or anchor)
            made = None if q is None else self.audited(q, bound.value, room)
            self.take(made, found.found_by)
            if (isinstance(made, Kept) and not made.doubtful) or room == WIDEST or self.clock.expired:
                return
            wide = made if isinstance(made, float) else 0.0
            room = min(max(4.0 * room, WIDER * wide), WIDEST)  # the next audit has less time, and will be wider

    def _first_room(self, rounds: Rounds, bound: DesignBound) -> tuple[float, Found]:
        """The share of the limits that may be left to audits, so that this costs a part of the gap, and the mechanism that leaves it.

        The prices of the bound say what it costs, unless a limit begins to bind on the way.
        """
        limits = {watcher.place: watcher.limit or 0.0 for watcher in self.limited}
        spent = sum(part.weight * limits.get(j, 0.0) for j, part in bound.priors)
        wanted = GIVEN_AWAY * self.gap * abs(rounds.best.attained)
        room = float(np.clip(wanted / spent if spent > 0.0 else LARGE, SMALL, LARGE))
        while True:
            found = rounds.roomier(room)
            if found.attained <= rounds.best.attained + 2.0 * wanted or room <= SMALL or self.clock.expired:
                return room, found
            room = max(room / 8.0, SMALL)

    # ------------------------------------------------------------ one budget of leakage, and nothing else to meet

    def _within_budget(self, found: Found, anchor: Found, lower: float) -> None:
        """Mixed with a little of the constant mechanism, then with more, until the audit's bound meets the budget; then with less.

        Leakage is convex, and 0 there. The first may take nearly all the time: if it fails, what it left to its check is there for
        others. Every later one has most of what is left, so that it will leave a wider interval: as wide as the one before had become
        in most of that time. One that fails after one that did not is the last: the next would have less time for as much.
        """
        (watcher,) = self.limited
        leaks, budget = found.leakages[watcher.place], watcher.limit or 0.0
        room = self._room(found, anchor, lower)
        share = max(1.0 - budget * (1.0 - room) / leaks, 0.0) if leaks > 0.0 else 0.0
        failed, met, kept = (0.0, math.inf), (1.0, 0.0), False  # with what they leak
        diluted = False

        def mixed(share: float) -> Floats:
            return np.asarray((1.0 - share) * found.q + share * anchor.q)

        def on_the_way(audit: Audit) -> bool:
            """With so much of the constant one that what is known by now meets the budget."""
            self._boxed[watcher.place] = audit
            brief = replace(self.search.part(self.clock.part(BRIEFLY), room), crew=None)  # who are at the other audit
            meets = audit.boxed and self.mixture(mixed(_diluted(share, budget, audit)), brief, found.found_by)[1]
            return meets and bool(self.kept) and self.stand(self.kept[-1])

        for attempt in range(MIXTURES):
            part = self.clock if diluted else self.clock.part(LATER if attempt else FIRST)
            given, began = part.remaining, part.seconds
            run = self.search.part(part, room, anytime=0 if diluted else AFRESH)
            audit, meets = self.mixture(mixed(share), run, found.found_by, on_the_way)
            if meets:
                met, kept, upper = (share, audit.lower), True, audit.upper
                if attempt == 0 or diluted or closed(lower, self.upper, self.gap) or self.clock.expired:
                    return
            elif kept:
                return
            elif audit.boxed:
                diluted = True
                share = _diluted(share, budget, audit)
                continue
            else:
                failed = share, max(audit.lower, budget, ROUNDING)
                soon, spent = SAFE * LATER * self.clock.remaining, part.seconds - began
                if audit.out_of_time or spent + audit.checking > soon:  # its check is to be in time, too
                    upper = upper_after(part.trace, began + soon * spent / given)
                else:
                    upper = audit.upper
            last = not kept and attempt >= MIXTURES - 2
            share = 1.0 if last else _between(failed, met, _level(budget, audit, upper))

    def mixture(
        self, q: Floats, part: Run, found_by: str = "start", way: Callable[[Audit], bool] | None = None
    ) -> tuple[Audit, bool]:
        """The audit of a mechanism within one budget, and whether it meets it; if so it is kept, if it is the best."""
        (watcher,) = self.limited
        budget, exact = watcher.limit or 0.0, self.region.exact(q, [])
        assert exact is not None
        rows, constant = self.region.own_rows(exact), self.region.is_constant(exact)
        search = replace(part, checks=CHECKS)
        audit = self._audit(watcher, rows, search, budget - ROUNDING, news=not constant, way=way)
        meets = audit.upper <= budget - ROUNDING or constant
        doubtful = not meets and _is_in_doubt(audit, budget)
        attained = float(self.problem.expected_distortion(rows))
        made = Kept(exact, rows, {watcher.place: audit}, attained, constant, found_by, doubtful)
        if meets or doubtful:
            self.take(made, found_by)
        return audit, meets or doubtful

    def _room(self, found: Found, anchor: Found, lower: float) -> float:
        """The share of its budget that a mechanism may leave to the audit, so that this costs what the search left of the gap."""
        costs = anchor.attained - found.attained
        left = USED * self.gap * found.attained - (found.attained - lower)
        cheap = max(left, GIVEN_AWAY * self.gap * found.attained) / costs if costs > 0.0 else 0.0
        return float(np.clip(cheap, max(0.01 * self.gap, 1e-9), LARGE))


MIXTURES = ATTEMPTS


def _is_in_doubt(audit: Audit, limit: float) -> bool:
    """True if rounding decides if a limit near 0 is kept."""
    return limit < TINY and audit.upper <= limit + ROUNDING


def _diluted(share: float, budget: float, audit: Audit) -> float:
    """The share of the constant mechanism, beyond this one, with which the boxes of an audit should meet a budget."""
    return share + (1.0 - share) * min(max(DILUTED * (1.0 - (budget - 3.0 * ROUNDING) / audit.upper), 0.0), 1.0)


def _level(budget: float, audit: Audit, upper: float) -> float:
    """Leakage that a mechanism may have so that an audit as wide as this one, with this upper end, finds it in its budget."""
    width = 0.5
    if audit.upper > 0.0:
        width = min(max(1.0 - audit.lower / upper, MARGIN * (1.0 - audit.lower / audit.upper)), width)
    return max(budget - 3.0 * ROUNDING, 0.0) * (1.0 - width)


def _between(failed: tuple[float, float], met: tuple[float, float], level: float) -> float:
    """The share at which the chord of the leakages of two shares is at this level, which is above it there (convexity); or their mean.

    >>> _between((0.0, 1.0), (1.0, 0.0), 0.75), _between((0.0, 1.0), (1.0, 0.875), 0.75)
    (0.25, 0.5)
    """
    chord = failed[0] + (met[0] - failed[0]) * (failed[1] - level) / (failed[1] - met[1])
    return chord if failed[0] < chord < met[0] else 0.5 * (failed[0] + met[0])


def upper_after(trace: Sequence[Progress], seconds: float) -> float:
    """The upper end that an audit had come to after so many seconds; infinite if it had none."""
    return min((moment.upper for moment in trace if moment.seconds <= seconds), default=math.inf)
