"""Problem 3: the least distortion within a budget of leakage."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from dalenius.audits import Audit
from dalenius.designs.exchange.audits import AuditedMechanism, MechanismAudits
from dalenius.designs.exchange.bound import MasterBound, WeightedPrior
from dalenius.designs.exchange.gap import closed
from dalenius.designs.exchange.goal import Goal
from dalenius.designs.exchange.mechanisms import RepairedMechanism, Rows
from dalenius.designs.exchange.statement import MasterStatement
from dalenius.designs.oracle import Prior
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.programs import MinDistortionProgram
from dalenius.search import Clock, Progress

__all__ = ["LeastDistortion"]

MIXTURES = 6
FIRST, LATER = (
    0.95,
    0.8,
)  # shares of the time that is left for the first mixture's audit and check, and for a later one's
SAFE = 0.8  # share of the time of a later one's search in which the one before had become narrow enough
WIDER = 2.0  # times as wide as the one before it is allowed to be, at the least
GIVEN_AWAY = 0.3  # share of the gap that a mechanism may distort more so that its audit is easier, whatever the search has left of it
USED = 0.9  # share of the gap that search and audit may take together
TINY = 1e-9  # budgets in nats near which rounding decides
HEAVIEST = 1e8  # weight of a prior, relative to the largest cost: posteriors are written in doubles
ROUNDING = 1e-11  # nats by which an audit's upper bound may grow when it is written and checked


class LeastDistortion(Goal):
    """Its mechanisms meet the budget by mixing with the constant one: leakage is convex, and 0 there."""

    block: ClassVar[str] = MinDistortionProgram.name

    @property
    def budget(self) -> float:
        """In nats."""
        assert isinstance(self.problem, MinDistortion)
        return self.problem.max_leakage_nats

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion == self.problem.least_distortion

    # ------------------------------------------------------------ from below

    def without_search(self, anyone: Prior) -> MasterBound:
        """The least distortion. The prior is there because a certificate needs one."""
        least = float(self.problem.least_distortion)
        if least <= 0.0:
            return MasterBound()
        weight = max(1e-16 * least / (1.0 + self.budget), 5e-324)
        pi = anyone.masses.sum(axis=1, keepdims=True)
        posteriors = np.tile(pi, (1, self.mechanisms.cost.shape[1]))
        return MasterBound(least * (1.0 - 2e-15), (WeightedPrior(anyone, weight, posteriors),))

    def statement(self, priors: Sequence[Prior]) -> MasterStatement:
        return MasterStatement(priors, self.mechanisms.cost, self.mechanisms.tied, max_leakage=self.budget)

    def writable(self, multipliers: Mapping[str, Floats]) -> Mapping[str, Floats]:
        """Lighter weights with ratios as much farther from 1: the same bound, but for terms of second order in the ratios."""
        weights, ratios = multipliers["weights"], np.expm1(multipliers["log_ratio"])
        lighter = HEAVIEST * float(self.mechanisms.cost.max()) / max(float(weights.max()), 1e-300)
        if not lighter < 1.0:
            return multipliers
        log_ratio = np.log1p(np.maximum(ratios / lighter, -0.9))
        return {**multipliers, "weights": lighter * weights, "log_ratio": log_ratio}

    def allowed_leakage(self, attained: float) -> float:
        return self.budget

    def proved(self, bound: MasterBound) -> float:
        least = self.problem.tied.sums(self._costs() + bound.scores()).min(axis=1)
        return float(np.sum(least)) - self.budget * bound.weight

    # ------------------------------------------------------------ from above

    def repaired(self, Q: Floats, leakage: float) -> RepairedMechanism:
        """Mixed with the constant mechanism: leakage is convex, and 0 there."""
        share = max(1.0 - self.budget / leakage, 0.0) if leakage > 0.0 else 0.0
        mixed = self.mechanisms.mixed(Q, share)
        return RepairedMechanism(mixed, self.mechanisms.distortion(mixed), (1.0 - share) * leakage)

    def start(self, audits: MechanismAudits, clock: Clock) -> None:
        """The constant mechanism, which tells nothing: where it is within the gap there is nothing to search for."""
        rows = self.mechanisms.exact(self.mechanisms.constant)
        audit = audits.audited(rows, clock, gap=self.gap, enough=self.budget - ROUNDING, news=False)
        self._kept(rows, audit, audits, "start")

    def audit(self, found: RepairedMechanism, audits: MechanismAudits, lower: float, clock: Clock) -> None:
        """Mixed with a little of the constant mechanism, then with more, until the audit's bound meets the budget; then with less.

        The first may take nearly all the time: if it fails, what it left to its check is there for others. Every later one has most of
        what is left, so that it will leave a wider interval: as wide as the one before had become in most of that time. One that fails
        after one that did not is the last: the next would have less time for as much.
        """
        room = self._room(found, lower)
        share, failed, met = self._share(found, room), 0.0, math.inf
        for attempt in range(MIXTURES):
            rows = self.mechanisms.exact(self.mechanisms.mixed(found.Q, share))
            part = clock.part(LATER if attempt else FIRST)
            given, began = part.remaining, part.seconds
            audit = audits.audited(rows, part, gap=room, enough=self.budget - ROUNDING)
            if self._kept(rows, audit, audits, found.found_by):
                met = share
                if attempt == 0 or closed(lower, audits.upper, self.gap) or clock.expired:
                    return
            elif met <= 1.0:
                return
            else:
                failed = share
            if met <= 1.0:
                share = 0.5 * (failed + met)
            elif attempt < MIXTURES - 2:
                soon = (
                    SAFE * LATER * clock.remaining * (part.seconds - began) / given
                )  # its check is to be in time, too
                share = 1.0 - (1.0 - share) * self._left_by(audit, _upper_after(part.trace, began + soon))
            else:
                share = 1.0

    def last_resort(self, audits: MechanismAudits, clock: Clock) -> Iterator[AuditedMechanism]:
        """The constant mechanism: what meets its budget by rounding only may be refused."""
        rows = self.mechanisms.exact(self.mechanisms.constant)
        audit = audits.audited(rows, clock, gap=self.gap, enough=self.budget - ROUNDING)
        yield AuditedMechanism(rows, audit, float(self.problem.expected_distortion(rows)))

    def _room(self, found: RepairedMechanism, lower: float) -> float:
        """The share of its budget that a mechanism may leave to the audit, so that this costs what the search left of the gap."""
        costs = self.mechanisms.distortion(self.mechanisms.constant) - found.attained
        left = USED * self.gap * found.attained - (found.attained - lower)
        cheap = max(left, GIVEN_AWAY * self.gap * found.attained) / costs if costs > 0.0 else 0.0
        return float(np.clip(cheap, max(0.01 * self.gap, 1e-9), 0.3))

    def _share(self, found: RepairedMechanism, room: float) -> float:
        """The share of the constant mechanism that leaves so much room."""
        return max(1.0 - self.budget * (1.0 - room) / found.leakage, 0.0) if found.leakage > 0.0 else 0.0

    def _left_by(self, audit: Audit, upper: float) -> float:
        """The share that a mechanism should keep of itself, so that an audit that comes to this upper end finds it in its budget."""
        width = 0.5
        if audit.upper > 0.0:
            width = min(max(1.0 - audit.lower / upper, WIDER * (1.0 - audit.lower / audit.upper)), width)
        budget = max(self.budget - 3.0 * ROUNDING, 0.0)
        return budget * (1.0 - width) / max(audit.lower, self.budget, ROUNDING)

    def _kept(self, rows: Rows, audit: Audit, audits: MechanismAudits, found_by: str) -> bool:
        """Whether this mechanism meets the budget; of budgets near 0, where rounding is in doubt, the checker judges in the end."""
        meets = audit.upper <= self.budget - ROUNDING or self.problem.tied.is_constant(rows)
        doubtful = not meets and self.budget < TINY and audit.upper <= self.budget + ROUNDING
        attained = float(self.problem.expected_distortion(rows))
        found = AuditedMechanism(rows, audit, attained, doubtful, found_by)
        if meets and found.attained < audits.upper:
            audits.best = found
        elif doubtful and found.attained < audits.upper:
            audits.doubtful.append(found)
        return meets or doubtful


def _upper_after(trace: Sequence[Progress], seconds: float) -> float:
    """The upper end that an audit had come to after so many seconds; infinite if it had none."""
    return min((moment.upper for moment in trace if moment.seconds <= seconds), default=math.inf)
