"""What every search is handed: its limits, its clock, its random numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.search.checkpoint import Checkpoint
from dalenius.search.clock import Clock
from dalenius.search.crew import Crew
from dalenius.search.limits import Limits

__all__ = ["SOLVERS", "Run", "need_solver"]

READING = 0.15  # share of a check that every process does
SOLVERS = ("auto", "own", "clarabel", "mosek", "scs")


def need_solver(solver: object) -> str:
    """One of `SOLVERS`, in small letters; `InputError` if it is none. Whether it is there is another question.

    >>> need_solver("CLARABEL")
    'clarabel'
    """
    if not isinstance(solver, str) or solver.lower() not in SOLVERS:
        raise InputError(f"solver: expected one of {', '.join(SOLVERS)}; got {brief(solver)}")
    return solver.lower()


@dataclass(frozen=True)
class Run:
    """One run of a search. The clock and the generator move on; the limits do not.

    `solver` is who solves the convex programs that it meets: one of `SOLVERS`. What is found is checked `checks` times before the
    clock has run out: an audit inside a design for itself, and as a part of it. `crew` are those who work on its trees, too; `jobs`
    processes of this machine check a long proof. A `checkpoint` is what an audit writes its state into, and goes on from.
    """

    limits: Limits
    clock: Clock
    rng: np.random.Generator
    solver: str = "auto"
    checks: int = 1
    crew: Crew | None = None
    jobs: int = 1
    checkpoint: Checkpoint | None = None

    @property
    def share(self) -> float:
        """The time that these take for a long check, beside one process: each reads all of it."""
        return READING + (1.0 - READING) / self.jobs

    @classmethod
    def of(cls, limits: Limits, seed: int = 0) -> Self:
        """A run that starts now."""
        return cls(limits, Clock(limits.seconds), np.random.default_rng(seed))

    def part(self, clock: Clock, gap: float, checks: int = 1) -> Self:
        """The same with another clock, and a gap of its own."""
        return replace(self, clock=clock, limits=replace(self.limits, gap=gap), checks=checks)
