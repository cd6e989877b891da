"""The tree of one letter's row problem, in a joint leaf: cuts of K, orders of K, and groups of outputs; lines as they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .allowance import BALL, NUMBER, PAIR, POINTER, lemma
from .arithmetic import arb, arb_vec
from .bounds import Ranges, Turns
from .boxes import Box, Grouping, Partition, home_of, joined, merged, own_ranges, partition, singles
from .certificate import Lines, Sizes
from .channel import Channel
from .numbers import need
from .read import decimal, entries, integer
from .symmetries import Order, Stated, exchange, ordered

_MAX_KNOWN = 1 << 16


class Slopes:
    """Lists of slopes; neighbours have much in common, so that a text is read once."""

    def __init__(self) -> None:
        self._known = dict[str, arb]()

    def read(self, value: Any, size: int) -> list[arb]:
        """So many numbers, or null for zeros."""
        if value is None:
            return [arb(0)] * size
        texts = entries(value, "slopes", size)
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        for x in texts:
            if not isinstance(x, str) or x not in self._known:
                self._known[x] = arb(decimal(x, "a slope"))
        return [self._known[x] for x in texts]

    def of_letters(self, rows: Sequence[Any], size: int) -> list[list[arb]]:
        """The slopes of each letter; those of letters that are written alike are one list."""
        once: dict[tuple[str, ...] | None, list[arb]] = {}
        found = [(row, self.read(row, size)) for row in rows]
        return [once.setdefault(None if row is None else tuple(row), slopes) for row, slopes in found]


_NODES: Sizes = {"cut": 3, "group": 2, "chamber": 3, "row": (2, 3), "as": (2, 4), "separate": (2, 3)}


@dataclass(frozen=True)
class Family:
    """Groups of the joint leaf's outputs, the channel that tells them, ranges of K, and the exponents they stand with.

    `homes` say of each earlier family which of its groups each one is in, where each is in one.
    """

    groups: Partition
    channel: Channel
    box: Box
    exponents: arb_vec | None
    homes: tuple[list[int] | None, ...]
    size: int


class RowTree:
    """The row problem of letter a, on the boxes of a tree; `known` has psi of the row leaves of an earlier letter like a."""

    def __init__(
        self, lines: Lines, stated: Stated, a: int, scores: arb_vec | None, known: Callable[..., list[arb]]
    ) -> None:
        self.lines = lines
        self.stated = stated
        self.a = a
        self.level = stated.level
        self.scores = scores
        self._known = known
        self.allowance = self.level.allowance
        channel = self.level.record.channel
        box = Box([self.level.conditional(a)].__getitem__, self.allowance)
        exponents = stated.leaf.exponents(a, scores) if scores else None
        self.families = [Family(singles(self.level.outputs), channel, box, exponents, (), 0)]
        self.orders = dict[Order, None]()

    def run(self, grouping: Grouping, slopes: Slopes, tally: Counter[str], root: int | None = None) -> list[arb]:
        """psi of the row leaves that are not vacuous; nothing without scores."""
        result = list[arb]()

        def step(item: list[Any]) -> Callable[[], None] | None:
            if item[0] == "cut":
                return self._halve(item)
            if item[0] == "group":
                self._group(item[1], grouping)
            else:
                self._chamber(item)
            return None

        for item in self.lines.tree(f"a cut or row of letter {self.a}", _NODES, step, root):
            if item[0] == "as":
                result += self._known(*item[1:])
            elif item[0] == "separate":
                result += self._separate(*item[1:])
                tally["separate"] += 1
            else:
                work = partial(self.lines.leaf, self.lines.place, partial(self._row, item, slopes))
                result += self.lines.shares.row(self.lines.number, work)
                tally["row"] += 1
        self._back(0, 0)
        return result

    def _back(self, families: int, orders: int) -> None:
        """Leave the groups and orders that came later."""
        while len(self.families) > families:
            family = self.families.pop()
            family.box.close()
            self.allowance.take(-family.size)
        while len(self.orders) > orders:
            self.orders.popitem()
            self.allowance.take(-PAIR)

    def _ranges(self, family: Family) -> Ranges:
        """The ranges of a family, not yet tightened; orders are about the first one."""
        plain = family is not self.families[0] or not self.orders
        return family.box[0] if plain else ordered(family.box[0], self.orders, self.allowance)

    def _halve(self, item: list[Any]) -> Callable[[], None]:
        here = len(self.families), len(self.orders)
        box = self.families[-1].box
        last = len(self.families[-1].groups) - 1
        halve = box.halve(0, integer(item[1], "the output", 0, last), decimal(item[2], "the point"))

        def other() -> None:
            self._back(*here)
            halve()

        return other

    def _group(self, value: Any, grouping: Grouping) -> None:
        """A line `group`: from here on K are the probabilities of these groups."""
        groups = partition(value, self.level.outputs)
        before = self.families[-1]
        inputs = self.level.record.inputs[self.a]
        channel, size = grouping.of(joined(groups, self.level.groups))
        own = len(groups) * 2 * BALL + self.level.outputs * NUMBER + len(channel.rows) * BALL + PAIR
        own += len(self.families) * len(groups) * POINTER
        self.allowance.take(own)
        ranges = merged(own_ranges(channel, inputs), self._ranges(before), groups, before.groups)
        top = self.families[0].exponents
        exponents = self.stated.leaf.coarser(self.a, top, channel) if top else None
        box = Box([ranges].__getitem__, self.allowance)
        homes = tuple(home_of(groups, family.groups) for family in self.families)
        self.families.append(Family(groups, channel, box, exponents, homes, size + own))

    def _chamber(self, item: list[Any]) -> None:
        """A line `chamber`: from here on only those w count for which output y has no less than its listed images.

        Bound because the exchanges generate a finite group, which leaves the row problem as it is: one of the images of w has
        the largest K(y), and what holds of that one's value holds of w's.
        """
        need(len(self.families) == 1 and self.level.top, "a chamber stands above all groups")
        channel = self.level.record.channel
        y = integer(item[1], "the output", 0, channel.outputs - 1)
        found = list[Order]()
        for value in entries(item[2], "the exchanges"):
            listed = exchange(value, len(channel.rows), channel.outputs)
            listed.need_symmetry(self.stated, self.a, self.families[0].box[0], self.orders)
            found.append((y, listed.outputs[y]))
        for one, two in found:
            if one != two and (one, two) not in self.orders:
                self.allowance.take(PAIR)
                self.orders[one, two] = None

    def _separate(self, hint: Any, listed: Any = ()) -> list[arb]:
        """psi of one output after the other, unless the leaf is vacuous."""
        channel = self.level.record.channel
        nu = decimal(hint, "nu")
        need(listed == () or (isinstance(listed, list) and listed != []), "pieces must be a list, and not empty")
        pairs = (entries(value, "a piece", 2) for value in listed)
        pieces = [(decimal(end, "a piece's end"), decimal(own, "nu")) for end, own in pairs]
        plain = self.level.top and len(self.families) == 1
        need(
            plain and channel.diagonal is not None,
            "a row 'separate' needs symmetric or randomized_response, and no groups",
        )
        assert channel.diagonal is not None
        separated = lemma("separate").separated
        leaf, scores = self.stated.leaf, self.scores
        return [separated(leaf, self.a, scores.entries(), nu, pieces, channel.diagonal)] if scores else []

    def _row(self, item: list[Any], slopes: Slopes) -> list[arb]:
        """psi of a row leaf, unless it is vacuous."""
        *earlier, last = self.families
        need(len(item) == 2 or bool(earlier), "multipliers of earlier ranges, where no line group is above")
        hints = (
            entries(item[2], "multipliers of earlier ranges", len(earlier)) if len(item) > 2 else [None] * len(earlier)
        )
        ranges = list(map(self._ranges, self.families))
        used = [
            (j, own, slopes.read(hint, len(family.groups)))
            for j, (family, own, hint) in enumerate(zip(self.families, ranges, [*hints, item[1]], strict=True))
            if hint is not None or family is last
        ]
        if not (last.exponents and all(own.ends for own in ranges)):
            return []
        turns = self._turns([(j, own) for j, _, own in used])
        return [self.stated.leaf.row(self.a, last.exponents, turns, [(own, own_slopes) for _, own, own_slopes in used])]

    def _turns(self, slopes: list[tuple[int, list[arb]]]) -> list[Turns]:
        """Slopes of K by family; of unions of the last one's groups as slopes of the latter, for K of a union is a sum."""
        *others, (_, whole) = slopes
        last, turns = self.families[-1], list[Turns]()
        for j, own in others:
            home = last.homes[j]
            if home is None:
                turns.append((self.families[j].channel, own))
            else:
                whole = [slope + own[g] for slope, g in zip(whole, home, strict=True)]
        return [*turns, (last.channel, whole)]
