"""Best-first branch and bound: one engine for every tree of the package.

A tree maximises something over a region. Every leaf stands for a part of it and carries a bound from above; the leaves together cover
the region, so at every moment the largest bound of a leaf is a bound of the whole, and a tree may stop at any time. What a leaf is,
how it is bounded and how it is cut are the client's.
"""

from __future__ import annotations

import copy
import heapq
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from dalenius.information.arrays import Floats
from dalenius.search.clock import Clock

Content = TypeVar("Content")
Cut = TypeVar("Cut")
Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class Leaf(Generic[Content, Cut]):
    """Leaf of a tree: the client's content, its bound (-inf: empty), and where to cut it (None: nowhere)."""

    content: Content
    bound: float
    cut: Cut | None


@dataclass(frozen=True, slots=True)
class Branch(Generic[Cut]):
    """Branch of a tree: a cut, and the numbers of the nodes that together cover it."""

    cut: Cut
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sprout(Generic[Content, Cut]):
    """Replacement of a leaf: a cut, and what is on either side of it, leaves or more of the kind."""

    cut: Cut
    parts: tuple[Leaf[Content, Cut] | Sprout[Content, Cut], ...]


Family: TypeAlias = Sequence[Leaf[Content, Cut]] | Leaf[Content, Cut] | Sprout[Content, Cut]


