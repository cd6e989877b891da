"""Markov chains of binary records: what each of them teaches about itself, over a box of the chain's probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from .allowance import BALL, CELL, limit
from .arithmetic import arb, fmpq
from .channel import build
from .counts import values
from .model import Model
from .numbers import need
from .read import decimal, entries, integer

_MOST_WRITTEN, _MOST_ENTRIES, _KEPT = 1000, 1 << 22, 8
_KNOWN = (
    "a Markov chain needs records of two letters, a count of the letter 1, a sum without weights, parity, modular_sum or "
    "threshold, and a known mechanism with rows for the query's values; of more than 1000 records one that is named, a count or "
    "sum, and geometric or discrete_laplace noise, its range, if any, from 0 to the number of records"
)
Point = tuple[fmpq, ...]
Slopes = list[arb]  # a derivative for each parameter
Jet = tuple[arb, Slopes]  # a number, and its derivatives
Counts = list[list[arb]]  # a list over counts of a number, then one of each derivative


class Chain:
    """A model's chain: the box of its parameters, alpha and beta, and nu where the start is any; its query and its noise."""

    def __init__(self, model: Model) -> None:
        held, self.model, self.allowance = model.held, model, model.allowance
        self.size, self.stationary = len(model.alphabets), held["start"] == "stationary"
        self.box = [tuple(held["to_one"]), tuple(held["to_zero"]), *([] if self.stationary else [(fmpq(0), fmpq(1))])]
        query, mechanism = model.query, model.mechanism
        plain = (query["kind"] != "count" or query["letters"] == [1]) and query.get("weights") is None
        known = query["kind"] in ("count", "sum", "parity", "modular_sum", "threshold") and plain
        need(known and set(model.alphabets) == {2} and not model.foreign, _KNOWN)
        need(mechanism.get("inputs") != "dataset", _KNOWN)
        ends = mechanism.get("range")
        wide = ends is None or (ends[0] <= 0 and self.size <= ends[1])
        linear, two_sided = query["kind"] in ("count", "sum"), mechanism["kind"] in ("geometric", "discrete_laplace")
        self.unbounded = linear and two_sided and wide
        self.written = self.size <= _MOST_WRITTEN
        need(self.written or (self.unbounded and held["record"] is not None), _KNOWN)
        need(held["record"] is None or held["record"] < self.size, f"adversary.record must be less than {self.size}")
        self.asked = range(self.size) if held["record"] is None else [held["record"]]
        self.channel = build(model) if self.written else None

    def record(self, value: Any) -> int:
        """A record that is asked about."""
        i = integer(value, "the record", 0, self.size - 1)
        need(i in self.asked, f"record {i} is not asked about")
        return i

    def point(self, value: Any, box: Sequence[tuple[fmpq, fmpq]]) -> Point:
        """Parameters in a box."""
        point = tuple(decimal(x, "a parameter") for x in entries(value, "the parameters", len(box)))
        need(all(lo <= x <= hi for x, (lo, hi) in zip(point, box, strict=True)), "the parameters are not in the box")
        return point

    @cached_property
    def inputs(self) -> list[int]:
        """The channel's input for every number of ones."""
        places = {value: k for k, value in enumerate(values(self.model))}
        query: Any = self.model.query
        read: dict[str, Callable[[int], int]] = {
            "parity": lambda s: s % 2,
            "modular_sum": lambda s: s % query["modulus"],
            "threshold": lambda s: int(s >= query["at"]),
        }
        return [places[read.get(query["kind"], int)(s)] for s in range(self.size + 1)]


