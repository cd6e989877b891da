"""The adversaries of a constrained design: its own, and those of its limits of leakage; what is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.audits import Audit, EntropyAudit, audit_of
from dalenius.designs.exchange.known import KnownPriors
from dalenius.designs.oracle import Oracle, Prior, oracle_of
from dalenius.information.arrays import Floats
from dalenius.model import Adversary, EntropyAtLeast, MinDistortion
from dalenius.model.constraints import LeakageLimit
from dalenius.model.design_problem import DesignProblem
from dalenius.reduction import Orbits
from dalenius.search import Clock, Run

__all__ = ["Watcher", "watchers_of"]

SLACK = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that an audit's prior has above the bound


@dataclass(frozen=True, eq=False)
class Watcher:
    """An adversary, asked for priors, and those that it has answered.

    Attributes
    ----------
    number : int or None
        Of the constraint that limits what is leaked to it; None of the design's own adversary.
    adversary : Adversary
    limit : float or None
        In nats; None where its leakage is what is minimised.
    oracle : Oracle
    known : KnownPriors
    """

    number: int | None
    adversary: Adversary
    limit: float | None
    oracle: Oracle
    known: KnownPriors

    def replies(self, Q: Floats, clock: Clock, starts: int) -> tuple[list[Prior], float]:
        """Priors that learn much from a mechanism (orbits, outputs), and how much the best of them does, in nats."""
        found = self.oracle.worst_priors(Q, self.known.priors, clock, starts)
        return found, max((self.oracle.leakage(prior, Q) for prior in found), default=0.0)

    def audited(self, problem: DesignProblem, rows: Sequence[Sequence[object]], search: Run, enough: float) -> Audit:
        """The audit of a mechanism's exact rows, run until its upper bound is enough or its gap small; what it finds becomes known."""
        audit = audit_of(problem.release(rows, self.adversary), search)  # type: ignore[arg-type]
        if isinstance(audit, EntropyAudit):
            audit.enough = enough
        audit.run()
        if isinstance(audit, EntropyAudit) and isinstance(self.adversary, EntropyAtLeast):
            found = audit.exposure(SLACK * (1.0 + self.adversary.max_knowledge(problem.records)))
            if found is not None:
                masses = found.masses / found.masses.sum()
                self.known.add([Prior(*self.known.orbits.apply(found.record, masses))])
        return audit


def watchers_of(problem: DesignProblem, orbits: Orbits, rng: np.random.Generator) -> list[Watcher]:
    """The design's own adversary, if it has one, then those of its limits, in their order."""
    named: list[tuple[int | None, Adversary, float | None]] = []
    if problem.adversary is not None:
        limit = problem.max_leakage_nats if isinstance(problem, MinDistortion) else None
        named.append((None, problem.adversary, limit))
    named += [
        (j, constraint.adversary, constraint.nats)
        for j, constraint in enumerate(problem.own_constraints)
        if isinstance(constraint, LeakageLimit)
    ]
    return [
        Watcher(number, adversary, limit, oracle_of(problem, orbits.completions, rng, adversary), KnownPriors(orbits))
        for number, adversary, limit in named
    ]
