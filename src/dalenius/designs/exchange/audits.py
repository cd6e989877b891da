"""Exact mechanisms and their audits, and the priors that the master program knows from these and from the oracle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.audits import Audit, ClassAudit, EntropyAudit, audit_of
from dalenius.designs.exchange.mechanisms import Rows
from dalenius.designs.oracle import Prior
from dalenius.information.arrays import Floats
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.reduction import Orbits
from dalenius.search import Clock, Run

Key = tuple[int, bytes]
IDLE = 4  # rounds without weight after which a prior may be dropped
FEW = 40  # so many priors stay in any case
USED = 1e-7  # share of all weights above which a prior is not idle
SLACK = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that an audit's prior has above the bound


class KnownPriors:
    """Priors on the orbits of a problem's inputs, in the order in which they were found."""

    def __init__(self, orbits: Orbits) -> None:
        self.orbits = orbits
        self._priors: dict[Key, Prior] = {}
        self._idle: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._priors)

    @property
    def priors(self) -> list[Prior]:
        return list(self._priors.values())

    def add(self, priors: Sequence[Prior]) -> int:
        """Make priors and their images known; how many are new."""
        before = len(self)
        for prior in priors:
            images = [prior]
            if prior.hint is None:
                images = [Prior(*image) for image in self.orbits.images(prior.record, prior.masses)]
            for image in images:
                key = _key(image)
                self._priors.setdefault(key, image)
                self._idle.setdefault(key, 0)
        return len(self) - before

    def learn(self, audit: Audit) -> None:
        """Make known what an audit found that has run."""
        if isinstance(audit, EntropyAudit):
            found = audit.exposure(SLACK * (1.0 + audit.problem.max_knowledge))
            if found is not None:
                self.add([Prior(*self.orbits.apply(found.record, found.masses / found.masses.sum()))])
        elif isinstance(audit, ClassAudit):  # which looks at every selection, as an oracle need not
            found = audit.exposure(0.0)
            if found is not None:
                self.add([Prior(found.record, found.masses, found.prior)])

    def used(self, weights: Floats) -> None:
        """Note which of the priors, in their order, had weight in a round."""
        for key, weight in zip(list(self._idle), weights.tolist(), strict=True):
            self._idle[key] = 0 if weight > USED * weights.sum() else self._idle[key] + 1

    def drop_idle(self) -> None:
        """Forget the first of those that had no weight for a while, unless few are left."""
        for key in [key for key, idle in self._idle.items() if idle > IDLE][: max(len(self) - FEW, 0)]:
            del self._priors[key], self._idle[key]


def distinct(priors: Sequence[Prior]) -> list[Prior]:
    """One of those that differ by rounding only."""
    return list({_key(prior): prior for prior in priors}.values())


def _key(prior: Prior) -> Key:
    """The same for priors that differ by rounding."""
    return prior.record, (np.round(prior.masses, 8) + 0.0).tobytes()


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
        if news:
            self.known.learn(audit)
        return audit

    def candidates(self) -> Iterator[AuditedMechanism]:
        """The mechanisms to hand out, the best first."""
        yield from reversed(self.doubtful)
        if self.best is not None:
            yield self.best
