"""Where a proof's tree has come to; what waits on the way there is only what leads back, a number for each cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .allowance import NUMBER, PAIR, POINTER, Allowance
from .arithmetic import fmpq
from .bounds import Ranges

Number = tuple[int, int]  # a family, and a place in it
KEPT = 1 << 26  # bytes of ranges that are kept to be used again; not more than a quarter of what is allowed


class Box:
    """Families of ranges by their numbers j, those of the root where nothing was cut."""

    def __init__(self, root: Callable[[int], Ranges], allowance: Allowance) -> None:
        self._root = root
        self._allowance = allowance
        self._ends: dict[int, tuple[list[fmpq], list[fmpq]]] = {}
        self._cuts: list[tuple[int, int, fmpq, fmpq]] = []
        self._known = dict[int, Ranges]()
        self._before = dict[int, Ranges]()
        self._kept = 0
        self._held = 0
        self._most = min(KEPT, allowance.memory * 2**18)

    def __getitem__(self, j: int) -> Ranges:
        """The ranges of family j, not yet tightened."""
        if j in self._known:
            return self._known[j]
        if j not in self._ends:
            return self._root(j)
        ranges = Ranges(*self._ends[j])
        if self._kept + ranges.size > self._most:
            self._known.clear()
            self._before.clear()
            self._keep(-self._kept)
        self._keep(ranges.size)
        self._known[j] = ranges
        return ranges

    def _take(self, size: int) -> None:
        self._allowance.take(size)
        self._held += size

    def close(self) -> None:
        """Give back what was taken."""
        self._take(-self._held)

    def _keep(self, size: int) -> None:
        self._take(size)
        self._kept += size

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
        return self.part([(j, place)], [(j, place)], t)

    def part(self, below: Iterable[Number], above: Iterable[Number], t: fmpq) -> Callable[[], None]:
        """Go to where all numbers of one list are at most t, and return the way to where all of the other are at least t."""
        depth = self.depth
        for j, place in below:
            _, his = self._cut(j, place)
            his[place] = min(his[place], t)

        def other() -> None:
            self.back(depth)
            for j, place in above:
                los, _ = self._cut(j, place)
                los[place] = max(los[place], t)

        return other

    def _cut(self, j: int, place: int) -> tuple[list[fmpq], list[fmpq]]:
        """The ends of family j, of which those of one number may now be changed."""
        if j not in self._ends:
            root = self._root(j)
            self._take(2 * len(root.los) * POINTER + PAIR)
            self._ends[j] = list(root.los), list(root.his)
        self._take(PAIR + NUMBER)
        los, his = self._ends[j]
        if j in self._known:
            self._before[self.depth] = self._known.pop(j)
        self._cuts.append((j, place, los[place], his[place]))
        return los, his

    def back(self, depth: int) -> None:
        """Undo the cuts that go deeper."""
        while self.depth > depth:
            j, place, lo, hi = self._cuts.pop()
            self._take(-PAIR - NUMBER)
            self._ends[j][0][place], self._ends[j][1][place] = lo, hi
            if j in self._known:
                self._keep(-self._known.pop(j).size)
            if self.depth in self._before:
                self._known[j] = self._before.pop(self.depth)


class Classes:
    """The sets of inputs that the letters have left in a tree of classes; on the way each input is put aside once."""

    def __init__(self, inputs: list[list[int]], allowance: Allowance) -> None:
        self.sets = [frozenset(listed) for listed in inputs]
        self._allowance = allowance
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
