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

from dalenius.audit.box_tree import short
from dalenius.audit.clock import Clock
from dalenius.information import log_sum_exp, relative_entropy, x_log_x
from dalenius.problems.aggregation import RecordChannel

__all__ = ["VertexTree", "capacity"]

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
        single = all(len(s) == 1 for s in sets)
        law, divergences, attained = capacity(rows[union], steps=2000 if single else 60, clock=self._clock)
        bound = float(divergences.max())
        if not single:
            distance = dict(zip(union, divergences.tolist(), strict=True))
            chosen: list[int] = []
            for members in sets:  # far from the law, and not the same class for two letters
                chosen.append(max(members, key=lambda k: (k not in chosen, distance[k])))
            attained = capacity(rows[chosen], steps=100, clock=self._clock)[2]
        self.attained = max(self.attained, min(attained, bound))
        self.nodes.append(_Node(sets, law))
        heapq.heappush(self._open, (-bound, len(self.nodes) - 1))
        return len(self.nodes) - 1


def capacity(rows: Floats, *, steps: int, clock: Clock | None = None) -> tuple[Floats, Floats, float]:
    """Blahut-Arimoto for Shannon capacity: an output law r, D(rows[x] || r) for every x, and the information attained.

    The largest of the divergences bounds the capacity from above, the information attained from below.

    >>> law, divergences, attained = capacity(np.array([[0.9, 0.1], [0.1, 0.9]]), steps=10)
    >>> bool(np.isclose(divergences.max(), np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)))
    True
    """
    negentropy = x_log_x(rows).sum(axis=1)

    def divergence(law: Floats) -> Floats:
        return negentropy - rows @ np.log(np.maximum(law, 1e-300))

    log_p = np.full(len(rows), -np.log(len(rows)))
    for _ in range(steps):
        p = np.exp(log_p)
        distance = divergence(p @ rows)
        if distance.max() - p @ distance < 1e-13 or (clock is not None and clock.expired):
            break
        log_p = log_p + distance
        log_p -= log_sum_exp(log_p)
    p = np.exp(log_p)
    law = p @ rows
    attained = float(p @ divergence(law))
    law = short((1.0 - 1e-12) * law + 1e-12 / law.size, 15)
    law /= law.sum()
    return law, np.maximum(divergence(law), 0.0), max(attained, 0.0)
