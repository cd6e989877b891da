"""Best-first branch and bound over boxes, one engine for every tree of the audit.

A tree maximises some function over a box. The relaxation bounds it from above on sub-boxes, in batches, and each bound comes with the
hints that prove it. At every moment the largest bound of a leaf is a valid upper bound, so the tree can stop at any time. Only leaves
keep their box and hints.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoxTree", "Relaxation", "Relaxed", "short"]

Floats = NDArray[np.float64]


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


class BoxTree:
    """A growing tree of boxes.

    Attributes
    ----------
    relaxation : what bounds the boxes
    branches : dict of node -> (coordinate, threshold, left child, right child)
    boxes, hints, next : dicts of leaf -> (low, high), hints, (coordinate, threshold) of the branching to come
    root : (low, high)
    """

    def __init__(self, relaxation: Relaxation, low: Floats, high: Floats, hints: Floats) -> None:
        self.relaxation = relaxation
        self.boxes: dict[int, tuple[Floats, Floats]] = {}
        self.next: dict[int, tuple[int, float]] = {}
        self.root = low, high
        self._open: list[tuple[float, int]] = []
        self._done = -np.inf  # largest bound among leaves that cannot be branched further
        self.hints: dict[int, Floats] = {}
        self.branches: dict[int, tuple[int, float, int, int]] = {}
        self._add(low[None], high[None], hints[None])

    @property
    def upper(self) -> float:
        """The largest bound of a leaf."""
        return max(self._done, -self._open[0][0] if self._open else -np.inf)

    @property
    def leaves(self) -> int:
        return len(self.branches) + 1

    def leaf_bytes(self) -> int:
        """About how much memory a leaf takes."""
        hints = next(iter(self.hints.values()))
        low, high = next(iter(self.boxes.values()))
        return 1000 + 8 * (hints.size + low.size + high.size)

    def grow(self, batch: int, *, above: float) -> bool:
        """Branch the leaves with the largest bounds, at most `batch` of them and only those above a level; False if none can be."""
        chosen: list[int] = []
        while self._open and len(chosen) < batch and -self._open[0][0] > above:
            bound, node = heapq.heappop(self._open)
            if self.next[node][0] < 0:
                self._done = max(self._done, -bound)
            else:
                chosen.append(node)
        if not chosen:
            return False
        low, high, hints = [], [], []
        first = 2 * len(self.branches) + 1
        for j, node in enumerate(chosen):
            (coordinate, threshold), box, own = self.next.pop(node), self.boxes.pop(node), self.hints.pop(node)
            self.branches[node] = (coordinate, threshold, first + 2 * j, first + 2 * j + 1)
            left, right = box[1].copy(), box[0].copy()
            left[coordinate] = right[coordinate] = threshold
            low += [box[0], right]
            high += [left, box[1]]
            hints += [own, own]
        self._add(np.array(low), np.array(high), np.array(hints))
        return True

    def _add(self, low: Floats, high: Floats, hints: Floats) -> None:
        relaxed = self.relaxation(low, high, hints)
        first = 2 * len(self.branches) + 1 - len(low)
        for j, bound in enumerate(relaxed.bounds):
            node = first + j
            self.boxes[node] = (low[j], high[j])
            self.hints[node] = relaxed.hints[j]
            self.next[node] = (int(relaxed.coordinate[j]), float(relaxed.threshold[j]))
            heapq.heappush(self._open, (-float(bound), node))


def short(x: Floats | float, digits: int = 5) -> Floats:
    """`x` rounded to a few significant decimal digits: hints are stored short, so they are rounded before they are used."""
    x = np.asarray(x, dtype=float)
    exponent = np.floor(np.log10(np.where(x == 0.0, 1.0, np.abs(x))))
    shift = np.clip(digits - 1 - exponent, -300, 300)
    scale = 10.0 ** np.abs(shift)
    return np.where(shift >= 0, np.round(x * scale) / scale, np.round(x / scale) * scale)
