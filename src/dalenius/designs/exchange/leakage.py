"""Problem 2: the least leakage within a budget of distortion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from dalenius.designs.exchange.audits import AuditedMechanism, MechanismAudits
from dalenius.designs.exchange.bound import MasterBound
from dalenius.designs.exchange.goal import Goal
from dalenius.designs.exchange.mechanisms import RepairedMechanism, Rows
from dalenius.designs.exchange.statement import MasterStatement
from dalenius.designs.oracle import Prior
from dalenius.designs.rational import mixtures
from dalenius.information.arrays import Floats
from dalenius.programs import MinLeakageProgram
from dalenius.search import Clock

__all__ = ["LeastLeakage"]

ROUGH = 0.3  # gap of the audit of a first mechanism
AUDIT_GAP = 0.25  # share of the gap that the audit of a mechanism may leave in any case


class LeastLeakage(Goal):
    """Its mechanisms meet the budget by mixing with one of least distortion; the audit says what they attain."""

    block: ClassVar[str] = MinLeakageProgram.name

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion <= self.problem.budget

    def statement(self, priors: Sequence[Prior]) -> MasterStatement:
        budget = float(self.problem.budget)
        return MasterStatement(priors, self.mechanisms.cost, self.mechanisms.tied, max_distortion=budget)

    def allowed_leakage(self, attained: float) -> float:
        return attained

    def proved(self, bound: MasterBound) -> float:
        nu = bound.budget_multiplier
        least = self.problem.tied.sums(bound.scores() / bound.weight + nu * self._costs()).min(axis=1)
        return float(np.sum(least)) - nu * float(self.problem.budget)

    def repaired(self, Q: Floats, leakage: float) -> RepairedMechanism:
        """As it is: what is attained is the leakage, and rounding of the distortion is for `audit`."""
        return RepairedMechanism(Q, leakage, leakage)

    def start(self, audits: MechanismAudits, clock: Clock) -> None:
        """Time shared between a mechanism of least distortion and the constant one; it leaks less than the former (convexity)."""
        rows = self._within_budget(self.mechanisms.constant)
        audit = audits.audited(rows, clock, gap=ROUGH, news=False)
        audits.best = AuditedMechanism(rows, audit, audit.upper)

    def audit(self, found: RepairedMechanism, audits: MechanismAudits, lower: float, clock: Clock) -> None:
        rows = self._within_budget(found.Q)
        enough = lower / (1.0 - 0.9 * min(self.gap, 0.9))
        left = 1.0 - found.attained / enough if enough > 0.0 else 0.0
        audit = audits.audited(rows, clock, gap=max(left, AUDIT_GAP * self.gap), enough=enough)
        if audits.best is None or audit.upper < audits.upper:
            audits.best = AuditedMechanism(rows, audit, audit.upper, found_by=found.found_by)

    def _within_budget(self, Q: Floats) -> Rows:
        """Mixed with as little of a mechanism of least distortion as makes the exact rows meet the budget."""
        mechanisms, budget = self.mechanisms, float(self.problem.budget)
        least = mechanisms.cheapest(near=Q)
        excess, spare = mechanisms.distortion(Q) - budget, budget - mechanisms.distortion(least)
        share = min(excess / (excess + spare), 1.0) if excess > 0.0 and excess + spare > 0.0 else 0.0
        for mixed in mixtures(Q, least, share):
            rows = mechanisms.exact(mixed)
            if self.problem.expected_distortion(rows) <= self.problem.budget:
                return rows
        return mechanisms.exact(mechanisms.least)
