"""Markov chains of records with several letters: what one of them teaches about a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any

from ...core.allowance import BALL, limit
from ...core.arithmetic import arb, arb_mat, fmpq
from ...core.channel import Channel, build
from ...core.counts import values
from ...core.model import Model, added, value_of
from ...core.numbers import need, summed, total
from ...core.read import decimal, entries, integer

_MOST_RECORDS = 1000
_MOST_ENTRIES = 1 << 22
_KNOWN = (
    "a chain of letters needs at most 1000 records, each with as many letters as transitions has rows, a count, a sum without "
    "weights, parity, modular_sum or threshold, and a known mechanism with rows for the query's values"
)
Box = list[tuple[fmpq, fmpq]]
Point = tuple[fmpq, ...]
Lists = list[list[arb]]  # by letter and total


class AnyChain:
    """A chain, whatever its letters: the box of its parameters, and the records that are asked about."""

    box: Box
    mirrored: bool  # whether a record from the one end leaks what the one from the other end does
    most = 1  # what a letter adds

    def __init__(self, model: Model) -> None:
        self.model = model
        self.allowance = model.allowance
        self.size = len(model.alphabets)
        self.stationary = model.held["start"] == "stationary"
        record = model.held["record"]
        need(record is None or record < self.size, f"adversary.record must be less than {self.size}")
        self.asked: Sequence[int] = range(self.size) if record is None else [record]

    def record(self, value: Any) -> int:
        """A record that is asked about."""
        i = integer(value, "the record", 0, self.size - 1)
        need(i in self.asked, f"record {i} is not asked about")
        return i

    def point(self, value: Any, box: Box) -> Point:
        """Parameters in a box."""
        point = tuple(decimal(x, "a parameter") for x in entries(value, "the parameters", len(box)))
        need(all(lo <= x <= hi for x, (lo, hi) in zip(point, box, strict=True)), "the parameters are not in the box")
        return point

    def tightened(self, box: Box, j: int) -> Box:
        """The same box where parameter j has changed, without what is then nowhere."""
        return box

    @cached_property
    def inputs(self) -> list[int]:
        """The channel's input for every total."""
        places = {value: k for k, value in enumerate(values(self.model))}
        return [places[value_of(self.model.query, s)] for s in range(self.size * self.most + 1)]

    def by_input(self, numbers: Sequence[arb]) -> dict[int, arb]:
        """Sums of the numbers of totals, by the channel's input."""
        found = dict[int, arb]()
        for x, k in zip(numbers, self.inputs, strict=True):
            found[k] = found[k] + x if k in found else x
        return found


class LetterChain(AnyChain):
    """A model's chain: the box of its parameters, row by row, and then the start's, its query and its channel."""

    mirrored = False  # a reversed chain has other transitions

    def __init__(self, model: Model, channel: Channel | None = None) -> None:
        super().__init__(model)
        held = model.held
        self.letters = len(held["transitions"])
        query, k = model.query, self.letters
        known = query["kind"] in ("count", "sum", "parity", "modular_sum", "threshold") and query.get("weights") is None
        need(known and set(model.alphabets) == {k} and not model.foreign and self.size <= _MOST_RECORDS, _KNOWN)
        need(model.mechanism.get("inputs") != "dataset", _KNOWN)
        start = [[fmpq(0), fmpq(1)]] * k if held["start"] == "any" else [] if self.stationary else held["start"]
        need(len(start) in (0, k), f"adversary.start must be 'stationary', 'any' or a list of {k}")
        need(
            not self.stationary or self._one_class(),
            "with a stationary start every letter must be reachable from every other",
        )
        self.box = [(lo, hi) for row in [*held["transitions"], start] for lo, hi in row]
        for first in range(0, len(self.box), k):
            self.box = self.tightened(self.box, first)
        self.adds = added(query, k)
        self.most = max(self.adds)
        channel = channel or build(self.model)
        need(channel is not None and bool(channel.rows), _KNOWN)
        assert channel is not None
        self.channel = channel
        limit(
            (self.size * self.most + 1) * self.channel.outputs <= _MOST_ENTRIES,
            f"more than {_MOST_ENTRIES} totals and outputs",
        )

    def _one_class(self) -> bool:
        """True if every letter may be reached from every other."""
        rows = self.model.held["transitions"]
        for first in range(self.letters):
            seen = {first}
            new = [first]
            while new:
                new = [b for a in [new.pop()] for b, (_, hi) in enumerate(rows[a]) if hi > 0 and b not in seen] + new
                seen.update(new)
            if len(seen) < self.letters:
                return False
        return True

    def tightened(self, box: Box, j: int) -> Box:
        """The box without numbers that no law of parameter j's group has."""
        start = j - j % self.letters
        old = box[start : start + self.letters]
        lows, highs = total(lo for lo, _ in old), total(hi for _, hi in old)
        new = [(max(lo, 1 - (highs - hi)), min(hi, 1 - (lows - lo))) for lo, hi in old]
        return [*box[:start], *new, *box[start + self.letters :]]

    def point(self, value: Any, box: Box) -> Point:
        """Parameters in a box, with laws for groups."""
        point = super().point(value, box)
        groups = (point[j : j + self.letters] for j in range(0, len(point), self.letters))
        need(all(total(group) == 1 for group in groups), "a group's parameters must have the sum 1")
        return point


