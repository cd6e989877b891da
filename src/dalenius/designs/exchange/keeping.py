"""Mechanisms that can be handed out: made exact, audited against everybody, and the best of them kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dalenius.audits.audit import Audit
from dalenius.designs.exchange.bound import DesignBound
from dalenius.designs.exchange.goals import Goal, Place, Watcher
from dalenius.designs.exchange.loop import Rounds
from dalenius.designs.exchange.region import Exact
from dalenius.search import Clock, Progress, Run

Rows = list[list[Fraction]]

AUDIT_GAP = 0.25  # share of the gap that the audit of a mechanism may leave in any case
AUDITING, SEVERAL = 0.9, 0.45  # shares of the time that is left which an audit may take; several are proved twice
GIVEN_AWAY = (
    0.3  # share of the gap that a mechanism may attain more so that its audits are easier, whatever the search has left
)
ROUNDING = 1e-11  # nats by which an audit's upper bound may grow when it is written and checked
ATTEMPTS = 6
SMALL, LARGE = 1e-7, 0.3  # shares of the limits that may be left to audits at first
WIDER, WIDEST = (
    1.5,
    0.9,
)  # how much wider than the last one an audit may be; the largest share of the limits left to one
SAFE = 0.8  # share of the time of the next audit in which this one had become narrow enough
HALF = 0.5  # no audit is reckoned with that is wider
PRICED = 0.7  # share of what room may cost that prices may say it does
USED = 0.9  # share of the gap that search and audit may take together
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
    """

    def __init__(self, goal: Goal, search: Run) -> None:
        self.goal, self.region, self.problem, self.search = goal, goal.region, goal.region.problem, search
        self.kept, self.doubtful = list[Kept](), list[Kept]()

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
        """What the best mechanism attains; infinite while there is none."""
        return self.kept[-1].attained if self.kept else math.inf

    def take(self, made: Kept | float | None, found_by: str = "start") -> None:
        """Keep it, if it was proved to keep all limits and is the best; the search goes on without the time of its proof.

        Of limits near 0, where rounding is in doubt, the checker judges in the end.
        """
        if not isinstance(made, Kept) or made.attained >= self.upper:
            return
        if made.doubtful:
            self.doubtful.append(made)
            return
        before = _checking(self.kept[-1]) if self.kept else 0.0
        if self.goal.is_free:
            self.clock.reserve(_checking(made) - before)
        self.kept.append(replace(made, found_by=found_by))

    def keep(self, rounds: Rounds, bound: DesignBound, anchor: Exact, *, last: bool) -> None:
        """Audit what was found: where leakage is limited with ever more room in the limits. The last audit may take all the time."""
        if not self.limited:
            best = rounds.best
            q, share = self.region.exact(best.q, anchor), 1.0 if last else AUDITING
            self.take(None if q is None else self.audited(q, bound.value, share=share), best.found_by)
        else:
            self._within_limits(rounds, bound, anchor)
            if self.doubtful:
                self.take(self.silent(self.upper))

    # ------------------------------------------------------------ audits

    def audited(
        self, q: Exact, lower: float, room: float = 0.0, share: float = AUDITING, gap: float | None = None
    ) -> Kept | float:
        """The mechanism with its audits; the relative width of the first one that does not prove its limit.

        That is what it had come to in most of the time that the next one has, whose check is to be in time, too.
        """
        rows, audits, Q = self.region.own_rows(q), dict[Place, Audit](), self.region.matrix(q)
        constant, target = self.region.is_constant(q), lower / (1.0 - 0.9 * min(self.gap, 0.9))
        (share, checks), doubtful = (share, 1) if self.goal.is_free else (SEVERAL, 2), False
        for watcher in sorted(self.goal.watchers, key=lambda watcher: watcher.limit is None):
            if watcher.limit is not None:
                asked = min(max(room if self.goal.is_free else 0.1 * room, 1e-9), 0.1) if gap is None else gap
                clock, enough = self.clock.part(share), watcher.limit - ROUNDING
                given, began = clock.remaining, clock.seconds
                part = self.search.part(clock, asked, checks=checks)
                audit = watcher.audited(self.problem, rows, part, enough, news=not constant)
                if audit.upper > max(enough, 0.0) and not constant:
                    if not _is_in_doubt(audit, watcher.limit):
                        soon, spent = SAFE * share * self.clock.remaining, clock.seconds - began
                        late = audit.out_of_time or spent + audit.checking > soon
                        upper = (
                            upper_after(clock.trace, began + soon * spent / max(given, 1e-9)) if late else audit.upper
                        )
                        return min(1.0 - audit.lower / upper, HALF)
                    doubtful = True
            else:
                enough = self.goal.enough(watcher, Q, target)
                left = 1.0 - watcher.seen(self.region.expanded(Q)) / enough if enough > 0.0 else 0.0
                asked = max(left, AUDIT_GAP * self.gap) if gap is None else gap
                part = self.search.part(self.clock.part(share), asked, checks=checks)
                audit = watcher.audited(self.problem, rows, part, 0.0 if gap else enough, news=gap is None)
            audits[watcher.place] = audit
        leakages = {j: 0.0 if constant else audit.upper for j, audit in audits.items()}
        return Kept(q, rows, audits, self.goal.value(Q, leakages), constant, doubtful=doubtful)

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

    # ------------------------------------------------------------ limits of leakage

    def _within_limits(self, rounds: Rounds, bound: DesignBound, anchor: Exact) -> None:
        """With ever more room in the limits, at last nearly the anchor itself."""
        most, room = self._given_away(rounds, bound)
        enough = rounds.best.attained + most
        found = rounds.roomier(room)
        while found.attained > enough and room > SMALL and not self.clock.expired:  # a limit began to bind on the way
            room = max(room / 8.0, SMALL)
            found = rounds.roomier(room)
        for _ in range(ATTEMPTS):
            q = self.region.exact(found.q, self.region.anchor or anchor)
            made = None if q is None else self.audited(q, bound.value, room)
            self.take(made, found.found_by)
            if (isinstance(made, Kept) and not made.doubtful) or room == WIDEST or self.clock.expired:
                return
            wide = made if isinstance(made, float) else 0.0
            room = min(max(4.0 * room, WIDER * wide), WIDEST)  # the next audit has less time, and will be wider
            rounds.learned()
            found = rounds.roomier(room)

    def _given_away(self, rounds: Rounds, bound: DesignBound) -> tuple[float, float]:
        """What room in the limits may cost, so that search and audits keep the gap together, and how large a share that pays for.

        A mixture costs by how much the anchor is worse; a master, which the prices of the bound know, less, but hardly more than they
        say.
        """
        best, whole = rounds.best, self.gap * abs(rounds.best.attained)
        limits = {watcher.place: watcher.limit or 0.0 for watcher in self.limited}
        audits = AUDIT_GAP * (len(limits) < len(self.goal.watchers))
        most = max((USED - audits) * whole - (best.attained - bound.value), GIVEN_AWAY * whole)
        if self.goal.is_free:
            cost = rounds.anchor.attained - best.attained
        else:
            cost = sum(part.weight * limits.get(place, 0.0) for place, part in bound.priors) / PRICED
        return most, float(np.clip(most / cost if cost > 0.0 else LARGE, SMALL, LARGE))


def _checking(kept: Kept) -> float:
    """Seconds that checking its audits takes, predicted."""
    return sum(audit.checking for audit in kept.audits.values())


def _is_in_doubt(audit: Audit, limit: float) -> bool:
    """Whether rounding decides if a limit near 0 is kept."""
    return limit < TINY and audit.upper <= limit + ROUNDING


def upper_after(trace: Sequence[Progress], seconds: float) -> float:
    """The upper end that an audit had come to after so many seconds; infinite if it had none."""
    return min((moment.upper for moment in trace if moment.seconds <= seconds), default=math.inf)