class Tree(Generic[Content, Cut]):
    """A growing tree; branches keep their cut only.

    Attributes
    ----------
    nodes : dict of number -> Branch or Leaf
        Number 0 is the root; the numbers of parts follow those of all nodes before them.
    leaves : int
    closed : float
        The largest bound among leaves that were to be branched and cannot be; -inf if there is none.
    """

    def __init__(self, root: Leaf[Content, Cut]) -> None:
        self.nodes: dict[int, Branch[Cut] | Leaf[Content, Cut]] = {}
        self.leaves = 1
        self.closed = -math.inf
        self._open: list[tuple[float, int]] = []  # (minus the bound, number) of the leaves that may be branched
        self._lent: dict[int, float] = {}  # the bounds of leaves that somebody else branches
        self._put(0, root)

    @property
    def upper(self) -> float:
        """The largest bound of a leaf."""
        return max(self.closed, -self._open[0][0] if self._open else -math.inf, *self._lent.values())

    @property
    def lends(self) -> bool:
        """True if somebody else is at work on leaves."""
        return bool(self._lent)

    @property
    def largest(self) -> Leaf[Content, Cut] | None:
        """The open leaf with the largest bound."""
        return self._leaf(self._open[0][1]) if self._open else None

    def grow(
        self,
        parts: Callable[[list[Leaf[Content, Cut]]], Sequence[Family[Content, Cut]]],
        batch: int = 1,
        *,
        above: float = -math.inf,
    ) -> bool:
        """Branch the leaves with the largest bounds.

        Where a leaf that cannot be branched has a larger bound, branching would not lower `upper`, and is left. If `parts` raises, the
        tree stays as it was.

        Parameters
        ----------
        parts : callable
            From the chosen leaves, which have a cut, to the leaves that cover each of them, another leaf that takes its place, or
            a tree of other cuts.
        batch : int
            How many leaves at most.
        above : float
            Only leaves with larger bounds.

        Returns
        -------
        bool : whether any leaf was branched
        """
        chosen = self._choose(batch, above)
        if not chosen:
            return False
        leaves = [self._leaf(number) for _, number in chosen]
        try:
            families = parts(leaves)
        except BaseException:
            for entry in chosen:
                heapq.heappush(self._open, entry)
            raise
        for (_, number), leaf, family in zip(chosen, leaves, families, strict=True):
            assert leaf.cut is not None
            if isinstance(family, Sprout):
                self._sprout(number, family)
            elif isinstance(family, Leaf):
                self._put(number, family)
            else:
                self._sprout(number, Sprout(leaf.cut, tuple(family)))
        return True

    def _sprout(self, number: int, sprout: Sprout[Content, Cut]) -> None:
        """Put it in the place of a leaf."""
        first = len(self.nodes)
        self._branch(number, sprout.cut, tuple(range(first, first + len(sprout.parts))))
        self.leaves += len(sprout.parts) - 1
        more = list[tuple[int, Sprout[Content, Cut]]]()
        for j, part in enumerate(sprout.parts, start=first):
            if isinstance(part, Sprout):
                more.append((j, part))
                self.nodes[j] = Branch(part.cut, ())  # its place, until its parts have theirs
            else:
                self._put(j, part)
        for j, part in more:
            self._sprout(j, part)

    def renew(self, leaf: Leaf[Content, Cut]) -> None:
        """Replace the open leaf with the largest bound by another for the same part of the region."""
        self._put(heapq.heappop(self._open)[1], leaf)

    def waiting(self, above: float) -> int:
        """Number of leaves with larger bounds than this that nobody has been lent, if any of them can lower `upper`; else 0."""
        if not self._open or -self._open[0][0] <= max(above, self.closed):
            return 0
        return sum(1 for bound, _ in self._open if -bound > above)

    def lend(
        self,
        most: int,
        *,
        above: float = -math.inf,
        able: Callable[[Leaf[Content, Cut]], bool] = lambda leaf: leaf.cut is not None,
    ) -> tuple[int, ...]:
        """The numbers of the leaves with the largest bounds, at most so many and above a level, for somebody else to branch (`lent`).

        They keep their bounds meanwhile, and are not branched here, until `graft` or `take_back`. Leaves that are not `able` to be
        branched are closed on the way.
        """
        chosen = self._choose(most, above, able)
        self._lent.update((number, -entry) for entry, number in chosen)
        return tuple(number for _, number in chosen)

    def lent(self, numbers: Sequence[int]) -> Self:
        """A copy of this tree that has nothing but these leaves, numbered from 0: several trees side by side, for another process."""
        other = copy.copy(self)
        other.nodes, other._open, other._lent, other.closed = {}, [], {}, -math.inf
        other.leaves = len(numbers)
        for j, number in enumerate(numbers):
            other._put(j, self._leaf(number))
        return other

    def sent(self) -> Mapping[int, Branch[Cut] | Leaf[Content, Cut]]:
        """The nodes, as they are best sent to another process."""
        return self.nodes

    def graft(self, numbers: Sequence[int], nodes: Mapping[int, Branch[Cut] | Leaf[Content, Cut]]) -> None:
        """Put what has become of leaves that were lent, the nodes of such a copy, in their place."""
        first = len(self.nodes)
        for number in numbers:
            del self._lent[number]

        def place(number: int) -> int:
            return numbers[number] if number < len(numbers) else first + number - len(numbers)

        for number, node in nodes.items():
            if isinstance(node, Branch):
                self._branch(place(number), node.cut, tuple(map(place, node.parts)))
            else:
                self._put(place(number), node)
                self.leaves += 1
        self.leaves -= len(numbers)

    def take_back(self, numbers: Sequence[int]) -> None:
        """Branch leaves here again that were lent."""
        for number in numbers:
            heapq.heappush(self._open, (-self._lent.pop(number), number))

    @property
    def common(self) -> list[tuple[object, str]]:
        """Places of what its leaves have in common, owners and names; none where that is little."""
        return []

    def shorten(self) -> None:
        """Prepare closed leaves for being written down."""

    def preorder(self) -> Iterator[Branch[Cut] | Leaf[Content, Cut]]:
        """Branches and leaves, a branch before its parts, and these in their order."""
        for number in preorder(0, self._parts):
            yield self.nodes[number]

    def _choose(
        self, batch: int, above: float, able: Callable[[Leaf[Content, Cut]], bool] = lambda leaf: leaf.cut is not None
    ) -> list[tuple[float, int]]:
        """Take leaves off the heap: those to be branched; what cannot be is closed on the way."""
        chosen: list[tuple[float, int]] = []
        while self._open and len(chosen) < batch and -self._open[0][0] > max(above, self.closed):
            entry = heapq.heappop(self._open)
            if able(self._leaf(entry[1])):
                chosen.append(entry)
            else:
                self.closed = max(self.closed, -entry[0])
        return chosen

    def _branch(self, number: int, cut: Cut, parts: tuple[int, ...]) -> None:
        self.nodes[number] = Branch(cut, parts)

    def _put(self, number: int, leaf: Leaf[Content, Cut]) -> None:
        self.nodes[number] = leaf
        heapq.heappush(self._open, (-leaf.bound, number))

    def _leaf(self, number: int) -> Leaf[Content, Cut]:
        node = self.nodes[number]
        assert isinstance(node, Leaf)
        return node

    def _parts(self, number: int) -> tuple[int, ...]:
        node = self.nodes[number]
        return node.parts if isinstance(node, Branch) else ()


