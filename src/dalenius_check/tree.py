"""The tree of one record's boxes, for all priors with an entropy bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial
from typing import Any

from .arithmetic import arb, fmpq
from .bounds import Joint, Ranges, uniform_information
from .certificate import Lines
from .channel import Channel, Record
from .model import Model
from .numbers import at_most, largest, need, total
from .read import decimal, entries, integer, nonnegative

_NODES = {"split": 4, "cut": 4, "joint": 5, "vertices": 1, "uniform": 1}
Box = dict[int, Ranges]
Sets = list[frozenset[int]]


def law_of(value: Any, size: int, what: str) -> list[fmpq]:
    """Nonnegative weights, normalised exactly."""
    weights = [nonnegative(x, what) for x in entries(value, what, size)]
    weight = total(weights)
    need(weight > 0, f"{what} has total weight zero")
    return [x / weight for x in weights]


def output_law(value: Any, channel: Channel, inputs: Collection[int]) -> list[fmpq]:
    """A law r^ on the outputs, zero only where the channel is, for these inputs."""
    law = law_of(value, channel.outputs, "r")
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
        self.roots: Box = {}

    def run(self, upper: arb) -> None:
        """Walk the tree of splits, cuts and leaves."""
        kinds = {"joint": self._joint, "vertices": self._vertices, "uniform": self._uniform}
        for item, box in self.lines.tree("a split, cut or leaf", _NODES, {}, self._halve):
            number = self.lines.number
            vacuous = not all(ranges.ends for ranges in box.values())
            results = kinds[item[0]](item, box, vacuous)
            if not vacuous:
                for bound in results:
                    at_most(bound, upper, f"line {number}'s {item[0]} leaf <= upper")
            self.tally["empty" if vacuous else item[0]] += 1

    def _ranges(self, box: Box, j: int) -> Ranges:
        if j < self.outputs:
            return box.get(j, self.simplex)
        if j not in self.roots:
            self.roots[j] = Ranges(*zip(*self.channel.ranges(self.record.inputs[j - self.outputs]), strict=True))
        return box.get(j, self.roots[j])

    def _slopes(self, value: Any) -> list[arb]:
        """A number for each output, or null for zeros."""
        if value is None:
            return [arb(0)] * self.outputs
        return [arb(decimal(x, "a slope")) for x in entries(value, "slopes", self.outputs)]

    def _letter(self, value: Any) -> int:
        return integer(value, "the letter", 0, self.letters - 1)

    def _halve(self, item: list[Any], box: Box, letter: int | None = None) -> list[Box]:
        """The boxes of a split, or of a cut of K; the cuts in a row tree have their letter from outside."""
        a = self._letter(item[1]) if letter is None else letter
        y, t = integer(item[-2], "the output", 0, self.outputs - 1), decimal(item[-1], "the point")
        j, place = (y, a) if item[0] == "split" else (self.outputs + a, y)
        return [box | {j: part} for part in self._ranges(box, j).split(place, t)]

    def _joint(self, item: list[Any], box: Box, vacuous: bool) -> list[arb]:
        leaf = Joint(self.record, nonnegative(item[1], "theta"), nonnegative(item[2], "mu"))
        need(leaf.theta <= 1, "theta must be at most 1")
        rows = [None] * self.letters if item[3] is None else entries(item[3], "sigma", self.letters)
        slopes = list(zip(*(self._slopes(row) for row in rows), strict=True))
        need((item[4] is None) == (leaf.theta == 0), "r must be null exactly where theta is 0")
        law = None if item[4] is None else output_law(item[4], self.channel, self.record.everything)
        phi = [self._ranges(box, y) for y in range(self.outputs)]
        scores = [] if vacuous else leaf.scores(phi, slopes, law)
        psi: list[list[arb]] = []
        for a in range(self.letters if leaf.theta and leaf.mu else 0):
            alike = [b for b in range(a) if rows[b] == rows[a] and self._alike(a, b, box)]
            psi.append(self._row_tree(leaf, box, a, scores, {b: psi[b] for b in alike}))
        psi = psi or leaf.free(scores)
        return [leaf.bound(list(map(largest, psi)), self.entropy)] if scores and all(psi) else []

    def _alike(self, a: int, b: int, box: Box) -> bool:
        """Whether two letters have the same counts, and the same ranges of K in a box."""
        left, right = (self._ranges(box, self.outputs + letter) for letter in (a, b))
        return self.record.pairs[a] == self.record.pairs[b] and (left.los, left.his) == (right.los, right.his)

    def _row_tree(
        self, leaf: Joint, box: Box, a: int, scores: list[list[arb]], known: dict[int, list[arb]]
    ) -> list[arb]:
        """psi of the row leaves of letter a that are not vacuous; nothing without scores. `known` has letters like a."""
        result: list[arb] = []
        expected, kinds = f"a cut or row of letter {a}", {"cut": 3, "row": 2, "as": 2}
        for item, part in self.lines.tree(expected, kinds, box, partial(self._halve, letter=a)):
            if item[0] == "as":
                b = self._letter(item[1])
                need(b in known, f"letter {b} is not known to be like letter {a}")
                result += known[b]
                continue
            slopes, ranges = self._slopes(item[1]), self._ranges(part, self.outputs + a)
            self.tally["row"] += 1
            if scores and ranges.ends:
                result.append(leaf.row(a, scores[a], ranges, slopes))
        return result

    def _uniform(self, *_: Any) -> list[arb]:
        need(self.model.is_uniform(), "a uniform leaf needs an entropy bound equal to log |X|")
        return [uniform_information(self.record)]

    def _vertices(self, *_: Any) -> list[arb]:
        result: list[arb] = []
        root = [frozenset(inputs) for inputs in self.record.inputs]
        for item, sets in self.lines.tree("a part or law", {"part": 3, "law": 2}, root, self._part):
            used = frozenset[int]().union(*sets) if all(sets) else frozenset()
            result += self.channel.divergences(output_law(item[1], self.channel, used), used)
            self.tally["law"] += 1
        return result

    def _part(self, item: list[Any], sets: Sets) -> list[Sets]:
        """The inputs of a letter, divided into those listed and the others."""
        a, last = self._letter(item[1]), len(self.channel.rows) - 1
        chosen = {integer(k, "a listed input", 0, last) for k in entries(item[2], "the listed inputs")}
        return [[*sets[:a], part, *sets[a + 1 :]] for part in (sets[a] & chosen, sets[a] - chosen)]