class Leakage:
    """I(X_i;Y) and its derivatives, for parameters that are numbers or balls."""

    def __init__(self, chain: Chain, i: int) -> None:
        self.chain, self.i, self.allowance = chain, i, chain.allowance
        self.known = dict[Point, Jet]()

    def at(self, point: Point) -> arb:
        """I where the parameters are these numbers."""
        if point not in self.known:
            if len(self.known) >= _KEPT:
                self.known.pop(next(iter(self.known)))
            self.known[point] = self.over([(x, x) for x in point])
        return self.known[point][0]

    def over(self, box: Sequence[tuple[fmpq, fmpq]]) -> Jet:
        """Enclosures of I and of its derivatives over a box of parameters; of which nothing is known where some mass may be 0."""
        channel = self.chain.channel
        need(
            channel is not None and bool(channel.rows),
            "nothing is written out: a line 'slope' or 'path' without t is not known",
        )
        assert channel is not None
        limit((self.chain.size + 1) * channel.outputs <= _MOST_ENTRIES, f"more than {_MOST_ENTRIES} counts and outputs")
        size = 16 * (self.chain.size + 1) * BALL + len(channel.rows) * channel.outputs * CELL
        self.allowance.room(size)
        joint = self._joint(box)
        masses = [[_sums(numbers, self.chain.inputs) for numbers in counts] for counts in joint]
        laws = [channel.mixed(rows) for rows in masses]
        shares = [[sum(numbers, arb(0)) for numbers in counts] for counts in joint]
        last = self.chain.size
        reached = [{self.chain.inputs[s] for s in range(x, last + x)} for x in (0, 1)]
        result = [arb(0)] * (1 + len(box))
        for y in range(channel.outputs):
            self.allowance.look()
            whole = laws[0][0][y] + laws[1][0][y]
            for law, share, inputs in zip(laws, shares, reached, strict=True):
                if channel.vanishes(y, inputs):
                    continue
                mass = law[0][y]
                sure = mass > 0 and share[0] > 0 and whole > 0
                log = (mass / (share[0] * whole)).log() if sure else arb("nan")
                result = [value + row[y] * log for value, row in zip(result, law, strict=True)]
        return result[0], result[1:]

    def _joint(self, box: Sequence[tuple[fmpq, fmpq]]) -> tuple[Counts, Counts]:
        """p(0, .) and p(1, .), each with its derivatives."""
        one, zero = (arb(lo).union(arb(hi)) for lo, hi in box[:2])
        stay, leave = (arb(1 - hi).union(arb(1 - lo)) for lo, hi in box[:2])
        if self.chain.stationary:
            (a, b), (c, d) = box
            nu = arb(a / (a + d)).union(arb(b / (b + c)))
            other = arb(c / (b + c)).union(arb(d / (a + d)))
            whole = arb(a + c).union(arb(b + d))
            turn = [other / whole, -nu / whole]
        else:
            (a, b) = box[2]
            nu, other, turn = arb(a).union(arb(b)), arb(1 - b).union(arb(1 - a)), [arb(0), arb(0), arb(1)]
        steps = one, stay, zero, leave
        flat = [[arb(0)] for _ in box]
        ends: tuple[Counts, Counts] = [[other], *([-x] for x in turn)], [[arb(0), nu], *([arb(0), x] for x in turn)]
        for _ in range(self.i):
            ends = self._forward(ends, steps)
        rest: tuple[Counts, Counts] = [[arb(1)], *flat], [[arb(1)], *flat]
        for _ in range(self.chain.size - 1 - self.i):
            rest = self._backward(rest, steps)
        found = [self._product(before, after) for before, after in zip(ends, rest, strict=True)]
        return found[0], found[1]

    def _forward(self, lists: tuple[Counts, Counts], steps: tuple[arb, arb, arb, arb]) -> tuple[Counts, Counts]:
        """A_k+1 from A_k."""
        self.allowance.look()
        (from_zero, from_one), (one, stay, zero, leave) = lists, steps
        first = [_plus(_times(stay, u), _times(zero, v)) for u, v in zip(from_zero, from_one, strict=True)]
        second = [_plus(_times(one, u), _times(leave, v)) for u, v in zip(from_zero, from_one, strict=True)]
        first[1], second[1] = _plus(first[1], _times(arb(-1), from_zero[0])), _plus(second[1], from_zero[0])
        first[2], second[2] = _plus(first[2], from_one[0]), _plus(second[2], _times(arb(-1), from_one[0]))
        return first, [[arb(0), *numbers] for numbers in second]

    def _backward(self, lists: tuple[Counts, Counts], steps: tuple[arb, arb, arb, arb]) -> tuple[Counts, Counts]:
        """W_k+1 from W_k."""
        self.allowance.look()
        (to_zero, shifted), (one, stay, zero, leave) = lists, steps
        to_one = [[arb(0), *numbers] for numbers in shifted]
        first = [_plus(_times(stay, u), _times(one, v)) for u, v in zip(to_zero, to_one, strict=True)]
        second = [_plus(_times(zero, u), _times(leave, v)) for u, v in zip(to_zero, to_one, strict=True)]
        change = _plus(to_one[0], _times(arb(-1), to_zero[0]))
        first[1], second[2] = _plus(first[1], change), _plus(second[2], _times(arb(-1), change))
        return first, second

    def _product(self, before: Counts, after: Counts) -> Counts:
        """p(x, .) = A * W, to so many counts as there are."""
        size, pairs = self.chain.size + 1, [(before[0], after[0])]
        found = [self._convolved(*pairs[0], size)]
        for one, other in zip(before[1:], after[1:], strict=True):
            found.append(_plus(self._convolved(one, after[0], size), self._convolved(before[0], other, size)))
        return found

    def _convolved(self, left: list[arb], right: list[arb], size: int) -> list[arb]:
        result = [arb(0)] * size
        for s, x in enumerate(left):
            self.allowance.look()
            if not x.is_zero():
                for t, z in enumerate(right[: size - s]):
                    result[s + t] += x * z
        return result


def _times(factor: arb, numbers: list[arb]) -> list[arb]:
    return [factor * x for x in numbers]


def _plus(left: list[arb], right: list[arb]) -> list[arb]:
    wide, short = (left, right) if len(left) >= len(right) else (right, left)
    return [x + z for x, z in zip(wide, short, strict=False)] + wide[len(short) :]


def _sums(numbers: list[arb], inputs: list[int]) -> dict[int, arb]:
    """What the numbers of counts add up to, by the channel's input."""
    found = dict[int, arb]()
    for x, k in zip(numbers, inputs, strict=True):
        found[k] = found[k] + x if k in found else x
    return found