def preorder(root: Node, parts: Callable[[Node], Sequence[Node]]) -> Iterator[Node]:
    """The nodes below a root and itself, each before its parts.

    >>> list(preorder((1, (2,), (3, (4,))), lambda node: [x for x in node if isinstance(x, tuple)]))[-1]
    (4,)
    """
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += parts(node)[::-1]


# Several trees that bound the same leakage: the one that does best gets most of the time, the others enough to catch up.


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
    grouped : float
        The number of slopes that a leaf has, as a share of the number of outputs.
    ranges : int
        Of a leaf, those that the ones beside them narrow, which takes a check longer than the leaf's bound.
    point : array or None
        Where its bound is largest, a good start for a search from below.
    """

    name: ClassVar[str]
    together: ClassVar[int] = 64
    tree: Tree[Any, Any]
    target: float
    floor: float = -math.inf
    grouped: float = 1.0
    ranges: int = 0
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
    def told(self) -> int:
        """Number of pieces that have been written down, and checked."""
        return 0

    @property
    def hopeless(self) -> bool:
        """True if it cannot reach its target."""
        return self.floor > self.target

    @abstractmethod
    def leaf_bytes(self) -> int:
        """About how much memory one of them takes."""

    @abstractmethod
    def grow(self, clock: Clock) -> bool:
        """A step; False if nothing more can be done."""

    # ------------------------------------------------------------ for many

    @property
    def common(self) -> list[tuple[object, str]]:
        """Places of what its leaves have in common, which others are told once."""
        return self.tree.common

    @property
    def waits(self) -> bool:
        """True if there is a leaf above the target that nobody is at work on."""
        return self.tree.waiting(self.target) > 0

    def lend(self, share: float) -> tuple[int, ...]:
        """Numbers of leaves for somebody else: a share of those that wait, the largest bounds first."""
        count = min(int(self.tree.waiting(self.target) * share) + 1, self.together)
        return self.tree.lend(count, above=self.target, able=self.able)

    @staticmethod
    def able(leaf: Leaf[Any, Any]) -> bool:
        """True if anything can be done about a leaf."""
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

FAR = 3.0  # times as far from the target as the best one is: a share falls from there on
KNOWN = 0.5  # seconds that a tree has had before it does


class Race:
    """Trees of one record and the seconds each has had.

    The best one gets most of the time: that with the least bound of those that may reach the target. The others get a share of what
    it has had, each its own, and less where they are far behind; one that can become no better than what there is, none.

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
        """Seconds that all trees have had, together."""
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
        if runner is best:
            return 0.0
        had, share = self._seconds[id(runner)], HOPELESS if runner.hopeless else self._fair[id(runner)]
        near, far = FAR * (best.upper - best.target), runner.upper - runner.target
        if had >= KNOWN and near < far:
            share *= near / far
        return share * self._seconds[id(best)] - had

    def turn(self, clock: Clock, target: float, may_grow: Callable[[Runner], bool]) -> Runner | None:
        """Grow the chosen tree a little."""
        chosen = self.choose(target, may_grow)
        if chosen is None:
            return None
        started = time.monotonic()
        if not chosen.grow(self.slice(clock)):
            self._stuck.add(id(chosen))
        self.charge(chosen, time.monotonic() - started)
        return chosen

    def slice(self, clock: Clock) -> Clock:
        """One turn's time: a fifth of what all have had, at first a tenth of what is left, but no more than half a second."""
        return clock.slice(max(min(0.5, 0.1 * clock.remaining), 0.2 * self.seconds))

    def charge(self, runner: Runner, seconds: float) -> None:
        """A tree has had so much time."""
        self._seconds[id(runner)] += seconds
