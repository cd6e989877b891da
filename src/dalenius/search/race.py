"""Several trees that bound the same leakage: the one that does best gets most of the time, the others enough to catch up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from dalenius.search.clock import Clock
from dalenius.search.runner import Runner

__all__ = ["Race"]

HOPELESS = (
    0.25  # of what the best has had: a proof that closes is to be found soon, but if there is none any bound is welcome
)


class Race:
    """Trees of one record and the seconds each has had.

    The best one gets most of the time: that with the least bound of those that may reach the target. The others get a share of what
    it has had, each its own; one that can become no better than what there is, none.

    Parameters
    ----------
    runners : sequence of Runner
    fair : sequence of float
        The share of each. Of those that cannot reach the target it is `HOPELESS`.
    """

    def __init__(self, runners: Sequence[Runner], *, fair: Sequence[float]) -> None:
        self.runners = tuple(runners)
        self._fair = dict(zip(map(id, runners), fair, strict=True))
        self._seconds = {id(runner): 0.0 for runner in runners}
        self._stuck: set[int] = set()

    @property
    def seconds(self) -> float:
        """That all have had."""
        return sum(self._seconds.values())

    def choose(self, target: float, may_grow: Callable[[Runner], bool]) -> Runner | None:
        """The best tree, unless another one has had too little time; None if none can or may grow."""
        for runner in self.runners:
            runner.target = target
        known = min((runner.upper for runner in self.runners), default=math.inf)
        able = [
            runner
            for runner in self.runners
            if id(runner) not in self._stuck and runner.floor < known and may_grow(runner)
        ]
        if not able:
            return None
        best = min(able, key=lambda runner: (runner.hopeless, runner.upper))
        return max(able, key=lambda runner: (self._owed(runner, best), runner is best))

    def _owed(self, runner: Runner, best: Runner) -> float:
        """Seconds that a tree should have had and has not."""
        share = 0.0 if runner is best else HOPELESS if runner.hopeless else self._fair[id(runner)]
        return share * self._seconds[id(best)] - (0.0 if runner is best else self._seconds[id(runner)])

    def turn(self, clock: Clock, target: float, may_grow: Callable[[Runner], bool]) -> Runner | None:
        """Grow the chosen tree a little."""
        chosen = self.choose(target, may_grow)
        if chosen is None:
            return None
        started = time.monotonic()
        if not chosen.grow(clock.slice(max(0.5, 0.2 * self.seconds))):
            self._stuck.add(id(chosen))
        self.charge(chosen, time.monotonic() - started)
        return chosen

    def charge(self, runner: Runner, seconds: float) -> None:
        """A tree has had so much time."""
        self._seconds[id(runner)] += seconds
