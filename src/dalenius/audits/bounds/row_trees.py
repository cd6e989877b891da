"""Row trees that are grown on: boxes of one letter's conditional, with lines that bound its row problem for any output law."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.search.boxes import BoxTree, halves
from dalenius.search.tree import Branch, preorder

__all__ = ["Row", "rows_of"]

_Flat: TypeAlias = tuple[dict[str, Any], int]


@dataclass(eq=False)
class Row:
    """A node of a row tree: a box of one letter's conditional and the slopes of its lines.

    `coordinate` and `threshold` say how it is, or would be, branched (K(y) <= threshold, then K(y) >= threshold). Letters of equal
    counts and equal boxes share a tree.
    """

    low: Floats
    high: Floats
    kappa: Floats
    coordinate: int = -1
    threshold: float = 0.0
    parts: tuple[Row, ...] = ()

    def __reduce__(self) -> tuple[Callable[[list[_Flat]], Row], tuple[list[_Flat]]]:
        """How it goes to another process: flat, for trees may be deeper than copying can follow."""
        flat = [({**vars(row), "parts": ()}, len(row.parts)) for row in self.preorder()]
        return _nested, (flat,)

    def preorder(self) -> Iterator[Row]:
        """The nodes from here on, each before its parts."""
        return preorder(self, _parts)

    def leaves(self) -> Iterator[Row]:
        """The leaves below, from left to right."""
        return (row for row in self.preorder() if not row.parts)

    def within(self, low: Floats, high: Floats) -> Row:
        """A copy for a smaller box; branches that miss it are left out."""
        if not self.parts:
            low, high = np.maximum(self.low, low), np.minimum(self.high, high)
            return Row(low, high, self.kappa, self.coordinate, self.threshold)
        if high[self.coordinate] <= self.threshold:
            return self.parts[0].within(low, high)
        if low[self.coordinate] >= self.threshold:
            return self.parts[1].within(low, high)
        parts = tuple(part.within(low, high) for part in self.parts)
        return Row(self.low, self.high, self.kappa, self.coordinate, self.threshold, parts)

    def halve(self) -> bool:
        """Give a leaf two parts with its own slopes, unless it is a point; its widest side is cut where its own cut misses it."""
        y, t = self.coordinate, self.threshold
        if not self.low[y] < t < self.high[y]:
            y = int(np.argmax(self.high - self.low))
            t = float(0.5 * (self.low[y] + self.high[y]))
            if not self.low[y] < t < self.high[y]:
                return False
        self.coordinate, self.threshold = y, t
        self.parts = tuple(Row(*ends, self.kappa) for ends in halves(self.low, self.high, y, t))
        return True


def _nested(flat: list[_Flat]) -> Row:
    """A tree from its nodes in preorder, each with the number of its parts."""
    done: list[Row] = []
    for attributes, count in reversed(flat):
        attributes["parts"] = tuple(done.pop() for _ in range(count))
        done.append(Row(**attributes))
    return done[0]


def _parts(row: Row) -> tuple[Row, ...]:
    return row.parts


def rows_of(trees: Sequence[BoxTree]) -> list[Row]:
    """Trees of the dual bound as row trees; letters that share one keep sharing it."""
    known = {id(tree): _grown_on(tree) for tree in trees}
    return [known[id(tree)] for tree in trees]


def _grown_on(tree: BoxTree) -> Row:
    done: list[Row] = []
    for node in reversed(list(tree.preorder())):  # parts come before their branch, the first of them last
        if isinstance(node, Branch):
            parts = done.pop(), done.pop()
            done.append(Row(tree.root.low, tree.root.high, parts[0].kappa, *node.cut, parts))
        else:
            box, cut = node.content, node.cut or (-1, 0.0)
            done.append(Row(box.low, box.high, box.hints, *cut))
    return done[0]
