"""Several trees that bound the same leakage: the one that does best gets most of the time, the others enough to catch up."""

from __future__ import annotations

import copy
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

from dalenius.information.arrays import Floats
from dalenius.search.clock import Clock
from dalenius.search.tree import Branch, Leaf, Tree

# A tree as somebody's work: it is grown step by step, here or by many.


Nodes = Mapping[int, Branch[Any] | Leaf[Any, Any]]


class Runner(ABC):
    """A tree whose `upper` is valid at any time, and is wanted to be at most `target`.

    Attributes
    ----------
    name : str
    together : int
        How many leaves are lent at once, at most.
    tree : Tree
    target : float
    floor : float
        What `upper` is at least, however long it grows, as far as that is known.
    point : array or None
        Where its bound is largest, a good start for a search from below.
    """

    name: ClassVar[str]
    together: ClassVar[int] = 64
    tree: Tree[Any, Any]
    target: float
    floor: float = -math.inf
    point: Floats | None = None

    @property
    def upper(self) -> float:
        """The largest bound of a leaf."""
        return self.tree.upper

    @property
    def leaves(self) -> int:
        """The pieces that a proof has by it."""
        return self.tree.leaves

    @property
    def hopeless(self) -> bool:
        """Whether it cannot reach its target."""
        return self.floor > self.target

    @abstractmethod
    def leaf_bytes(self) -> int:
        """About how much memory one of them takes."""

    @abstractmethod
    def grow(self, clock: Clock) -> bool:
        """A step; False if nothing more can be done."""

    # ------------------------------------------------------------ for many

    @property
    def waits(self) -> bool:
        """Whether there is a leaf above the target that nobody is at work on."""
        return self.tree.waiting(self.target) > 0

    def lend(self, share: float) -> tuple[int, ...]:
        """Numbers of leaves for somebody else: a share of those that wait, the largest bounds first."""
        count = min(int(self.tree.waiting(self.target) * share) + 1, self.together)
        return self.tree.lend(count, above=self.target, able=self.able)

    @staticmethod
    def able(leaf: Leaf[Any, Any]) -> bool:
        """Whether anything can be done about a leaf."""
        return leaf.cut is not None

    def lent(self, numbers: tuple[int, ...]) -> Self:
        """A runner of the same kind for these leaves alone."""
        other = copy.copy(self)
        other.tree = self.tree.lent(numbers)
        return other

    def graft(self, numbers: tuple[int, ...], nodes: Nodes, point: Floats | None) -> None:
        """Put what has become of such leaves in their place."""
        self.tree.graft(numbers, nodes)
        self.point = point if point is not None else self.point

    def take_back(self, numbers: tuple[int, ...]) -> None:
        """Nothing has become of them."""
        self.tree.take_back(numbers)


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
