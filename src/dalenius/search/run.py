"""Limits, clock and random numbers of a search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypedDict, TypeVar

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import is_number
from dalenius.search.checkpoint import Checkpoint
from dalenius.search.clock import Clock
from dalenius.search.crew import Crew

# When a search stops.


LEAST_SECONDS = 1.0  # what can be proved in a second and 64 MiB is proved, however low the limits are
LEAST_BYTES = 2.0**26
CERTAIN_SECONDS = (
    10.0  # an interval that needs no search is proved in so many, whatever the limit of time: there is always an answer
)


def need_gap(gap: object, what: str = "gap") -> None:
    """`InputError` unless this is a relative gap that can be asked for."""
    if not (is_number(gap) and 0 <= gap < math.inf):
        raise InputError(f"{what}: expected a finite number of at least 0, got {brief(gap)}")


class LimitOptions(TypedDict, total=False):
    """The fields of `Limits` as keyword arguments."""

    gap: float
    time_limit: float | None
    node_limit: int | None
    memory_limit: float | None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a search, in time and size of its proof; None where there is no limit.

    Parameters
    ----------
    gap : float
        Stop when (upper - lower) / upper is at most this; finite.
    time_limit : float or None
        Seconds for everything, the proof included. What can be proved within a second, and an interval that needs no search within
        ten, is proved, however low the limit is.
    node_limit : int or None
        Leaves that the trees of one kind of record may have.
    memory_limit : float or None
        Mebibytes for everything from the call on, the proof included, as far as they can be predicted. What can be proved in 64 is
        proved, however low the limit is.

    Raises
    ------
    InputError
        If one of them is no such number.

    >>> Limits(time_limit=None).seconds, Limits(memory_limit=2).bytes
    (inf, 2097152.0)
    """

    gap: float = 1e-4
    time_limit: float | None = 60.0
    node_limit: int | None = 1_000_000
    memory_limit: float | None = 4096.0

    def __post_init__(self) -> None:
        need_gap(self.gap)
        for name, what in (("time_limit", "seconds"), ("node_limit", "leaves"), ("memory_limit", "mebibytes")):
            limit = getattr(self, name)
            if limit is not None and not (is_number(limit) and limit > 0):
                raise InputError(f"{name}: expected a number of {what} above 0, or None, got {brief(limit)}")
        if self.node_limit is not None and self.node_limit % 1:
            raise InputError(f"node_limit: expected a whole number of leaves, or None, got {brief(self.node_limit)}")

    @property
    def seconds(self) -> float:
        return math.inf if self.time_limit is None else float(self.time_limit)

    @property
    def least(self) -> tuple[float, float]:
        """The limits in seconds and bytes, and at least what any proof may take, however low they are."""
        return max(self.seconds, LEAST_SECONDS), max(self.bytes, LEAST_BYTES)

    @property
    def certain(self) -> tuple[float, float]:
        """The limits in seconds and bytes, and at least what the proof of an interval that needs no search may take."""
        return max(self.seconds, CERTAIN_SECONDS), self.least[1]

    @property
    def nodes(self) -> float:
        return math.inf if self.node_limit is None else float(self.node_limit)

    @property
    def bytes(self) -> float:
        return math.inf if self.memory_limit is None else float(self.memory_limit) * 2**20


T = TypeVar("T")


class Leaves(Protocol):
    """Store of what leaves came to in earlier checks, for later ones; searches hand it on and read nothing in it."""

    def leaf(self, place: int | None, line: bytes, work: Callable[[], T]) -> T:
        """Return what the leaf on a line at a place comes to."""

    def take(self, told: Any) -> None:
        """Take what leaves came to elsewhere."""


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

    `solver` is who solves the convex programs that it meets: one of `SOLVERS`; `memory` is how many priors an alternating design
    keeps. What is found is checked `checks` times before the clock has run out: an audit inside a design for itself, and as a part of
    it, where leaves of trees are found again. `crew` are those who work on its trees, too, and on the leaves of its proofs. A
    `checkpoint` is what an audit writes its state into, and goes on from. `known` is what checks of its proofs have
    worked out. Of an `anytime` one an interval may be handed out at any time; it is proved so many times as far ahead of the end as
    usual.
    """

    limits: Limits
    clock: Clock
    rng: np.random.Generator
    solver: str = "auto"
    memory: int | None = None
    checks: int = 1
    crew: Crew | None = None
    checkpoint: Checkpoint | None = None
    known: Leaves | None = None
    anytime: int = 1

    @classmethod
    def of(cls, limits: Limits, seed: int = 0) -> Self:
        """A run that starts now."""
        return cls(limits, Clock(limits.seconds), np.random.default_rng(seed))

    def part(self, clock: Clock, gap: float, checks: int = 1, *, anytime: int = 0) -> Self:
        """The same with another clock, and a gap of its own."""
        return replace(self, clock=clock, limits=replace(self.limits, gap=gap), checks=checks, anytime=anytime)
