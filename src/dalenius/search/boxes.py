"""Trees over boxes whose relaxation bounds them in batches, each bound with the hints that prove it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats
from dalenius.search.decimals import branching_point, short_on
from dalenius.search.tree import Branch, Leaf, Tree, preorder

MOST_NUMBERS = 1 << 15  # in the hints of boxes that are looked at together
Ends: TypeAlias = tuple[Floats, Floats]  # the lower and the upper ones
BoxCut: TypeAlias = tuple[int, float]  # coordinate, threshold: x <= threshold, then x >= threshold


@dataclass(frozen=True)
class Relaxed:
    """Bounds of a batch of boxes (-inf: empty), the hints that prove them, where to branch (coordinate, threshold; -1: nowhere)."""

    bounds: Floats
    hints: Floats
    coordinate: NDArray[np.int64]
    threshold: Floats


def cuts(errors: Floats, points: Floats, low: Floats, high: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Coordinates where relaxations of boxes err most, and thresholds near points there; -1 where none errs, or none is inside."""
    coordinate = np.argmax(errors, axis=1)
    pick = np.arange(len(errors)), coordinate
    threshold = branching_point(points[pick], low[pick], high[pick])
    splits = (errors[pick] > 0.0) & (threshold > low[pick]) & (threshold < high[pick])
    return np.where(splits, coordinate, -1), threshold


class Relaxation(Protocol):
    """Upper bounds on boxes; `hints` are those of the parent, valid for the child with a bound no worse than the parent's."""

    def __call__(self, low: Floats, high: Floats, hints: Floats) -> Relaxed: ...

    def shortened(self, low: Floats, high: Floats, hints: Floats, level: float) -> Floats:
        """Hints with few digits that prove bounds of at most a level wherever the given ones do."""


@dataclass(frozen=True, slots=True)
class Box:
    """The ends of a box, and the hints that prove its bound."""

    low: Floats
    high: Floats
    hints: Floats


BOX = ("low", "high", "hints")


def stacked(boxes: Sequence[object], *names: str) -> list[Floats]:
    """Arrays that all boxes have, each of all boxes as one."""
    return [np.array([getattr(box, name) for box in boxes]) for name in names]


BoxLeaf: TypeAlias = Leaf[Box, BoxCut]
Nodes: TypeAlias = dict[int, Branch[BoxCut] | BoxLeaf]


