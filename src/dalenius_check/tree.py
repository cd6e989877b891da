"""The tree of one record's boxes, for all priors with an entropy bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from .allowance import BALL
from .arithmetic import arb, fmpq
from .bounds import Joint, Ranges, uniform_information
from .box import Box, Classes
from .certificate import Lines
from .channel import Channel, Record
from .model import Model
from .numbers import at_most, largest, need
from .read import decimal, entries, integer, law_of, nonnegative

_MAX_KNOWN = 1 << 16
_NODES = {"split": 4, "cut": 4, "joint": 5, "vertices": 1, "uniform": 1}


def output_law(value: Any, channel: Channel, inputs: Collection[int]) -> list[fmpq]:
    """A law r^ on the outputs, zero only where the channel is, for these inputs."""
    law = law_of(value, channel.outputs, "r", channel.allowance)
    for y, q in enumerate(law):
        need(q > 0 or channel.vanishes(y, inputs), f"the law is zero at output {y}, where the channel is not")
    return law


class Section:
    """The tree of one record. A box lists the ranges that differ from the root's: phi(.|y) at y, K_a at outputs + a."""

    def __init__(self, lines: Lines, model: Model, record: Record, tally: Counter[str]) -> None:
        self.lines, self.model, self.record, self.tally = lines, model, record, tally
        self.channel, self.entropy = record.channel, model.entropy_ball()
        self.letters, self.outputs = len(record.inputs), record.channel.outputs
        self.simplex = Ranges([fmpq(0)] * self.letters, [fmpq(1)] * self.letters)
        self.zeros, self.known = [arb(0)] * self.outputs, dict[str, arb]()
        self.roots: dict[int, Ranges] = {}
        self.box = Box(self._root, self.channel.allowance)

    def run(self, upper: arb) -> None:
        """Walk the tree of splits, cuts and leaves."""
        kinds = {"joint": self._joint, "vertices": self._vertices, "uniform": self._uniform}
        for item in self.lines.tree("a split, cut or leaf", _NODES, self._halve):
            number = self.lines.number
            vacuous = self.box.empty
            results = kinds[item[0]](item, vacuous)
            if not vacuous:
                for bound in results:
                    at_most(bound, upper, f"line {number}'s {item[0]} leaf <= upper")
            self.tally["empty" if vacuous else item[0]] += 1

    def _root(self, j: int) -> Ranges:
        if j < self.outputs:
            return self.simplex
        if j not in self.roots:
            ends = self.channel.ranges(self.record.inputs[j - self.outputs])
            self.channel.allowance.take(len(ends) * BALL)
            self.roots[j] = Ranges(*zip(*ends, strict=True))
        return self.roots[j]

    def _slopes(self, value: Any) -> list[arb]:
        """A number for each output, or null for zeros; neighbours have much in common, so that a text is read once."""
        if value is None:
            return self.zeros
        texts = entries(value, "slopes", self.outputs)
        if len(self.known) > _MAX_KNOWN:
            self.known.clear()
        for x in texts:
            if not isinstance(x, str) or x not in self.known:
                self.known[x] = arb(decimal(x, "a slope"))
        return [self.known[x] for x in texts]

    def _letter(self, value: Any) -> int:
        return integer(value, "the letter", 0, self.letters - 1)

    def _halve(self, item: list[Any], letter: int | None = None) -> Callable[[], None]:
        """To the first half of a split, or of a cut of K; the cuts in a row tree have their letter from outside."""
        a = self._letter(item[1]) if letter is None else letter
        y, t = integer(item[-2], "the output", 0, self.outputs - 1), decimal(item[-1], "the point")
        return self.box.halve(*((y, a) if item[0] == "split" else (self.outputs + a, y)), t)

    def _joint(self, item: list[Any], vacuous: bool) -> list[arb]:
        leaf = Joint(self.record, nonnegative(item[1], "theta"), nonnegative(item[2], "mu"))
        need(leaf.theta <= 1, "theta must be at most 1")
        rows = [None] * self.letters if item[3] is None else entries(item[3], "sigma", self.letters)
        slopes = self._slopes_of(rows)
        need((item[4] is None) == (leaf.theta == 0), "r must be null exactly where theta is 0")
        law = None if item[4] is None else output_law(item[4], self.channel, self.record.everything)
        size = len(set(map(id, slopes))) * (len(self.channel.rows) + self.outputs) * BALL + self.record.size
        self.channel.allowance.take(size)
        scores = [] if vacuous else leaf.scores(self.box.__getitem__, slopes, law)
        psi: list[list[arb]] = []
        for a in range(self.letters if leaf.theta and leaf.mu else 0):
            known = partial(self._known, psi, rows, a, self.box[self.outputs + a])
            psi.append(self._row_tree(leaf, a, scores, known))
        self.channel.allowance.take(-size)
        psi = psi or leaf.free(scores)
        return [leaf.bound(list(map(largest, psi)), self.entropy)] if scores and all(psi) else []

    def _slopes_of(self, rows: list[Any]) -> list[list[arb]]:
        """The slopes of each letter; those of letters that are written alike are one list."""
        once: dict[tuple[str, ...], list[arb]] = {}
        found = [(row, self._slopes(row)) for row in rows]
        return [self.zeros if row is None else once.setdefault(tuple(row), slopes) for row, slopes in found]

    def _known(self, psi: list[list[arb]], rows: list[Any], a: int, own: Ranges, b: int) -> list[arb]:
        """psi of letter b, if that is an earlier one with the slopes, the counts and the ranges of K of letter a."""
        other = self.box[self.outputs + b]
        like = b < a and rows[b] == rows[a] and self.record.pairs[b] == self.record.pairs[a]
        need(like and (other.los, other.his) == (own.los, own.his), f"letter {b} is not known to be like letter {a}")
        return psi[b]

    def _row_tree(self, leaf: Joint, a: int, scores: list[list[arb]], known: Callable[[int], list[arb]]) -> list[arb]:
        """psi of the row leaves of letter a that are not vacuous; nothing without scores. `known` has that of a letter like a."""
        result, depth = list[arb](), self.box.depth
        expected, kinds = f"a cut or row of letter {a}", {"cut": 3, "row": 2, "as": 2}
        for item in self.lines.tree(expected, kinds, partial(self._halve, letter=a)):
            if item[0] == "as":
                result += known(self._letter(item[1]))
                continue
            slopes, ranges = self._slopes(item[1]), self.box[self.outputs + a]
            self.tally["row"] += 1
            if scores and ranges.ends:
                result.append(leaf.row(a, scores[a], ranges, slopes))
        self.box.back(depth)
        return result

    def _uniform(self, *_: Any) -> list[arb]:
        need(self.model.is_uniform(), "a uniform leaf needs an entropy bound equal to log |X|")
        return [uniform_information(self.record)]

    def _vertices(self, *_: Any) -> list[arb]:
        result: list[arb] = []
        classes = Classes(self.record.inputs, self.channel.allowance)
        for item in self.lines.tree("a part or law", {"part": 3, "law": 2}, partial(self._part, classes)):
            used = frozenset[int]().union(*classes.sets) if all(classes.sets) else frozenset()
            result += self.channel.divergences(output_law(item[1], self.channel, used), used)
            self.tally["law"] += 1
        return result

    def _part(self, classes: Classes, item: list[Any]) -> Callable[[], None]:
        """To the inputs of a letter that are listed; the others come second."""
        a, last = self._letter(item[1]), len(self.channel.rows) - 1
        chosen = {integer(k, "a listed input", 0, last) for k in entries(item[2], "the listed inputs")}
        return classes.halve(a, chosen)
