"""Exact mechanisms and their audits: the best one that meets its budget, and those of which only the checker can say so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dalenius.audits import Audit, EntropyAudit, audit_of
from dalenius.designs.exchange.known import KnownPriors
from dalenius.designs.exchange.mechanisms import Rows
from dalenius.designs.oracle import Prior
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.search import Clock, Run

__all__ = ["AuditedMechanism", "MechanismAudits"]

SLACK = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that an audit's prior has above the bound


@dataclass(frozen=True, eq=False)
class AuditedMechanism:
    """A mechanism that can be handed out.

    Attributes
    ----------
    rows : exact, of the problem's class
    audit : the audit of its release, which has run
    attained : float
        What is to be minimised: its leakage's upper bound in nats, or its expected distortion.
    doubtful : bool
        Rounding decides whether it meets its budget.
    found_by : str
        The solver whose mechanism it is made from.
    """

    rows: Rows
    audit: Audit
    attained: float
    doubtful: bool = False
    found_by: str = "start"


class MechanismAudits:
    """Audits mechanisms and keeps the best; what their audits find becomes known to the master program."""

    def __init__(self, problem: DesignProblem, search: Run, known: KnownPriors) -> None:
        self.problem, self.search, self.known = problem, search, known
        self._best: AuditedMechanism | None = None
        self.doubtful = list[AuditedMechanism]()

    @property
    def best(self) -> AuditedMechanism | None:
        """The best that meets its budget. The exchange goes on with what time is left without checking its proof."""
        return self._best

    @best.setter
    def best(self, found: AuditedMechanism) -> None:
        before = 0.0 if self._best is None else self._best.audit.checking
        self.search.clock.reserve(found.audit.checking - before)
        self._best = found

    @property
    def upper(self) -> float:
        """What the best mechanism attains; infinite while there is none."""
        return math.inf if self.best is None else self.best.attained

    def audited(self, rows: Rows, clock: Clock, *, gap: float, enough: float = 0.0, news: bool = True) -> Audit:
        """The audit of a mechanism, run until its upper bound is enough or its gap small; its prior becomes known, if that is news."""
        audit = audit_of(self.problem.release(rows), self.search.part(clock, gap))
        if isinstance(audit, EntropyAudit):
            audit.enough = enough
        audit.run()
        if isinstance(audit, EntropyAudit) and news:
            found = audit.exposure(SLACK * (1.0 + self.problem.max_knowledge))
            if found is not None:
                masses = found.masses / found.masses.sum()
                self.known.add([Prior(*self.known.orbits.apply(found.record, masses))])
        return audit

    def candidates(self) -> Iterator[AuditedMechanism]:
        """The mechanisms to hand out, the best first."""
        yield from reversed(self.doubtful)
        if self.best is not None:
            yield self.best
