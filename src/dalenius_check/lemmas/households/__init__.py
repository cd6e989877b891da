"""Theorem B1: L of independent blocks is the largest L_b of one block by itself, over what the others' letters can be; B2, where
noise is added to a sum or turns with it, one for all; B3, of exponential noise one for each total, whose columns beyond the
block's values are merged.

Hypotheses, each a line that refuses: blocks cover the records once (`sizes_of`); the query adds up, and the mechanism is one of
the table (`route`); a block's entropy bound is one that the block can have (`Blocks._need_valid`); the range has every sum
(`Blocks._need_valid`); every piece that reveals anything is covered (`need_covered`); a witness's others can add up so (`sum`);
what clamped noise loses is taken off (`bound`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ...core.adversaries import EntropyBound, Masses, record_of
from ...core.allowance import NUMBER, lemma, limit, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.certificate import Lines, Sizes
from ...core.channel import Channel, build
from ...core.counts import values
from ...core.known import Known
from ...core.model import Model
from ...core.noise import power
from ...core.numbers import need, take_entries
from ...core.proof import Proof
from ...core.read import entries, integer, text
from ...core.verdict import Subject
from .blocks import Blocks, Shape, single

_WHOLE = re.compile("-?[0-9]{1,30}")
Place = tuple[int, Shape, Any]  # a block, its shape, and what the others add, 0 where that does not matter


class Piece(EntropyBound):
    """A piece, whose lines end where those of another one begin."""

    after: ClassVar[Sizes] = {"block": 3}


class Households(Proof):
    """Priors under which blocks of records are independent, and the one that is asked about has an entropy.

    Bound because I is convex in the channel from a block to the output, which is a mixture over what the other records can be: it is
    largest where they are known, and then it depends on them through the sum of their contributions alone.
    """

    expected = "a block"
    names: ClassVar[Sizes] = {"block": 3}
    first: ClassVar[Sizes] = {"at": 3}

    def __init__(self, lines: Lines, blocks: Blocks) -> None:
        super().__init__(lines, blocks.allowance)
        self.blocks = blocks
        rests_on(self.allowance, "B1")

    def words(self, sections: int) -> Sequence[str]:
        listed = f"{sections} listed, which stand for all of {len(self.blocks.sizes)} blocks"
        return [f"pieces: {listed}, with whatever the others are known to be"]

    def section(self, place: Place, upper: arb) -> None:
        _, shape, t = place
        with self.allowance.holding():
            proof = self._proof(shape, t)
            proof.bound(upper - self.blocks.lost(shape))
            self.tally += proof.tally

    def places(self, seen: Collection[Place]) -> Iterable[Place]:
        return ((0, shape, t) for shape in self.blocks.shapes for t in self.blocks.told(shape))

    def key(self, place: Place) -> Any:
        return self.blocks.key(*place[1:])

    def called(self, place: Place) -> str:
        return f"block {place[0]}{self._beside(place[2])}"

    def uncovered(self, place: Place) -> str:
        return f"a block of {len(place[1].alphabets)} records{self._beside(place[2])} is not covered"

    def _beside(self, t: Any) -> str:
        return "" if self.blocks.alone else f", where the others add {t},"

    def shown(self, item: list[Any], lower: fmpq) -> str:
        """The piece's own witness."""
        j, shape, t = self.place(item)
        self.need_possible(shape, t)
        with self.allowance.holding():
            return f"{self._proof(shape, t).witness(lower)} of block {j}"

    def _proof(self, shape: Shape, t: Any) -> Proof:
        """The lines about a piece, or about its sum."""
        if self.lines.ahead() == "sums":
            found: Proof = lemma("sums").sums_of(self.lines, self.blocks, shape)
            return found
        return self.piece(shape, t)

    def need_possible(self, shape: Shape, t: Any) -> None:
        """Refuse a witness where the others can never be so: they can, wherever a piece is."""

    def place(self, item: list[Any]) -> Place:
        j = integer(item[1], "the block", 0, len(self.blocks.sizes) - 1)
        shape = self.blocks.shape(j)
        return j, shape, self.sum(shape, item[2])

    def sum(self, shape: Shape, value: Any) -> Any:
        """Contribution of the other records, 0 where that does not matter."""
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
        return Piece(self.lines, model, channel_of(model, self.lines.known))


