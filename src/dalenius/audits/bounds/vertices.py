"""Problem 1 from above with the entropy bound dropped: L_b <= L_0, and L_0 is a maximum over selections of one class a letter.

*Bound because* I is convex in each letter's conditional law, so without the entropy bound each letter sits on one class k_a, and the
capacity of the selected rows is at most max_a D(R(k_a) || r) for every output law r. A tree over sets of classes S_a proves the
maximum over all selections: a node's bound is the capacity of the rows in the union of its sets, estimated by its own r.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.capacity import Capacity, capacity
from dalenius.information import relative_entropy
from dalenius.reduction import RecordChannel
from dalenius.search.box_tree import short
from dalenius.search.clock import Clock

__all__ = ["VertexTree", "output_law"]

Floats = NDArray[np.float64]
Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Node:
    sets: Sets
    law: Floats


class VertexTree:
    """Best-first tree over selections; `upper` is valid at any time, `attained` is the leakage of some selection."""

    def __init__(self, channel: RecordChannel, clock: Clock) -> None:
        self._channel, self._clock = channel, clock
        root = tuple(tuple(np.flatnonzero(np.isfinite(shares)).tolist()) for shares in channel.log_shares)
        self.nodes: list[_Node] = []
        self.branches: dict[int, tuple[int, int, int]] = {}  # node -> (letter, left child, right child)
        self._open: list[tuple[float, int]] = []
        self.attained = 0.0
        self.witness: Floats | None = None  # the prior on the best selection: masses (letters, classes)
        self._add(root)

    @property
    def upper(self) -> float:
        return -self._open[0][0]

    def run(self, *, target: float, most: int = 6000) -> None:
        """Branch until the bound is at most `target` or as good as the best selection, or the time or the nodes are used up."""
        while (
            self.upper > max(target, self.attained * (1.0 + 1e-9))
            and len(self.nodes) < most
            and not self._clock.expired
        ):
            index = self._open[0][1]
            node = self.nodes[index]
            letter = max(range(len(node.sets)), key=lambda a: len(node.sets[a]))
            members = node.sets[letter]
            if len(members) == 1:
                return
            distance = relative_entropy(self._channel.rows[list(members)], node.law)  # far ones first
            ordered = [members[j] for j in np.argsort(distance)]
            heapq.heappop(self._open)
            parts = (tuple(sorted(ordered[len(ordered) // 2 :])), tuple(sorted(ordered[: len(ordered) // 2])))
            left, right = (self._add((*node.sets[:letter], part, *node.sets[letter + 1 :])) for part in parts)
            self.branches[index] = (letter, left, right)

    def _add(self, sets: Sets) -> int:
        rows = self._channel.rows
        union = sorted(set(itertools.chain(*sets)))
        law, divergences, answer = output_law(rows[union], clock=self._clock)
        bound = float(divergences.max())
        chosen = [members[0] for members in sets]
        if any(len(members) > 1 for members in sets):
            distance = dict(zip(union, divergences.tolist(), strict=True))
            chosen = []
            for members in sets:  # far from the law, and not the same class for two letters
                chosen.append(max(members, key=lambda k: (k not in chosen, distance[k])))
            answer = capacity(rows[chosen], clock=self._clock)
            pi = answer.input_law
        else:
            pi = np.array([answer.input_law[union.index(k)] / chosen.count(k) for k in chosen])
        if answer.lower > self.attained:
            self.attained = answer.lower
            self.witness = np.zeros_like(self._channel.log_shares)
            self.witness[np.arange(len(chosen)), chosen] = pi
        self.nodes.append(_Node(sets, law))
        heapq.heappush(self._open, (-bound, len(self.nodes) - 1))
        return len(self.nodes) - 1


def output_law(rows: Floats, *, gap: float = 1e-12, clock: Clock | None = None) -> tuple[Floats, Floats, Capacity]:
    """An output law, rounded short, that is close to all rows; D(row || law) of each; and the capacity it comes from.

    >>> law, divergences, answer = output_law(np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> bool(np.isclose(divergences.max(), np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)))
    True
    """
    answer = capacity(rows, gap=gap, clock=clock)
    law = short((1.0 - 1e-14) * answer.output_law + 1e-14 / rows.shape[1], 15)
    law /= law.sum()
    return law, np.maximum(relative_entropy(rows, law), 0.0), answer
