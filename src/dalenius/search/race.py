"""Several trees that bound the same leakage: the one that does best gets most of the time, the others enough to catch up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from dalenius.search.clock import Clock
from dalenius.search.runner import Runner

__all__ = ["Race"]


class Race:
    """Trees of one record and the seconds each has had; every tree gets at least a share `fair` of what the best one has had."""

    def __init__(self, runners: Sequence[Runner], *, fair: float) -> None:
        self.runners, self._fair = tuple(runners), fair
        self._seconds = {id(runner): 0.0 for runner in runners}
        self._stuck: set[int] = set()

    def choose(self, target: float, may_grow: Callable[[Runner], bool]) -> Runner | None:
        """The best tree, unless another one has had too little time; None if none can or may grow."""
        able = [runner for runner in self.runners if id(runner) not in self._stuck and may_grow(runner)]
        if not able:
            return None
        best = min(able, key=lambda runner: runner.upper)
        poorest = min(able, key=lambda runner: self._seconds[id(runner)])
        chosen = poorest if self._seconds[id(poorest)] < self._fair * self._seconds[id(best)] else best
        chosen.target = target
        return chosen

    def turn(self, clock: Clock, target: float, may_grow: Callable[[Runner], bool]) -> Runner | None:
        """Grow the chosen tree a little."""
        chosen = self.choose(target, may_grow)
        if chosen is None:
            return None
        started = time.monotonic()
        if not chosen.grow(clock.slice(max(0.5, 0.2 * sum(self._seconds.values())))):
            self._stuck.add(id(chosen))
        self.charge(chosen, time.monotonic() - started)
        return chosen

    def charge(self, runner: Runner, seconds: float) -> None:
        """A tree has had so much time."""
        self._seconds[id(runner)] += seconds