class DesignedHouseholds:
    """The same about a design's mechanism, whose rows belong to the query's values: pieces of it, and priors of pieces."""

    def __init__(self, lines: Lines, model: Model, channel: Channel) -> None:
        mechanism = {"kind": "matrix", "inputs": "query", "rows": channel.rows}
        audit = replace(model, problem="maximal_leakage", design={}, mechanism=mechanism)
        self.households = Households(lines, Blocks(audit))
        self.model = model
        self.channel = channel
        self.tally = self.households.tally
        self._pieces = dict[tuple[Shape, int], Piece]()

    def bound(self, upper: arb) -> None:
        """The sections about pieces."""
        self.households.bound(upper)

    def record(self, value: Any) -> int:
        """A record's number."""
        return record_of(self.model, self.channel, value)

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


def about(blocks: Blocks, kind: type[Households] = Households) -> Subject:
    """Subject of a certificate about blocks."""
    source = "of every block where the other records are known"
    return Subject(lambda lines, _: kind(lines, blocks), blocks.model.most(), source)


_MOST = 1 << 16


def drifts(model: Model) -> bool:
    """True if this is a count or a sum behind exponential noise."""
    return model.query["kind"] in ("count", "sum") and model.mechanism["kind"] == "exponential"


class Drifting(Blocks):
    """Pieces (j, t), whose noise has the range that is left of the model's."""

    def key(self, shape: Shape, t: int) -> Any:
        """The same for pieces that are the same model."""
        return shape, t

    def told(self, shape: Shape) -> Collection[int]:
        """Every t with which a block may reveal anything."""
        found = self.others(shape) if super().told(shape) else ()
        limit(len(found) <= _MOST, f"more than {_MOST} totals of the other records")
        return found

    def piece(self, shape: Shape, t: int) -> Model:
        """The model about one block: exponential noise in the same range, counted from t."""
        ends = self.model.mechanism["range"] or self._span
        mechanism = {**self.model.mechanism, "range": [end - t for end in ends]}
        return replace(super().piece(shape, t), mechanism=mechanism)

    @property
    def _span(self) -> list[int]:
        """The least and the greatest of the values that the query lists."""
        if self.model.query["kind"] == "count":
            return [0, len(self.model.alphabets)]
        return [sum(end(c) * times for c, times in self.added.items()) for end in (min, max)]


def channel_of(piece: Model, leaves: Known | None = None) -> Channel:
    """The channel of a piece; of one that drifts the outputs beyond its values are merged.

    Bound because the columns of the outputs up to the least value are proportional, and those from the greatest one on.
    """
    if not drifts(piece):
        channel = leaves.channel(piece) if leaves else build(piece)
        assert channel is not None
        return channel
    listed = values(piece)
    mechanism = piece.mechanism
    (low, high), rate = mechanism["range"], mechanism["epsilon"] / (2 * mechanism["sensitivity"])
    first, last = listed[0], listed[-1]
    need(low <= first and last <= high, "mechanism.range must contain every value of the piece's query")
    take_entries(len(listed), last - first + 1, piece.allowance, NUMBER)
    if first == last:
        return Channel([[fmpq(1)]] * len(listed), listed, piece.allowance)
    rows = list[list[Any]]()
    for v in listed:
        piece.allowance.look()
        whole = _series(rate, v - low) + _series(rate, high - v) - 1
        own = [power(rate * abs(y - v)) for y in range(first, last + 1)]
        own[0], own[-1] = own[0] * _series(rate, first - low), own[-1] * _series(rate, high - last)
        rows.append([x / whole for x in own])
    return Channel(rows, listed, piece.allowance)


def _series(rate: fmpq, n: int) -> Any:
    """The sum of e^(-rate j) for j = 0, ..., n."""
    return fmpq(n + 1) if rate == 0 else arb(-rate * (n + 1)).expm1() / arb(-rate).expm1()


def subject(model: Model) -> Subject:
    """That of a model about blocks of records, one record each where there are no others."""
    if model.adversary != "independent_blocks":
        return about(single(model))
    if drifts(model):
        rests_on(model.allowance, "B3")
        return about(Drifting(model))
    return about(Blocks(model))
