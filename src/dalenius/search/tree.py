"""Best-first branch and bound: one engine for every tree of the package.

A tree maximises something over a region. Every leaf stands for a part of it and carries a bound from above; the leaves together cover
the region, so at every moment the largest bound of a leaf is a bound of the whole, and a tree may stop at any time. What a leaf is,
how it is bounded and how it is cut are the client's.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Branch", "Leaf", "Tree", "preorder"]

Content = TypeVar("Content")
Cut = TypeVar("Cut")
Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class Leaf(Generic[Content, Cut]):
    """What the client keeps of a part of the region, its bound (-inf: empty), and where to cut it (None: nowhere)."""

    content: Content
    bound: float
    cut: Cut | None


@dataclass(frozen=True, slots=True)
class Branch(Generic[Cut]):
    """Where a node was cut, and the numbers of the nodes that together cover it."""

    cut: Cut
    parts: tuple[int, ...]


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
        self._put(0, root)

    @property
    def upper(self) -> float:
        """The largest bound of a leaf."""
        return max(self.closed, -self._open[0][0] if self._open else -math.inf)

    @property
    def largest(self) -> Leaf[Content, Cut] | None:
        """The open leaf with the largest bound."""
        return self._leaf(self._open[0][1]) if self._open else None

    def grow(
        self,
        parts: Callable[[list[Leaf[Content, Cut]]], Sequence[Sequence[Leaf[Content, Cut]]]],
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
            From the chosen leaves, which have a cut, to the leaves that cover each of them.
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
            first = len(self.nodes)
            assert leaf.cut is not None
            self.nodes[number] = Branch(leaf.cut, tuple(range(first, first + len(family))))
            self.leaves += len(family) - 1
            for j, part in enumerate(family):
                self._put(first + j, part)
        return True

    def renew(self, leaf: Leaf[Content, Cut]) -> None:
        """Replace the open leaf with the largest bound by another for the same part of the region."""
        self._put(heapq.heappop(self._open)[1], leaf)

    def preorder(self) -> Iterator[Branch[Cut] | Leaf[Content, Cut]]:
        """Branches and leaves, a branch before its parts, and these in their order."""
        for number in preorder(0, self._parts):
            yield self.nodes[number]

    def _choose(self, batch: int, above: float) -> list[tuple[float, int]]:
        """Take leaves off the heap: those to be branched; what cannot be is closed on the way."""
        chosen: list[tuple[float, int]] = []
        while self._open and len(chosen) < batch and -self._open[0][0] > max(above, self.closed):
            entry = heapq.heappop(self._open)
            if self._leaf(entry[1]).cut is None:
                self.closed = max(self.closed, -entry[0])
            else:
                chosen.append(entry)
        return chosen

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
