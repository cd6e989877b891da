"""The box that a proof's tree has reached; what waits on the way there is only the number that each cut changed."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from .allowance import NUMBER, PAIR, POINTER, Allowance
from .bounds import Ranges

_KEPT = 1 << 26  # bytes of tightened ranges that are kept for the next leaf


class Box:
    """Families of ranges by their numbers j, those of the root where nothing was cut."""

    def __init__(self, root: Callable[[int], Ranges], allowance: Allowance) -> None:
        self._root, self._allowance = root, allowance
        self._ends: dict[int, tuple[list[fmpq], list[fmpq]]] = {}
        self._cuts: list[tuple[int, int, fmpq, fmpq]] = []
        self._ranges: dict[int, Ranges] = {}
        self._kept = 0

    def __getitem__(self, j: int) -> Ranges:
        """The ranges of family j, not yet tightened."""
        if j not in self._ends:
            return self._root(j)
        if j not in self._ranges:
            ranges = Ranges(*self._ends[j])
            self._allowance.room(ranges.size)
            if self._kept + ranges.size > _KEPT:
                self._ranges.clear()
                self._kept = 0
            self._kept += ranges.size
            self._ranges[j] = ranges
        return self._ranges[j]

    @property
    def empty(self) -> bool:
        """Whether some family has no member."""
        return not all(self[j].ends for j in self._ends)

    @property
    def depth(self) -> int:
        """How many cuts lead here, to go `back` to."""
        return len(self._cuts)

    def halve(self, j: int, place: int, t: fmpq) -> Callable[[], None]:
        """Go to the half where number `place` of family j is at most t, and return the way to where it is at least t.

        Together they cover the box.
        """
        depth = self.depth
        self._cut(j, place, None, t)

        def other() -> None:
            self.back(depth)
            self._cut(j, place, t, None)

        return other

    def _cut(self, j: int, place: int, lo: fmpq | None, hi: fmpq | None) -> None:
        if j not in self._ends:
            root = self._root(j)
            self._allowance.take(2 * len(root.los) * POINTER + PAIR)
            self._ends[j] = list(root.los), list(root.his)
        self._allowance.take(PAIR + NUMBER)
        los, his = self._ends[j]
        self._cuts.append((j, place, los[place], his[place]))
        los[place] = los[place] if lo is None else max(los[place], lo)
        his[place] = his[place] if hi is None else min(his[place], hi)
        self._forget(j)

    def back(self, depth: int) -> None:
        """Undo the cuts that go deeper."""
        while len(self._cuts) > depth:
            j, place, lo, hi = self._cuts.pop()
            self._allowance.take(-PAIR - NUMBER)
            self._ends[j][0][place], self._ends[j][1][place] = lo, hi
            self._forget(j)

    def _forget(self, j: int) -> None:
        ranges = self._ranges.pop(j, None)
        self._kept -= ranges.size if ranges else 0


class Classes:
    """The sets of inputs that the letters have left in a tree of classes; on the way each input is put aside once."""

    def __init__(self, inputs: list[list[int]], allowance: Allowance) -> None:
        self.sets, self._allowance = [frozenset(listed) for listed in inputs], allowance
        self._aside: list[tuple[int, frozenset[int]]] = []
        allowance.take(2 * sum(map(len, inputs)) * PAIR)

    def halve(self, a: int, chosen: set[int]) -> Callable[[], None]:
        """Leave letter a the chosen inputs only, and return the way to leaving it the others only."""
        depth = len(self._aside)
        self._keep(a, self.sets[a] & chosen, self.sets[a] - chosen)

        def other() -> None:
            others = self._aside[depth][1]
            while len(self._aside) > depth:
                letter, aside = self._aside.pop()
                self._allowance.take(-PAIR)
                self.sets[letter] |= aside
            self._keep(a, others, self.sets[a] - others)

        return other

    def _keep(self, a: int, kept: frozenset[int], aside: frozenset[int]) -> None:
        self._allowance.take(PAIR)
        self.sets[a] = kept
        self._aside.append((a, aside))
