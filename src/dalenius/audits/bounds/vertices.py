"""Problem 1 from above with the entropy bound dropped: L_b <= L_0, and L_0 is a maximum over selections of one class a letter.

*Bound because* I is convex in each letter's conditional law, so without the entropy bound each letter sits on one class k_a, and the
capacity of the selected rows is at most max_a D(R(k_a) || r) for every output law r. A tree over sets of classes S_a proves the
maximum over all selections: a node's bound is the capacity of the rows in the union of its sets, estimated by its own r.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dalenius.information import relative_entropy
from dalenius.information.arrays import Floats
from dalenius.information.capacity import Capacity, capacity
from dalenius.information.deadline import Deadline
from dalenius.reduction import RecordChannel
from dalenius.search.clock import Clock
from dalenius.search.decimals import short
from dalenius.search.tree import Leaf, Runner, Tree

MOST = 3000  # leaves
Classes: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClassSets:
    """The classes that each letter may sit on, and the law that bounds all selections of one for each."""

    sets: tuple[Classes, ...]
    law: Floats


@dataclass(frozen=True, slots=True)
class ClassCut:
    """The classes of one letter, of which one part keeps `kept` and the other `rest`."""

    letter: int
    kept: Classes
    rest: Classes


ClassLeaf: TypeAlias = Leaf[ClassSets, ClassCut]


class VertexTree(Runner):
    """Best-first tree over selections; `upper` is valid at any time, and no less than `floor`, the leakage of some selection."""

    name = "vertices"
    tree: Tree[ClassSets, ClassCut]

    def __init__(self, channel: RecordChannel, clock: Deadline, *, target: float) -> None:
        self._channel, self.target, self.floor = channel, target, 0.0
        root = tuple(tuple(np.flatnonzero(np.isfinite(log_masses)).tolist()) for log_masses in channel.log_uniform)
        self.tree = Tree(self._bounded(root, clock))

    def leaf_bytes(self) -> int:
        return 500 + 40 * self._channel.log_uniform.shape[1] + 8 * self._channel.rows.shape[1]

    def grow(self, clock: Clock) -> bool:
        """Branch until the largest bound is lower; False if it is as good as the best selection, or there are too many leaves."""
        if self.leaves >= MOST or self.upper <= self.floor * (1.0 + 1e-9):
            return False
        return self.tree.grow(lambda leaves: [self._parts(leaf, clock) for leaf in leaves])

    def _parts(self, leaf: ClassLeaf, clock: Deadline) -> list[ClassLeaf]:
        assert leaf.cut is not None
        sets, letter = leaf.content.sets, leaf.cut.letter
        return [
            self._bounded((*sets[:letter], members, *sets[letter + 1 :]), clock)
            for members in (leaf.cut.kept, leaf.cut.rest)
        ]

    def _bounded(self, sets: tuple[Classes, ...], clock: Deadline) -> ClassLeaf:
        """The capacity of all rows that are left bounds every selection; one selection that is nearly as good is tried."""
        rows = self._channel.rows
        union = sorted(set(itertools.chain(*sets)))
        law, divergences, answer = self._near(union, clock)
        distance = dict(zip(union, divergences.tolist(), strict=True))
        cut, chosen = self._cut(sets, distance), [members[0] for members in sets]
        if cut is not None:
            chosen, taken = [], set[int]()
            for members in sets:  # far from the law, and not the same class for two letters
                chosen.append(max(members, key=lambda k: (k not in taken, distance[k])))
                taken.add(chosen[-1])
            answer = capacity(rows[chosen], clock=clock)
            pi = answer.input_law
        else:
            times, place = Counter(chosen), {k: j for j, k in enumerate(union)}
            pi = np.array([answer.input_law[place[k]] / times[k] for k in chosen])
        if answer.lower > self.floor:
            self.floor, self.point = answer.lower, np.zeros_like(self._channel.log_uniform)
            self.point[np.arange(len(chosen)), chosen] = pi
        return Leaf(ClassSets(sets, law), float(divergences.max()), cut)

    def _near(self, union: list[int], clock: Deadline) -> tuple[Floats, Floats, Capacity]:
        """A law that is close to all these rows, as a certificate has it; D(row || law) of each; and the capacity it comes from."""
        return output_law(self._channel.rows[union], clock=clock)

    @staticmethod
    def _cut(sets: tuple[Classes, ...], distance: Mapping[int, float]) -> ClassCut | None:
        """The largest set, classes that are far from the law apart from those that are near; None where all have one class."""
        letter = max(range(len(sets)), key=lambda a: len(sets[a]))
        members = sets[letter]
        if len(members) == 1:
            return None
        ordered = sorted(members, key=lambda k: distance[k])
        half = len(ordered) // 2
        return ClassCut(letter, tuple(sorted(ordered[half:])), tuple(sorted(ordered[:half])))


def output_law(rows: Floats, *, gap: float = 1e-12, clock: Deadline | None = None) -> tuple[Floats, Floats, Capacity]:
    """An output law, rounded short, that is close to all rows; D(row || law) of each; and the capacity it comes from.

    >>> law, divergences, answer = output_law(np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> bool(np.isclose(divergences.max(), np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)))
    True
    """
    answer = capacity(rows, gap=gap, clock=clock)
    law = short((1.0 - 1e-14) * answer.output_law + 1e-14 / rows.shape[1], 15)
    law /= law.sum()
    return law, np.maximum(relative_entropy(rows, law), 0.0), answer
