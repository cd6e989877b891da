"""The adversaries of a constrained design: its own, those of its limits of leakage, those of its objective; what is known of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dalenius.audits import Audit, EntropyAudit, audit_of
from dalenius.designs.exchange.known import KnownPriors
from dalenius.designs.oracle import Oracle, Prior, oracle_of
from dalenius.designs.terms import Terms
from dalenius.information.arrays import Floats
from dalenius.model import Adversary, EntropyAtLeast, MinDistortion
from dalenius.model.constraints import LeakageLimit
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.reduction import Orbits
from dalenius.search import Clock, Run

__all__ = ["OWN", "Place", "Watched", "Watcher", "term_of", "watchers_of"]

SLACK = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that an audit's prior has above the bound


class Place(NamedTuple):
    """Where an adversary stands in a model: it is its own, that of a constraint, or that of a term of the objective, by number."""

    where: Literal["own", "constraint", "term"]
    number: int = 0


OWN = Place("own")
Watched = tuple[Place, Prior]  # whose prior it is, and the prior


@dataclass(frozen=True, eq=False)
class Watcher:
    """An adversary, asked for priors, and those that it has answered.

    Attributes
    ----------
    place : Place
    adversary : Adversary
    limit : float or None
        In nats; None where its leakage is minimised.
    term : int or None
        The number of that term of what is minimised; None where there is a limit.
    oracle : Oracle
    known : KnownPriors
    """

    place: Place
    adversary: Adversary
    limit: float | None
    term: int | None
    oracle: Oracle
    known: KnownPriors

    def replies(self, Q: Floats, clock: Clock, starts: int) -> tuple[list[Prior], float]:
        """Priors that learn much from a mechanism (orbits, outputs), and how much the best of them does, in nats."""
        found = self.oracle.worst_priors(Q, self.known.priors, clock, starts)
        return found, max((self.oracle.leakage(prior, Q) for prior in found), default=0.0)

    def seen(self, Q: Floats) -> float:
        """What the priors that are known learn from a mechanism at most, in nats."""
        return max((self.oracle.leakage(prior, Q) for prior in self.known.priors), default=0.0)

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
    """The design's own adversary, if it has one, then those of its limits, then those of its objective, each in their order."""
    return [
        Watcher(
            place,
            adversary,
            limit,
            term_of(problem, place),
            oracle_of(problem, orbits.completions, rng, adversary),
            KnownPriors(orbits),
        )
        for place, adversary, limit in _named(problem)
    ]


def term_of(problem: DesignProblem, place: Place) -> int | None:
    """The term of what is minimised that the leakage to the adversary who stands there is; None if it has a limit."""
    if place == OWN:
        return None if isinstance(problem, MinDistortion) else 0
    return place.number if place.where == "term" else None


def _named(problem: DesignProblem) -> Iterator[tuple[Place, Adversary, float | None]]:
    """Where each stands, who it is, and its limit."""
    if problem.adversary is not None:
        yield OWN, problem.adversary, problem.max_leakage_nats if isinstance(problem, MinDistortion) else None
    for j, constraint in enumerate(problem.own_constraints):
        if isinstance(constraint, LeakageLimit):
            yield Place("constraint", j), constraint.adversary, constraint.nats
    for j, adversary in Terms.of(problem).adversaries.items():
        if j:
            yield Place("term", j), adversary, None
