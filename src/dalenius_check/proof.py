"""The walk through a certificate: the witness for `lower`, the preorder trees for `upper`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from flint import arb, fmpq

from .bounds import (
    Column,
    Interval,
    Side,
    column_bound,
    dual_bound,
    entropy_of,
    information,
    row_bound,
    uniform_information,
)
from .certificate import Header, Lines
from .channel import Channel
from .counts import Record, key, record
from .model import Model
from .numbers import at_most, largest, limit

_MAX_PENDING = 10_000
_LEAVES = {"split": 4, "column": 3, "dual": 3, "vertices": 1, "uniform": 1}


class Proof:
    """One pass over the lines after the header, at the current precision."""

    def __init__(self, model: Model, channel: Channel, claim: Header, lines: Lines) -> None:
        self.model, self.channel, self.claim, self.lines = model, channel, claim, lines
        self.entropy, self.upper = model.entropy_ball(), arb(claim.upper)
        self.uniform = model.is_uniform()
        self.tally: Counter[str] = Counter()

    def run(self) -> str:
        """Check everything; returns the witness in words."""
        witness = self.witness()
        covered, seen = set(), set()
        while self.lines.more():
            item = self.lines.item("a record", {"record": 2})
            i = self.lines.index(item[1], len(self.model.alphabets), "the record")
            if i in seen:
                raise self.lines.reject(f"record {i} comes twice")
            seen.add(i)
            covered.add(key(self.model, i, self.channel.dataset))
            Section(self, i).run()
        for j, size in enumerate(self.model.alphabets):
            if size > 1 and key(self.model, j, self.channel.dataset) not in covered:
                raise self.lines.reject(f"the file ends, but record {j} is not covered")
        return witness

    def record(self, i: int) -> Record:
        """The pairs of record i."""
        return record(self.model, i, self.channel.dataset, self.channel.values)

    def witness(self) -> str:
        """Line 2: a feasible prior whose information is at least `lower`."""
        lines, lower = self.lines, self.claim.lower
        _, i, weights = lines.item("the witness", {"witness": 3})
        if i is None and weights is None:
            if lower > 0:
                raise lines.reject("no witness, but lower is positive")
            return "none, the leakage is never negative"
        pairs = self.record(lines.index(i, len(self.model.alphabets), "the witness's record"))
        if weights == "uniform":
            value = uniform_information(pairs, self.channel)
        else:
            masses = self._masses(pairs, weights)
            if self.model.entropy != 0:  # an entropy is never negative
                where = f"certificate line {lines.number}: entropy bound <= witness's entropy"
                at_most(self.entropy, entropy_of(pairs, masses), where)
            value = information(pairs, self.channel, [[arb(mass) for mass in row] for row in masses])
        if lower > 0:  # an information is never negative
            at_most(arb(lower), value, f"certificate line {lines.number}: lower <= witness's information")
        return f"a prior for record {i}" if weights != "uniform" else f"the uniform prior for record {i}"

    def _masses(self, pairs: Record, value: Any) -> list[list[fmpq]]:
        lines, width = self.lines, len(self.channel.rows)
        rows = lines.entries(value, len(pairs.inputs), "weights")
        rows = [lines.entries(row, width, "a letter's weights") for row in rows]
        law = lines.law([x for row in rows for x in row], width * len(rows), "weights")
        result = []
        for a, inputs in enumerate(pairs.inputs):
            row, exists = law[a * width : (a + 1) * width], set(inputs)
            for k, mass in enumerate(row):
                if mass and k not in exists:
                    raise lines.reject(f"the witness has weight on letter {a}, input {k}, which no dataset has")
            result.append([row[k] for k in inputs])
        return result


class Section:
    """The proof of `upper` for one record."""

    def __init__(self, proof: Proof, i: int) -> None:
        self.proof, self.i, self.lines, self.channel = proof, i, proof.lines, proof.channel
        self._ranges: dict[int, tuple[Interval, ...]] = {}

    def run(self) -> None:
        """Walk the preorder tree of splits and leaves."""
        self.pairs = self.proof.record(self.i)
        letters, outputs = len(self.pairs.inputs), self.channel.outputs
        limit(letters * outputs <= 1 << 22, "too many letters and outputs for a box")
        root = Column([fmpq(0)] * letters, [fmpq(1)] * letters)
        stack: list[tuple[Column, ...]] = [(root,) * outputs]
        while stack:
            box = stack.pop()
            item = self.lines.item("a split or leaf", _LEAVES)
            if item[0] == "split":
                a = self.lines.index(item[1], letters, "the letter")
                y = self.lines.index(item[2], outputs, "the output")
                below, above = box[y].split(a, self.lines.rational(item[3], "the split point"))
                stack += [(*box[:y], above, *box[y + 1 :]), (*box[:y], below, *box[y + 1 :])]
                limit(len(stack) <= _MAX_PENDING, f"more than {_MAX_PENDING} boxes wait")
            else:
                self._leaf(item, box)

    def _leaf(self, item: list[Any], box: Sequence[Column]) -> None:
        number = self.lines.number
        tight = [side for column in box if (side := column.tight()) is not None]
        sides = tight if len(tight) == len(box) else None
        name = item[0]
        bounds = {"column": self._column, "dual": self._dual, "vertices": self._vertices, "uniform": self._uniform}
        for bound in bounds[name](item, sides):
            if sides is not None:
                at_most(bound, self.proof.upper, f"certificate line {number}: {name} leaf <= upper")
        self.proof.tally[name if sides is not None else "empty"] += 1

    def _column(self, item: list[Any], sides: list[list[Side]] | None) -> list[arb]:
        lines, letters, outputs = self.lines, len(self.pairs.inputs), self.channel.outputs
        mu = lines.nonnegative(item[1], "mu")
        rows = [None] * letters if item[2] is None else lines.entries(item[2], letters, "nu")
        hints = [lines.hints(row, outputs) for row in rows]
        if sides is None:
            return []
        nu: list[list[fmpq] | None] = [None] * outputs
        if any(row is not None for row in hints):
            zeros = [fmpq(0)] * outputs
            nu = [list(column) for column in zip(*(row or zeros for row in hints), strict=True)]
        return [column_bound(self.pairs, self.channel, sides, mu, nu, self.proof.entropy)]

    def _uniform(self, item: list[Any], sides: list[list[Side]] | None) -> list[arb]:
        if not self.proof.uniform:
            raise self.lines.reject("a uniform leaf needs an entropy bound equal to log |X|")
        return [uniform_information(self.pairs, self.channel)]

    def _dual(self, item: list[Any], sides: list[list[Side]] | None) -> list[arb]:
        beta = self.lines.nonnegative(item[1], "beta")
        law = self.lines.law(item[2], self.channel.outputs, "r")
        everything = {k for inputs in self.pairs.inputs for k in inputs}
        self.channel.check_law(law, everything, f"certificate line {self.lines.number}")
        if beta == 0:
            divergences = self.channel.divergences(law)
            return [divergences[k] for k in everything]
        log_law = [arb(q).log() if q else arb(0) for q in law]
        phi = [self._row_tree(a, beta, log_law) for a in range(len(self.pairs.inputs))]
        return [dual_bound(phi, beta, self.proof.entropy)]

    def _row_tree(self, a: int, beta: fmpq, log_law: list[arb]) -> arb:
        if a not in self._ranges:
            self._ranges[a] = tuple(Interval(*pair) for pair in self.channel.ranges(self.pairs.inputs[a]))
        stack, phi = [self._ranges[a]], []
        while stack:
            box = stack.pop()
            item = self.lines.item(f"a cut or row of letter {a}", {"cut": 3, "row": 2})
            if item[0] == "cut":
                y = self.lines.index(item[1], len(box), "the output")
                below, above = box[y].split(self.lines.rational(item[2], "the cut point"))
                stack += [(*box[:y], above, *box[y + 1 :]), (*box[:y], below, *box[y + 1 :])]
                limit(len(stack) <= _MAX_PENDING, f"more than {_MAX_PENDING} row boxes wait")
                continue
            nu = self.lines.hints(item[1], len(box))
            self.proof.tally["row"] += 1
            if all(interval.lo <= interval.hi for interval in box):
                sides = [interval.side() for interval in box]
                phi.append(row_bound(self.pairs, a, self.channel, sides, beta, nu, log_law))
        return largest(phi)

    def _vertices(self, item: list[Any], sides: list[list[Side]] | None) -> list[arb]:
        stack, bounds = [tuple(map(frozenset, self.pairs.inputs))], []
        while stack:
            sets = stack.pop()
            item = self.lines.item("a part or law", {"part": 3, "law": 2})
            if item[0] == "part":
                a = self.lines.index(item[1], len(sets), "the letter")
                listed = item[2] if isinstance(item[2], list) else [None]
                chosen = {self.lines.index(k, len(self.channel.rows), "a listed input") for k in listed}
                inside, outside = sets[a] & chosen, sets[a] - chosen
                stack += [(*sets[:a], outside, *sets[a + 1 :]), (*sets[:a], inside, *sets[a + 1 :])]
                limit(len(stack) <= _MAX_PENDING, f"more than {_MAX_PENDING} class sets wait")
                continue
            law = self.lines.law(item[1], self.channel.outputs, "r")
            self.proof.tally["law"] += 1
            if all(sets):
                used = set().union(*sets)
                self.channel.check_law(law, used, f"certificate line {self.lines.number}")
                divergences = self.channel.divergences(law)
                bounds.append(largest([divergences[k] for k in used]))
        return bounds
