"""Releases that depend on what earlier ones gave: trees of stages, and the outputs that their paths come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.allowance import BALL, PAIR, Allowance
from ..core.arithmetic import arb, fmpq, is_rational
from ..core.kinds import stages
from ..core.numbers import height, need, take_entries

_MOST_PATHS = 1 << 20
Table = dict[str, Any]
Steps = frozenset[tuple[tuple[int, int], int]]  # mechanisms by number, and their outputs, with how often each is taken
Rows = list[list[Any]]


def alone(mechanism: Table) -> list[Table]:
    """The mechanisms of a tree's stages, or the one that is none."""
    return [stage["mechanism"] for stage in stages(mechanism)] or [mechanism]


def changed(table: Table, make: Callable[[Table], Table]) -> Table:
    """A mechanism as it may be written, every mechanism in it being what is made of it."""
    if table.get("kind", "adaptive") != "adaptive":
        return {key: item for key, item in make(table).items() if item is not None}
    found = {**table, "mechanism": changed(table["mechanism"], make)}
    if table["then"] is None:
        del found["then"]
    else:
        found["then"] = [changed(stage, make) if stage else {} for stage in table["then"]]
    return found


class Tree:
    """The classes of alike paths, in the order of their first paths, with how many there are of each.

    Bound because alike paths have one probability on every input, so that their columns are equal, and may be merged.
    """

    def __init__(self, first: Table, number: Callable[[Table], tuple[int, int]], allowance: Allowance) -> None:
        self._number = number
        self.allowance = allowance
        self.classes = dict[Steps, int]()
        for paths, steps in enumerate(self._paths(first), 1):
            allowance.look()
            need(paths <= _MOST_PATHS, f"mechanism: a tree of releases has more than {_MOST_PATHS} paths")
            if steps not in self.classes:
                allowance.take(2 * PAIR * (1 + len(steps)))
            self.classes[steps] = self.classes.get(steps, 0) + 1

    def _paths(self, stage: Table, before: tuple[tuple[int, int], ...] = ()) -> Iterator[Steps]:
        """Depth first."""
        place, outputs = self._number(stage)
        following = stage["then"] or [None] * outputs
        need(len(following) == outputs, f"mechanism: a list 'then' must have {outputs} tables, one for each output")
        for y, further in enumerate(following):
            taken = (*before, (place, y))
            if further:
                yield from self._paths(further, taken)
            else:
                yield frozenset(Counter(taken).items())

    def rows(self, parts: Sequence[Rows], inputs: int) -> Rows:
        """The channel, from those of the mechanisms by number; entries that are made from the same numbers are one object."""
        exact = all(is_rational(rows[0][0]) for rows in parts)
        bits = max((height(x) for rows in parts for row in rows for x in row), default=1) if exact else 1
        longest = max(sum(count for _, count in steps) for steps in self.classes)
        take_entries(inputs, len(self.classes), self.allowance, BALL + PAIR + longest * bits // 4)
        number: Callable[[Any], Any] = fmpq if exact else arb
        found = Rows()
        known = dict[Any, Any]()
        for v in range(inputs):
            found.append([])
            for steps, often in self.classes.items():
                self.allowance.look()
                factors = Counter[int]()
                for (place, y), count in steps:
                    factors[id(parts[place][v][y])] += count
                key = often, frozenset(factors.items())
                if key not in known:
                    known[key] = number(often)
                    for (place, y), count in steps:
                        for _ in range(count):
                            known[key] = known[key] * number(parts[place][v][y])
                found[-1].append(known[key])
        return found
