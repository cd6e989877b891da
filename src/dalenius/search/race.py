"""Several trees that bound the same leakage: the one that does best gets most of the time, the others enough to catch up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from dalenius.information.arrays import Floats
from dalenius.search.clock import Clock

__all__ = ["Race", "Runner"]


class Runner(Protocol):
    """A tree whose `upper` is valid at any time; `point` is where its bound is largest, a good start for a search from below."""

    name: str
    target: float

    @property
    def upper(self) -> float: ...

    @property
    def leaves(self) -> int: ...

    @property
    def point(self) -> Floats | None: ...

    def leaf_bytes(self) -> int: ...

    def grow(self, clock: Clock) -> bool: ...


class Race:
    """Trees of one record and the seconds each has had; every tree gets at least a share `fair` of what the best one has had."""

    def __init__(self, runners: list[Runner], *, fair: float) -> None:
        self.runners, self._fair = runners, fair
        self._seconds = [0.0] * len(runners)
        self._alive = [True] * len(runners)

    def turn(self, clock: Clock, target: float, may_grow: Callable[[Runner], bool]) -> Runner | None:
        """Grow one tree a little: the best one, unless another one has had too little time; None if none can or may."""
        able = [j for j, alive in enumerate(self._alive) if alive and may_grow(self.runners[j])]
        if not able:
            return None
        best = min(able, key=lambda j: self.runners[j].upper)
        poorest = min(able, key=lambda j: self._seconds[j])
        chosen = poorest if self._seconds[poorest] < self._fair * self._seconds[best] else best
        self.runners[chosen].target = target
        started = time.monotonic()
        self._alive[chosen] = self.runners[chosen].grow(clock.slice(max(0.5, 0.2 * sum(self._seconds))))
        self._seconds[chosen] += time.monotonic() - started
        return self.runners[chosen]
