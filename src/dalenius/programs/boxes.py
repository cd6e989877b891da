"""Best-first branch and bound on boxes: a tree of halvings covers its root, so the largest bound of its leaves holds for the root."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Box", "branch_and_bound", "leaf_boxes"]

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Box:
    """A box, its bound with the multiplier and slopes that prove it, and where to halve it (coordinate -1: nowhere)."""

    low: Floats
    high: Floats
    bound: float
    mu: float
    kappa: Floats
    coordinate: int
    threshold: float
    parts: tuple[Box, ...] = ()
    failures: int = 0  # generations without better multipliers than the parent's

    def nodes(self) -> Iterator[Box]:
        """The tree in preorder."""
        stack = [self]
        while stack:
            box = stack.pop()
            yield box
            stack += box.parts[::-1]


def halves(low: Floats, high: Floats, coordinate: int, threshold: float) -> tuple[tuple[Floats, Floats], ...]:
    """The parts of a box below and above a threshold; together they cover it, whatever the threshold.

    >>> [[x.tolist() for x in half] for half in halves(np.zeros(1), np.ones(1), 0, 0.25)]
    [[[0.0], [0.25]], [[0.25], [1.0]]]
    """
    below, above = high.copy(), low.copy()
    below[coordinate], above[coordinate] = min(high[coordinate], threshold), max(low[coordinate], threshold)
    return (low, below), (above, high)


def leaf_boxes(branch: Floats, low: Floats, high: Floats) -> list[tuple[Floats, Floats]]:
    """The boxes of the leaves of a tree in preorder, rows (coordinate or -1, threshold); none if it is no tree.

    >>> len(leaf_boxes(np.array([[0, 0.5], [-1, 0], [-1, 0]]), np.zeros(1), np.ones(1)))
    2
    """
    stack, leaves = [(low, high)], []
    for coordinate, threshold in branch:
        if not stack or coordinate >= len(low):
            return []
        ends = stack.pop()
        if coordinate < 0:
            leaves.append(ends)
        else:
            stack += halves(*ends, int(coordinate), float(threshold))[::-1]
    return [] if stack else leaves


def branch_and_bound(
    root: Box, relaxed: Callable[[Floats, Floats, Box], Box], enough: Callable[[float, int], bool]
) -> float:
    """Halve the box of the largest bound until enough(that bound, leaves), or until it cannot be halved; that bound."""
    heap = [(-root.bound, 0, root)]
    count = 0
    while not enough(-heap[0][0], len(heap)) and heap[0][2].coordinate >= 0:
        box = heapq.heappop(heap)[2]
        box.parts = tuple(
            relaxed(low, high, box) for low, high in halves(box.low, box.high, box.coordinate, box.threshold)
        )
        for part in box.parts:
            count += 1
            heapq.heappush(heap, (-part.bound, count, part))
    return -heap[0][0]