class BoxTree(Tree[Box, BoxCut]):
    """A tree whose leaves are boxes.

    Attributes
    ----------
    root : Box
    told : set of int
        The numbers of closed leaves that are written down (`tell`).
    """

    def __init__(
        self,
        relaxation: Relaxation,
        low: Floats,
        high: Floats,
        hints: Floats,
        narrow: Callable[[Floats, Floats], tuple[Floats, Floats]] | None = None,
    ) -> None:
        """`narrow` takes away from boxes what need not be bounded."""
        self._relaxation, self._narrow = relaxation, narrow
        self.told, self._level = set[int](), -np.inf
        (root,) = self._bounded(low[None], high[None], hints[None])
        self.root = root.content
        super().__init__(root)

    def branch(self, batch: int, *, above: float) -> bool:
        """Branch the leaves with the largest bounds, at most `batch` of them and only those above a level; False if none can be."""
        return self.grow(self._halved, batch, above=above)

    def follow(self, other: BoxTree) -> None:
        """Take over the cuts of a tree that begins with the same box, and what its leaves' hints prove here."""
        numbers, part = self.lend(1, able=lambda leaf: True), MOST_NUMBERS // self.root.hints.size + 1
        nodes, rest = dict(other.nodes), iter([n for n, node in other.nodes.items() if isinstance(node, Leaf)])
        while some := list(islice(rest, part)):
            nodes |= zip(some, self._bounded(*stacked([other._leaf(n).content for n in some], *BOX)), strict=True)
        self.graft(numbers, nodes)

    @property
    def common(self) -> list[tuple[object, str]]:
        return [(self, "_relaxation")]

    def leaf_bytes(self) -> int:
        """About how much memory a leaf takes."""
        return 1000 + 8 * (self.root.hints.size + self.root.low.size + self.root.high.size)

    @property
    def upper(self) -> float:
        return max(super().upper, self._level)

    def tell(self, level: float) -> None:
        """Write closed leaves down once, those of bounds at most a level: that is what they prove from then on, and no less."""
        found = [(n, x) for n, x in self.nodes.items() if isinstance(x, Leaf) and n not in self.told]
        closed = {number: leaf.content for number, leaf in found if -np.inf < leaf.bound <= level}
        for (number, box), hints in zip(closed.items(), self._shortened(closed.values(), level), strict=True):
            self.nodes[number] = Leaf(Box(box.low, box.high, hints), level, None)
        self.told |= closed.keys()
        self._level = max(self._level, level) if closed else self._level

    def short_hints(self) -> Iterator[Floats]:
        """The hints of the leaves in preorder, with as few digits as the tree's bound allows; of those that were told as they were."""
        numbers = [n for n in preorder(0, self._parts) if n not in self.told and isinstance(self.nodes[n], Leaf)]
        short = dict(zip(numbers, self._shortened((self._leaf(n).content for n in numbers), self.upper), strict=True))
        for number in preorder(0, self._parts):
            if isinstance(self.nodes[number], Leaf):
                yield short[number] if number in short else self._leaf(number).content.hints

    def _shortened(self, boxes: Iterable[Box], level: float) -> Iterator[Floats]:
        part, rest = max(1, MOST_NUMBERS // self.root.hints.size), iter(boxes)
        while some := list(islice(rest, part)):
            low, high, hints = stacked(some, *BOX)
            yield from self._relaxation.shortened(low, high, hints, level)

    def lent(self, numbers: Sequence[int]) -> Self:
        other = super().lent(numbers)
        other.told, other._level = set(), -np.inf
        return other

    def sent(self) -> Nodes:
        return _Sent(self.nodes)

    def _halved(self, leaves: list[BoxLeaf]) -> list[list[BoxLeaf]]:
        low, high, hints = [], [], []
        for leaf in leaves:
            assert leaf.cut is not None
            for ends in halves(leaf.content.low, leaf.content.high, *leaf.cut):
                low.append(ends[0])
                high.append(ends[1])
                hints.append(leaf.content.hints)
        bounded = self._bounded(np.array(low), np.array(high), np.array(hints))
        return [bounded[j : j + 2] for j in range(0, len(bounded), 2)]

    def _bounded(self, low: Floats, high: Floats, hints: Floats) -> list[BoxLeaf]:
        if self._narrow is not None:
            low, high = self._narrow(low, high)
        relaxed = self._relaxation(low, high, hints)
        cuts = zip(relaxed.coordinate.tolist(), relaxed.threshold.tolist(), strict=True)
        boxes = zip(low, high, relaxed.hints, relaxed.bounds.tolist(), cuts, strict=True)
        return [Leaf(Box(*content), bound, cut if cut[0] >= 0 else None) for *content, bound, cut in boxes]


class _Sent(Nodes):
    """Nodes that go to another process, their boxes as few arrays: ten times as quick."""

    def __reduce__(self) -> tuple[Callable[..., Nodes], tuple[object, ...]]:
        leaves = {number: node for number, node in self.items() if isinstance(node, Leaf)}
        arrays = stacked([leaf.content for leaf in leaves.values()], "low", "high", "hints")
        rest = [(leaf.bound, leaf.cut) for leaf in leaves.values()]
        branches = {number: (node.cut, node.parts) for number, node in self.items() if isinstance(node, Branch)}
        return _arrived, (list(leaves), *arrays, rest, branches)


def _arrived(
    numbers: list[int],
    low: Floats,
    high: Floats,
    hints: Floats,
    rest: list[tuple[float, BoxCut | None]],
    branches: dict[int, tuple[BoxCut, tuple[int, ...]]],
) -> Nodes:
    nodes: Nodes = {number: Branch(*branch) for number, branch in branches.items()}
    boxes = map(Box, low, high, hints)
    nodes.update((number, Leaf(box, *known)) for number, box, known in zip(numbers, boxes, rest, strict=True))
    return nodes


def halves(low: Floats, high: Floats, coordinate: int, threshold: float) -> tuple[tuple[Floats, Floats], ...]:
    """The parts of a box below and above a threshold; together they cover it, whatever the threshold.

    >>> [[x.tolist() for x in half] for half in halves(np.zeros(1), np.ones(1), 0, 0.25)]
    [[[0.0], [0.25]], [[0.25], [1.0]]]
    """
    below, above = high.copy(), low.copy()
    below[coordinate], above[coordinate] = min(high[coordinate], threshold), max(low[coordinate], threshold)
    return (low, below), (above, high)


# Ends of boxes that are closed already.
#
# Where coordinates move together, halving one leaves the others as wide as before, and leaves multiply with every coordinate. The
# largest share of either end of every coordinate is therefore looked for whose part, by its own bound, is closed. Each such part is a
# leaf by itself, so all cuts hold together, and what remains is smaller in every direction.


SHARES = np.array([0.93, 0.8, 0.6, 0.4, 0.25, 0.12, 0.05])  # of a range, for bisection
ROUNDS = 3
WORTH = 0.8  # cuts are made in the order of what they gain, until they have so much of what all would
FLAT = 1e-3  # of what a relaxation loses on a whole box: a coordinate that loses less is not cut
NARROW = 1e-7  # a range that is no wider is left

L = TypeVar("L")


@dataclass(frozen=True, eq=False, slots=True)
class End(Generic[L]):
    """The end of a coordinate's range that is closed, on one side of a threshold, as a leaf."""

    coordinate: int
    threshold: float
    above: bool
    leaf: L


def closed_ends(
    whole: Ends,
    ranges: Ends,
    losses: Floats,
    closed: Callable[[NDArray[np.int64], Floats, Floats], Sequence[L | None]],
    narrow: float = NARROW,
) -> list[list[End[L]]]:
    """The largest ends of each box that are closed, by bisection, those that gain most first.

    Parameters
    ----------
    whole, ranges : pairs of (boxes, coordinates)
        The ends of boxes, and what there may be of them: tightened.
    losses : (boxes, coordinates)
        Of a relaxation, where it matters.
    closed : callable
        Of the numbers of boxes, and parts of them, the leaves that these are; None where a part is not closed.
    narrow : float
        A range that is no wider is left.
    """
    low, high = (ends.copy() for ends in ranges)
    matters = (high - low > narrow) & (losses > FLAT * losses.sum(axis=1, keepdims=True))
    owner, coordinate = (np.repeat(x, 2) for x in np.nonzero(matters))
    above = np.arange(len(owner)) % 2 == 1
    first, last = np.zeros(len(owner), dtype=np.int64), np.full(len(owner), len(SHARES))
    ends = low[owner, coordinate], high[owner, coordinate]
    width = SHARES[:, None] * (ends[1] - ends[0])
    thresholds = np.clip(short_on(np.where(above, ends[1] - width, ends[0] + width), *ends), *ends)
    leaves = dict[int, L]()
    for _ in range(ROUNDS):
        asked = np.flatnonzero(first < last)
        if not len(asked):
            break
        middle = (first[asked] + last[asked]) // 2
        lows, highs = (side[owner[asked]] for side in whole)
        row, threshold, up = np.arange(len(asked)), thresholds[middle, asked], above[asked]
        lows[row[up], coordinate[asked[up]]] = threshold[up]
        highs[row[~up], coordinate[asked[~up]]] = threshold[~up]
        found = {j: leaf for j, leaf in enumerate(closed(owner[asked], lows, highs)) if leaf is not None}
        leaves |= {int(asked[j]): leaf for j, leaf in found.items()}
        closes = np.isin(row, list(found))
        last[asked[closes]] = middle[closes]
        first[asked[~closes]] = middle[~closes] + 1
    gains = {j: float(SHARES[last[j]] * losses[owner[j], coordinate[j]]) for j in leaves}
    wanted = [WORTH * sum(gain for j, gain in gains.items() if owner[j] == box) for box in range(len(low))]
    kept: list[list[End[L]]] = [[] for _ in low]
    for j in sorted(leaves, key=lambda j: -gains[j]):
        y, t, box = int(coordinate[j]), float(thresholds[last[j], j]), int(owner[j])
        if wanted[box] > 0.0 and low[box, y] < t < high[box, y]:  # no other end of it reaches so far
            wanted[box] -= gains[j]
            kept[box].append(End(y, t, bool(above[j]), leaves[j]))
            (high if above[j] else low)[box, y] = t
    return kept


def left_of(low: Floats, high: Floats, ends: Sequence[End[L]]) -> Ends:
    """A box less closed ends."""
    low, high = low.copy(), high.copy()
    for end in ends:
        (high if end.above else low)[end.coordinate] = end.threshold
    return low, high
