"""The lines of a certificate about independent blocks: those of certificates about its pieces, one after another."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

from .allowance import limit
from .arithmetic import arb
from .blocks import Blocks, Shape
from .certificate import Lines, Sizes
from .channel import Channel
from .drifting import channel_of
from .model import Model
from .numbers import need
from .proof import MAX_CELLS, EntropyBound, Masses
from .read import entries, integer, text

_WHOLE = re.compile("-?[0-9]{1,30}")


class Piece(EntropyBound):
    """A piece, whose lines end where those of another one begin."""

    after: ClassVar[Sizes] = {"block": 3}


class Households:
    """Priors under which blocks of records are independent, and the one that is asked about has an entropy.

    Bound because I is convex in the channel from a block to the output, which is a mixture over what the other records can be: it is
    largest where they are known, and then it depends on them through the sum of their contributions alone.
    """

    def __init__(self, lines: Lines, blocks: Blocks) -> None:
        self.lines = lines
        self.blocks = blocks
        self.tally = Counter[str]()
        self.allowance = blocks.allowance

    def check(self, claim: dict[str, Any]) -> tuple[list[str], Counter[str]]:
        """Check all lines; the witness and the pieces in words, and the numbers of leaves by kind."""
        words = f"witness: {self._witness(claim)}"
        seen = self.bound(arb(claim["upper"]))
        listed = f"{seen} listed, which stand for all of {len(self.blocks.sizes)} blocks"
        return [words, f"pieces: {listed}, with whatever the others are known to be"], self.tally

    def bound(self, upper: arb) -> int:
        """The sections about pieces, which must cover all; how many there are."""
        seen, covered = set[Any](), set[Any]()
        for item in self.lines.run("a block", {"block": 3}, {}):
            j, shape, t = self._place(item)
            name = self.name(j, shape, t)
            need(name not in seen, f"block {j} comes twice" + (f" with {item[2]}" if item[2] else ""))
            seen.add(name)
            with self.allowance.holding():
                proof = self.piece(shape, t)
                proof.bound(upper - self.blocks.lost(shape))
                self.tally += proof.tally
            covered.add(self.blocks.key(shape, t))
        self.need_covered(covered)
        return len(seen)

    def name(self, j: int, shape: Shape, t: Any) -> Any:
        """What may not come twice."""
        return j, t

    def need_covered(self, covered: set[Any]) -> None:
        """Refuse what leaves out a piece that may tell anything."""
        for shape in self.blocks.shapes:
            for t in self.blocks.told(shape):
                self.allowance.look()
                known = self.blocks.key(shape, t) in covered
                alone = self.blocks.alone
                about = f"a block of {len(shape.alphabets)} records" + ("" if alone else f", where the others add {t},")
                need(known, f"the file ends, but {about} is not covered")

    def _witness(self, claim: dict[str, Any]) -> str:
        """The piece that proves `lower`, and its witness."""
        item = self.lines.item("the witness or its piece", {"witness": 3, "at": 3})
        if item[0] == "witness":
            need(item[1] is None and item[2] is None, "a line 'at' is expected before a witness")
            need(claim["lower"] <= 0, "no witness, but lower is positive")
            return "none, the leakage is never negative"
        j, shape, t = self._place(item)
        self.need_possible(shape, t)
        with self.allowance.holding():
            return f"{self.piece(shape, t).witness(claim['lower'])} of block {j}"

    def need_possible(self, shape: Shape, t: Any) -> None:
        """Refuse a witness where the others can never be so: they can, wherever a piece is."""

    def _place(self, item: list[Any]) -> tuple[int, Shape, Any]:
        """A block, its shape, and what the others add, 0 where that does not matter."""
        j = integer(item[1], "the block", 0, len(self.blocks.sizes) - 1)
        shape = self.blocks.shape(j)
        return j, shape, self.sum(shape, item[2])

    def sum(self, shape: Shape, value: Any) -> Any:
        """What the other records add, 0 where that does not matter."""
        if self.blocks.alone:
            need(value is None, "t must be null for this query and mechanism")
            return 0
        need(_WHOLE.fullmatch(text(value, "t")) is not None, "t must be an integer written as a string")
        t = int(value)
        need(t in self.blocks.others(shape), f"the other records' contributions never add up to {t}")
        return t

    def piece(self, shape: Shape, t: Any) -> Piece:
        """The lines about a piece."""
        model = self.blocks.piece(shape, t)
        model.need_feasible()
        return Piece(self.lines, model, channel_of(model))


class DesignedHouseholds:
    """The same about a design's mechanism, whose rows belong to the query's values: pieces of it, and priors of pieces."""

    def __init__(self, lines: Lines, model: Model, channel: Channel) -> None:
        mechanism = {"kind": "matrix", "inputs": "query", "rows": channel.rows}
        audit = replace(model, problem="maximal_leakage", design={}, mechanism=mechanism)
        self.households = Households(lines, Blocks(audit))
        self.model = model
        self.outputs = channel.outputs
        self.tally = self.households.tally
        self._pieces = dict[tuple[Shape, int], Piece]()

    def bound(self, upper: arb) -> None:
        """The sections about pieces."""
        self.households.bound(upper)

    def record(self, value: Any) -> int:
        """A record's number."""
        i = integer(value, "the record", 0, len(self.model.alphabets) - 1)
        limit(self.model.alphabets[i] * self.outputs <= MAX_CELLS, "too many letters and outputs")
        return i

    def masses(self, i: int, hint: Any) -> Masses:
        """For each letter of record i the mechanism's inputs and their masses, of a prior of a piece of its block."""
        value, prior = entries(hint, "t and a prior", 2)
        blocks = self.households.blocks
        j, place = blocks.block(i)
        shape = blocks.shape(j)
        t = self.households.sum(shape, value)
        if (shape, t) not in self._pieces:
            self._pieces[shape, t] = self.households.piece(shape, t)
        piece = self._pieces[shape, t]
        inputs = blocks.inputs(shape, t)
        return [[(inputs[k], p) for k, p in row] for row in piece.masses(place, prior)]
