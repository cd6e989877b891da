"""The walk through a certificate: the witness for `lower`, the preorder trees for `upper`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from flint import arb, fmpq

from .bounds import Column, Side, column_bound, dual_bound, entropy_of, information, row_bound, uniform_information
from .certificate import Lines
from .channel import Channel, Record, logs
from .counts import completions, key
from .model import Model
from .numbers import at_most, largest, limit, need, total
from .read import decimal, entries, integer, nonnegative

_MAX_CELLS = 1 << 22
_LEAVES = {"split": 4, "column": 3, "dual": 3, "vertices": 1, "uniform": 1}
Box = tuple[Any, ...]


def _law(value: Any, size: int, what: str) -> list[fmpq]:
    """Nonnegative weights, normalised exactly."""
    weights = [nonnegative(x, what) for x in entries(value, what, size)]
    weight = total(weights)
    need(weight > 0, f"{what} has total weight zero")
    return [x / weight for x in weights]


def _hints(value: Any, size: int) -> list[fmpq]:
    """Numbers, or null for zeros."""
    return [fmpq(0)] * size if value is None else [decimal(x, "nu") for x in entries(value, "nu", size)]


def prove(lines: Lines, model: Model, channel: Channel, lower: fmpq, upper: fmpq) -> tuple[str, Counter[str]]:
    """Check the lines after the header; the witness in words, and the numbers of leaves by kind."""
    witness, tally = _witness(lines, model, channel, lower), Counter[str]()
    covered, seen, count = set(), set(), len(model.alphabets)
    while lines.more():
        i = integer(lines.item("a record", {"record": 2})[1], "the record", 0, count - 1)
        need(i not in seen, f"record {i} comes twice")
        seen.add(i)
        covered.add(key(model, i, channel.dataset))
        tally += Section(lines, model, channel, i).run(arb(upper))
    for j, size in enumerate(model.alphabets):
        need(size == 1 or key(model, j, channel.dataset) in covered, f"the file ends, but record {j} is not covered")
    return witness, tally


def _witness(lines: Lines, model: Model, channel: Channel, lower: fmpq) -> str:
    """Line 2: a feasible prior whose information is at least `lower`."""
    _, i, weights = lines.item("the witness", {"witness": 3})
    if i is None and weights is None:
        need(lower <= 0, "no witness, but lower is positive")
        return "none, the leakage is never negative"
    i = integer(i, "the witness's record", 0, len(model.alphabets) - 1)
    record = _record(model, channel, i)
    if weights == "uniform":
        value = uniform_information(record)
    else:
        masses = _masses(record, len(channel.rows), weights)
        if model.entropy != 0:  # an entropy is never negative
            at_most(model.entropy_ball(), entropy_of(record, masses), "entropy bound <= witness's entropy")
        value = information(record, [[arb(mass) for mass in row] for row in masses])
    if lower > 0:  # an information is never negative
        at_most(arb(lower), value, "lower <= witness's information")
    return f"{'the uniform' if weights == 'uniform' else 'a'} prior for record {i}"


def _record(model: Model, channel: Channel, i: int) -> Record:
    limit(model.alphabets[i] * channel.outputs <= _MAX_CELLS, "too many letters and outputs")
    return Record(channel, completions(model, i, channel.dataset, channel.values))


def _masses(record: Record, width: int, value: Any) -> list[list[fmpq]]:
    rows = [entries(row, "a letter's weights", width) for row in entries(value, "weights", len(record.inputs))]
    law, result = _law([x for row in rows for x in row], width * len(rows), "weights"), []
    for a, inputs in enumerate(record.inputs):
        row, exists = law[a * width : (a + 1) * width], set(inputs)
        for k, mass in enumerate(row):
            need(not mass or k in exists, f"weight on letter {a}, input {k}, which no dataset has")
        result.append([row[k] for k in inputs])
    return result


def _with(box: Box, j: int, parts: Iterable[Any]) -> list[Box]:
    """The boxes with their entry j replaced by each part."""
    return [(*box[:j], part, *box[j + 1 :]) for part in parts]


class Section:
    """The proof of `upper` for record i."""

    def __init__(self, lines: Lines, model: Model, channel: Channel, i: int) -> None:
        self.lines, self.channel = lines, channel
        self.entropy, self.uniform = model.entropy_ball(), model.is_uniform()
        self.letters, self.outputs = model.alphabets[i], channel.outputs
        self.record = _record(model, channel, i)
        self.tally: Counter[str] = Counter()

    def run(self, upper: arb) -> Counter[str]:
        """Walk the tree of splits and leaves; their numbers by kind."""
        root = (Column([fmpq(0)] * self.letters, [fmpq(1)] * self.letters, law=True),) * self.outputs
        kinds = {"column": self._column, "dual": self._dual, "vertices": self._vertices, "uniform": self._uniform}
        for item, box in self.lines.tree("a split or leaf", _LEAVES, root, self._halve):
            number, sides = self.lines.number, [column.sides for column in box]
            bounds = kinds[item[0]](item, sides)
            if all(sides):
                for bound in bounds:
                    at_most(bound, upper, f"line {number}'s {item[0]} leaf <= upper")
            self.tally[item[0] if all(sides) else "empty"] += 1
        return self.tally

    def _halve(self, item: list[Any], box: Box) -> list[Box]:
        """The boxes of a split, or of a cut, whose columns have one number."""
        a = integer(item[1], "the letter", 0, self.letters - 1) if item[0] == "split" else 0
        y = integer(item[-2], "the output", 0, self.outputs - 1)
        return _with(box, y, box[y].split(a, decimal(item[-1], "the point")))

    def _column(self, item: list[Any], sides: list[list[Side]]) -> list[arb]:
        mu = nonnegative(item[1], "mu")
        rows = [None] * self.letters if item[2] is None else entries(item[2], "nu", self.letters)
        nu = list(zip(*(_hints(row, self.outputs) for row in rows), strict=True))
        return [column_bound(self.record, sides, mu, nu, self.entropy)] if all(sides) else []

    def _uniform(self, *_: Any) -> list[arb]:
        need(self.uniform, "a uniform leaf needs an entropy bound equal to log |X|")
        return [uniform_information(self.record)]

    def _check_law(self, law: list[fmpq], inputs: Iterable[int]) -> None:
        for y, q in enumerate(law):
            need(q > 0 or self.channel.vanishes(y, inputs), f"the law is zero at output {y}, where the channel is not")

    def _dual(self, item: list[Any], sides: list[list[Side]]) -> list[arb]:
        beta, law = nonnegative(item[1], "beta"), _law(item[2], self.outputs, "r")
        everything = {k for inputs in self.record.inputs for k in inputs}
        self._check_law(law, everything)
        if beta == 0:
            divergences = self.channel.divergences(law)
            return [divergences[k] for k in everything]
        phi = [self._row_tree(a, beta, logs(law)) for a in range(self.letters)]
        return [dual_bound(phi, beta, self.entropy)]

    @cached_property
    def _row_roots(self) -> list[Box]:
        ranges = map(self.channel.ranges, self.record.inputs)
        return [tuple(Column([low], [high], law=False) for low, high in pairs) for pairs in ranges]

    def _row_tree(self, a: int, beta: fmpq, log_law: list[arb]) -> arb:
        phi, expected = [], f"a cut or row of letter {a}"
        for item, box in self.lines.tree(expected, {"cut": 3, "row": 2}, self._row_roots[a], self._halve):
            nu, sides = _hints(item[1], self.outputs), [side for column in box for side in column.sides]
            self.tally["row"] += 1
            if len(sides) == self.outputs:
                phi.append(row_bound(self.record, a, sides, beta, nu, log_law))
        return largest(phi)

    def _vertices(self, item: list[Any], sides: list[list[Side]]) -> list[arb]:
        bounds, root = [], tuple(map(frozenset, self.record.inputs))
        for law_item, sets in self.lines.tree("a part or law", {"part": 3, "law": 2}, root, self._part):
            law = _law(law_item[1], self.outputs, "r")
            self.tally["law"] += 1
            if all(sets):
                used = set().union(*sets)
                self._check_law(law, used)
                divergences = self.channel.divergences(law)
                bounds.append(largest([divergences[k] for k in used]))
        return bounds

    def _part(self, item: list[Any], sets: Box) -> list[Box]:
        a = integer(item[1], "the letter", 0, self.letters - 1)
        last, listed = len(self.channel.rows) - 1, entries(item[2], "the listed inputs")
        chosen = {integer(k, "a listed input", 0, last) for k in listed}
        return _with(sets, a, (sets[a] & chosen, sets[a] - chosen))
