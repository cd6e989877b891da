"""Trees over boxes whose relaxation bounds them in batches, each bound with the hints that prove it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats
from dalenius.search.tree import Branch, Leaf, Tree

__all__ = ["Box", "BoxCut", "BoxTree", "Relaxation", "Relaxed", "halves"]

MOST_NUMBERS = 1 << 15  # in the hints of boxes that are looked at together
BoxCut: TypeAlias = tuple[int, float]  # coordinate, threshold: x <= threshold, then x >= threshold


@dataclass(frozen=True)
class Relaxed:
    """Bounds of a batch of boxes (-inf: empty), the hints that prove them, where to branch (coordinate, threshold; -1: nowhere)."""

    bounds: Floats
    hints: Floats
    coordinate: NDArray[np.int64]
    threshold: Floats


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


BoxLeaf: TypeAlias = Leaf[Box, BoxCut]
Nodes: TypeAlias = dict[int, Branch[BoxCut] | BoxLeaf]


class BoxTree(Tree[Box, BoxCut]):
    """A tree whose leaves are boxes.

    Attributes
    ----------
    root : Box
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
        (root,) = self._bounded(low[None], high[None], hints[None])
        self.root = root.content
        super().__init__(root)

    def branch(self, batch: int, *, above: float) -> bool:
        """Branch the leaves with the largest bounds, at most `batch` of them and only those above a level; False if none can be."""
        return self.grow(self._halved, batch, above=above)

    def leaf_bytes(self) -> int:
        """About how much memory a leaf takes."""
        return 1000 + 8 * (self.root.hints.size + self.root.low.size + self.root.high.size)

    def short_hints(self) -> Iterator[Floats]:
        """The hints of the leaves in preorder, with as few digits as the tree's bound allows."""
        boxes = (node.content for node in self.preorder() if isinstance(node, Leaf))
        part = max(1, MOST_NUMBERS // self.root.hints.size)
        while some := list(islice(boxes, part)):
            low, high, hints = (np.array([getattr(box, name) for box in some]) for name in ("low", "high", "hints"))
            yield from self._relaxation.shortened(low, high, hints, self.upper)

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
        arrays = [
            np.array([getattr(leaf.content, end) for leaf in leaves.values()]) for end in ("low", "high", "hints")
        ]
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
