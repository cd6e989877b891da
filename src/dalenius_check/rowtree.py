"""The tree of one letter's row problem, in a joint leaf: cuts of K, and groups of outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .allowance import BALL, NUMBER, PAIR
from .arithmetic import arb
from .bounds import Joint, Ranges
from .box import Box
from .certificate import Lines, Sizes
from .channel import Channel
from .groups import Grouping, Level, Partition, joined, merged, own_ranges, partition, singles
from .numbers import need
from .read import decimal, entries, integer
from .slopes import Slopes

_NODES: Sizes = {"cut": 3, "group": 2, "row": (2, 3), "as": 2}


@dataclass(frozen=True)
class Family:
    """Groups of the joint leaf's outputs, the channel that tells them, ranges of K, and the scores with which they stand."""

    groups: Partition
    channel: Channel
    box: Box
    scores: list[arb]
    size: int

    @property
    def ranges(self) -> Ranges:
        """Of the groups' probabilities."""
        return self.box[0]


class RowTree:
    """The row problem of letter a, on the boxes of a tree; `known` has psi of the row leaves of an earlier letter like a."""

    def __init__(
        self, lines: Lines, leaf: Joint, a: int, level: Level, scores: list[arb], known: Callable[[Any], list[arb]]
    ) -> None:
        self.lines, self.leaf, self.a, self.level, self._known = lines, leaf, a, level, known
        self.allowance = level.allowance
        channel, box = level.record.channel, Box([level.conditional(a)].__getitem__, self.allowance)
        self.families = [Family(singles(level.outputs), channel, box, scores, 0)]

    def run(self, grouping: Grouping, slopes: Slopes, tally: Counter[str]) -> list[arb]:
        """psi of the row leaves that are not vacuous; nothing without scores."""
        result = list[arb]()

        def step(item: list[Any]) -> Callable[[], None] | None:
            if item[0] == "cut":
                return self._halve(item)
            self._group(item[1], grouping)
            return None

        for item in self.lines.tree(f"a cut or row of letter {self.a}", _NODES, step):
            if item[0] == "as":
                result += self._known(item[1])
            else:
                result += self._row(item, slopes)
                tally["row"] += 1
        self._back(0)
        return result

    def _back(self, families: int) -> None:
        """Leave the groups that came later."""
        while len(self.families) > families:
            family = self.families.pop()
            family.box.close()
            self.allowance.take(-family.size)

    def _halve(self, item: list[Any]) -> Callable[[], None]:
        depth, box, last = len(self.families), self.families[-1].box, len(self.families[-1].groups) - 1
        halve = box.halve(0, integer(item[1], "the output", 0, last), decimal(item[2], "the point"))

        def other() -> None:
            self._back(depth)
            halve()

        return other

    def _group(self, value: Any, grouping: Grouping) -> None:
        """A line `group`: from here on K are the probabilities of these groups."""
        groups, before, inputs = (
            partition(value, self.level.outputs),
            self.families[-1],
            self.level.record.inputs[self.a],
        )
        channel, size = grouping.of(joined(groups, self.level.groups))
        own = len(groups) * 2 * BALL + self.level.outputs * NUMBER + len(inputs) * BALL + PAIR
        self.allowance.take(own)
        ranges = merged(own_ranges(channel, inputs), before.ranges, groups, before.groups)
        scores = self.leaf.coarser(self.a, self.families[0].scores, channel) if before.scores else []
        box = Box([ranges].__getitem__, self.allowance)
        self.families.append(Family(groups, channel, box, scores, size + own))

    def _row(self, item: list[Any], slopes: Slopes) -> list[arb]:
        """psi of a row leaf, unless it is vacuous."""
        *earlier, last = self.families
        need(len(item) == 2 or bool(earlier), "multipliers of earlier ranges, where no line group is above")
        hints = entries(item[2], "multipliers of earlier ranges", len(earlier)) if len(item) > 2 else []
        used = [
            (family.channel, family.ranges, slopes.read(hint, len(family.groups)))
            for family, hint in zip(earlier, hints, strict=False)
            if hint is not None
        ]
        used.append((last.channel, last.ranges, slopes.read(item[1], len(last.groups))))
        if not (last.scores and all(family.ranges.ends for family in self.families)):
            return []
        return [self.leaf.row(self.a, last.scores, used)]