class Letters:
    """Leakage of one chain about a record: given each of its letters, and altogether.

    Of the first record a letter's share of the start may be 0, and what follows it is known all the same.
    """

    def __init__(self, chain: LetterChain, i: int, point: Point) -> None:
        self.chain = chain
        self.i = i
        k = chain.letters
        self.rows = [point[a * k : (a + 1) * k] for a in range(k)]
        self.start = point[k * k :] or stationary(self.rows)
        chain.allowance.room(6 * k * (chain.size * chain.most + 1) * BALL)
        found = [_product(*pair) for pair in zip(self._before(), self._after(), strict=True)]
        self.reached = [{chain.inputs[s] for s in totals} for totals in self._totals()]
        self.shares = [summed(numbers) for numbers in found] if i else list(map(arb, self.start))
        told = chain.channel.mixed(list(map(chain.by_input, found)))
        self.given = [[u / share for u in row] if i else row for row, share in zip(told, self.shares, strict=True)]
        self.joint = told if i else [[share * u for u in row] for row, share in zip(told, self.shares, strict=True)]
        self.outputs = [summed(column) for column in zip(*self.joint, strict=True)]

    def pairs(self, x: int) -> list[int]:
        """The outputs that a letter may be followed by."""
        return [y for y in range(self.chain.channel.outputs) if not self.chain.channel.vanishes(y, self.reached[x])]

    @property
    def least(self) -> fmpq:
        """Least probability of a letter's outputs, of those proved to be more than 0; at most 1."""
        told = (row[y].lower().fmpq() for x, row in enumerate(self.given) for y in self.pairs(x))
        return min((probability for probability in told if probability > 0), default=fmpq(1))

    def log(self, x: int, y: int) -> arb:
        """Log-ratio by which a letter makes an output likelier; nothing is known where that may be 0."""
        given, whole = self.given[x][y], self.outputs[y]
        return (given / whole).log() if given > 0 and whole > 0 else arb("nan")

    def information(self) -> arb:
        """I(X_i;Y)."""
        letters = [x for x, inputs in enumerate(self.reached) if inputs and (self.i or self.start[x])]
        return summed([self.joint[x][y] * self.log(x, y) for x in letters for y in self.pairs(x)])

    def _before(self) -> Lists:
        """A_i, or what it is given each letter of the first record."""
        adds = self.chain.adds
        lists = [[arb(0)] * f + [arb(p if self.i else 1)] for f, p in zip(adds, self.start, strict=True)]
        lists = [row + [arb(0)] * (self.chain.most + 1 - len(row)) for row in lists]
        columns = [list(column) for column in zip(*self.rows, strict=True)]
        for _ in range(self.i):
            lists = self._shifted(self._mixed(columns, lists))
        return lists

    def _after(self) -> Lists:
        """W_{n-1-i}."""
        lists = [[arb(1)] for _ in self.rows]
        for _ in range(self.chain.size - 1 - self.i):
            lists = self._mixed(self.rows, self._shifted(lists))
        return lists

    def _mixed(self, matrix: Sequence[Sequence[fmpq]], lists: Lists) -> Lists:
        self.chain.allowance.look()
        width = len(lists[0])
        rows = arb_mat([[arb(x) for x in row] for row in matrix])
        cells = (rows * arb_mat(len(lists), width, [x for row in lists for x in row])).entries()
        return [cells[start : start + width] for start in range(0, len(cells), width)]

    def _shifted(self, lists: Lists) -> Lists:
        """Values of each letter, shifted by its contribution."""
        zero = arb(0)
        most = self.chain.most
        return [[zero] * f + row + [zero] * (most - f) for f, row in zip(self.chain.adds, lists, strict=True)]

    def _totals(self) -> list[list[int]]:
        """The totals that are possible with each letter, as bits of whole numbers and then as lists."""
        adds = self.chain.adds
        letters = range(self.chain.letters)
        before = [int(not self.i or p > 0) << f for f, p in zip(adds, self.start, strict=True)]
        after = [1 for _ in letters]
        for _ in range(self.i):
            before = [_any(before[a] for a in letters if self.rows[a][b] > 0) << adds[b] for b in letters]
        for _ in range(self.chain.size - 1 - self.i):
            after = [_any(after[b] << adds[b] for b in letters if self.rows[a][b] > 0) for a in letters]
        sums = (_any(after[x] << s for s in _bits(before[x])) for x in letters)
        return [_bits(bits) for bits in sums]


def _product(left: Sequence[arb], right: Sequence[arb]) -> list[arb]:
    """The coefficients of a product."""
    result = [arb(0)] * (len(left) + len(right) - 1)
    for s, x in enumerate(left):
        for t, z in enumerate(right if not x.is_zero() else ()):
            result[s + t] += x * z
    return result


def _any(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _bits(mask: int) -> list[int]:
    """Places of the set bits."""
    return [s for s, bit in enumerate(bin(mask)[:1:-1]) if bit == "1"]


Matrix = list[list[fmpq]]


def inverse(matrix: Sequence[Sequence[fmpq]]) -> Matrix | None:
    """The inverse, exactly, if there is one."""
    size = len(matrix)
    rows = [[*row, *(fmpq(int(a == b)) for b in range(size))] for a, row in enumerate(matrix)]
    for a in range(size):
        at = next((b for b in range(a, size) if rows[b][a] != 0), None)
        if at is None:
            return None
        rows[a], rows[at] = rows[at], rows[a]
        rows[a] = [x / rows[a][a] for x in rows[a]]
        for b in range(size):
            if b != a and rows[b][a] != 0:
                rows[b] = [x - rows[b][a] * z for x, z in zip(rows[b], rows[a], strict=True)]
    return [row[size:] for row in rows]


def stationary(rows: Sequence[Sequence[fmpq]]) -> tuple[fmpq, ...]:
    """The only stationary law.

    One of its equations follows from the others, and that its sum is 1 stands in its place.
    """
    k = len(rows)
    equations = [[rows[a][b] - int(a == b) for a in range(k)] for b in range(1, k)]
    found = inverse([[fmpq(1)] * k, *equations])
    need(found is not None, "the point has several stationary laws")
    assert found is not None
    return tuple(row[0] for row in found)
