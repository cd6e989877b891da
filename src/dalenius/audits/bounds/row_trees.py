"""Row trees that are grown on: boxes of one letter's conditional, with lines that bound its row problem for any output law."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dalenius.audits.bounds.row_search import RowTree
from dalenius.information.arrays import Floats
from dalenius.reduction import Chamber, RowSymmetry
from dalenius.search.boxes import BoxTree, halves
from dalenius.search.tree import Branch, preorder

__all__ = ["Row", "rows_of"]

_Flat: TypeAlias = tuple[dict[str, Any], int]


@dataclass(eq=False)
class Row:
    """A node of a row tree: a box of one letter's conditional and the slopes of its lines.

    `coordinate` and `threshold` say how it is, or would be, branched (K(y) <= threshold, then K(y) >= threshold). Letters of equal
    counts and equal boxes share a tree. Of the laws in the box those in the chamber matter; it takes from the box what they miss.
    """

    low: Floats
    high: Floats
    kappa: Floats
    chamber: Chamber
    coordinate: int = -1
    threshold: float = 0.0
    parts: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        self.low, self.high = self.chamber.close(self.low, self.high)

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

    def within(self, low: Floats, high: Floats, chamber: Chamber | None = None) -> Row:
        """A copy for a smaller box, and perhaps a smaller chamber; branches that miss the box are left out."""
        chamber = chamber or self.chamber
        if not self.parts:
            low, high = np.maximum(self.low, low), np.minimum(self.high, high)
            return Row(low, high, self.kappa, chamber, self.coordinate, self.threshold)
        if high[self.coordinate] <= self.threshold:
            return self.parts[0].within(low, high, chamber)
        if low[self.coordinate] >= self.threshold:
            return self.parts[1].within(low, high, chamber)
        parts = tuple(part.within(low, high, chamber) for part in self.parts)
        return Row(self.low, self.high, self.kappa, chamber, self.coordinate, self.threshold, parts)

    def seen_by(self, move: RowSymmetry, chamber: Chamber | None = None) -> Row:
        """A copy where outputs were moved."""
        chamber = chamber or self.chamber.seen_by(move)
        back = np.argsort(move.kept)
        y = int(move.kept[self.coordinate]) if self.coordinate >= 0 else -1
        parts = tuple(part.seen_by(move, chamber) for part in self.parts)
        return Row(self.low[back], self.high[back], self.kappa[back], chamber, y, self.threshold, parts)

    def halve(self) -> bool:
        """Give a leaf two parts with its own slopes, unless it is a point; its widest side is cut where its own cut misses it."""
        y, t = self.coordinate, self.threshold
        if not self.low[y] < t < self.high[y]:
            y = int(np.argmax(self.high - self.low))
            t = float(0.5 * (self.low[y] + self.high[y]))
            if not self.low[y] < t < self.high[y]:
                return False
        self.coordinate, self.threshold = y, t
        self.parts = tuple(Row(*ends, self.kappa, self.chamber) for ends in halves(self.low, self.high, y, t))
        return True


def _nested(flat: list[_Flat]) -> Row:
    """A tree from its nodes in preorder, each with the number of its parts."""
    done: list[Row] = []
    for attributes, count in reversed(flat):
        attributes["parts"] = tuple(done.pop() for _ in range(count))
        row = Row.__new__(Row)
        row.__dict__.update(attributes)
        done.append(row)
    return done[0]


def _parts(row: Row) -> tuple[Row, ...]:
    return row.parts


def rows_of(trees: Sequence[BoxTree | RowTree], chambers: Sequence[Chamber]) -> list[Row]:
    """Trees of the dual bound as row trees, in their chambers; letters that share one keep sharing it. Of one with cuts: its root."""
    known = {id(tree): _grown_on(tree, chamber) for tree, chamber in zip(trees, chambers, strict=True)}
    return [known[id(tree)] for tree in trees]


def _grown_on(tree: BoxTree | RowTree, chamber: Chamber) -> Row:
    if isinstance(tree, RowTree):
        singles = list(tree.problem.groups.singles)
        return Row(tree.problem.low[singles], tree.problem.high[singles], np.zeros(len(singles)), chamber)
    done: list[Row] = []
    for node in reversed(list(tree.preorder())):  # parts come before their branch, the first of them last
        if isinstance(node, Branch):
            parts = done.pop(), done.pop()
            done.append(Row(tree.root.low, tree.root.high, parts[0].kappa, chamber, *node.cut, parts))
        else:
            box, cut = node.content, node.cut or (-1, 0.0)
            done.append(Row(box.low, box.high, box.hints, chamber, *cut))
    return done[0]
