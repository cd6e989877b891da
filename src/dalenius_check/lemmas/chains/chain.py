"""Markov chains of binary records: what each of them teaches about itself, over a box of the chain's probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce

from ...core.allowance import BALL, CELL, limit, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.channel import Channel, build
from ...core.model import Model
from ...core.noise import noise_of
from ...core.numbers import need
from ..letter_chains.letters import AnyChain, LetterChain
from .spans import Span, added, nothing, span, taken

_MOST_WRITTEN = 1000
_MOST_ENTRIES = 1 << 22
_KNOWN = (
    "a Markov chain needs records of two letters, a count of the letter 1, a sum without weights, parity, modular_sum or "
    "threshold, and a known mechanism with rows for the query's values; of more than 1000 records one that is named, a count or "
    "sum, and geometric or discrete_laplace noise, its range, if any, from 0 to the number of records"
)
Counts = list[list[Span]]  # a list over counts of a probability, then one of each derivative


class Chain(AnyChain):
    """A model's chain: the box of its parameters, alpha and beta, and nu where the start is any; its query and its noise."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        held = model.held
        rests_on(self.allowance, "M1")
        self.mirrored = self.stationary  # mirror images of records reveal as much
        self.box = [tuple(held["to_one"]), tuple(held["to_zero"]), *([] if self.stationary else [(fmpq(0), fmpq(1))])]
        query, mechanism = model.query, model.mechanism
        plain = (query["kind"] != "count" or query["letters"] == [1]) and query.get("weights") is None
        known = query["kind"] in ("count", "sum", "parity", "modular_sum", "threshold") and plain
        letters = set(model.alphabets) == {2} and mechanism.get("inputs") != "dataset"
        need(known and letters and not model.foreign, _KNOWN)
        ends = mechanism.get("range")
        wide = ends is None or (ends[0] <= 0 and self.size <= ends[1])
        linear = query["kind"] in ("count", "sum")
        self.epsilon = noise_of(mechanism).epsilon
        self.unbounded = linear and self.epsilon is not None and wide
        self.written = self.size <= _MOST_WRITTEN
        need(self.written or (self.unbounded and held["record"] is not None), _KNOWN)
        need(self.unbounded or self.channel is not None, _KNOWN)

    @cached_property
    def channel(self) -> Channel | None:
        """Channel that some lines need written out; noise without an end is known to be without."""
        return build(self.model) if self.written else None

    @cached_property
    def lettered(self) -> LetterChain:
        """The same as a chain of letters, of which there are two."""
        written = self.channel is not None and bool(self.channel.rows)
        need(written, "nothing is written out for lines 'slope', 'expansion', 'path' without t")
        rows = [[list(ends) for ends in group] for group in pairs(self.box[:2])]
        return LetterChain(replace(self.model, held={**self.model.held, "transitions": rows}), self.channel)


class Slopes:
    """The derivatives of I(X_i;Y), for parameters that are anywhere in a box."""

    def __init__(self, chain: Chain, i: int) -> None:
        self.chain = chain
        self.i = i
        self.allowance = chain.allowance

    def over(self, box: Sequence[tuple[fmpq, fmpq]]) -> list[Span]:
        """Enclosures over a box of parameters; of which nothing is known where some mass may be 0."""
        channel, last = self.chain.lettered.channel, self.chain.size
        limit((last + 1) * channel.outputs <= _MOST_ENTRIES, f"more than {_MOST_ENTRIES} counts and outputs")
        self.allowance.room(32 * (last + 1) * BALL + len(channel.rows) * channel.outputs * CELL)
        joint = self._joint(box)
        laws = [[self._laws(channel, numbers) for numbers in counts] for counts in joint]
        shares = self._shares(box) or [reduce(Span.plus, counts[0]) for counts in joint]
        reached = [[self._reached(numbers) for numbers in counts] for counts in joint]
        result = [nothing() for _ in box]
        for y in range(channel.outputs):
            self.allowance.look()
            for x in (0, 1):
                gone = [channel.vanishes(y, inputs) for inputs in reached[x]]
                if gone[0]:
                    result = [value if none else _unknown() for value, none in zip(result, gone[1:], strict=True)]
                    continue
                mass, other = laws[x][0][y], laws[1 - x][0][y]
                log = Span(_log(mass.low, other.high, shares[x].high), _log(mass.high, other.low, shares[x].low))
                result = [value.plus(row[y].times(log)) for value, row in zip(result, laws[x][1:], strict=True)]
        return result

    def _reached(self, numbers: list[Span]) -> set[int]:
        """The channel's inputs of the counts whose numbers are not exactly 0."""
        return {self.chain.inputs[s] for s, x in enumerate(numbers) if not (x.low.is_zero() and x.high.is_zero())}

    def _laws(self, channel: Channel, numbers: list[Span]) -> list[Span]:
        """Probabilities of the outputs, from numbers of counts."""
        ends = [self.chain.by_input([x[end] for x in numbers]) for end in (0, 1)]
        return [Span(*pair) for pair in zip(*channel.mixed(ends), strict=True)]

    def _shares(self, box: Sequence[tuple[fmpq, fmpq]]) -> list[Span]:
        """pi_0 and pi_1 where they are nu's, as the start is stationary or this is the first record; else none."""
        if self.chain.stationary:
            (a, b), (c, d) = box
            return [span(c / (b + c), d / (a + d)), span(a / (a + d), b / (b + c))]
        return [span(1 - box[2][1], 1 - box[2][0]), span(*box[2])] if self.i == 0 else []

    def _joint(self, box: Sequence[tuple[fmpq, fmpq]]) -> tuple[Counts, Counts]:
        """p(0, .) and p(1, .), each with its derivatives."""
        one, zero = (span(*ends) for ends in box[:2])
        stay, leave = (span(1 - hi, 1 - lo) for lo, hi in box[:2])
        if self.chain.stationary:
            other, nu = self._shares(box)
            turn = [_turn(*box), nothing().less(_turn(*box[::-1]))]
        else:
            (a, b) = box[2]
            nu = span(a, b)
            other = span(1 - b, 1 - a)
            turn = [nothing(), nothing(), span(1, 1)]
        steps = (one, stay, zero, leave)
        flat = [[nothing()] for _ in box]
        sure = [span(1, 1)]
        before: tuple[Counts, Counts] = (
            [[other], *([nothing().less(x)] for x in turn)],
            [[nothing(), nu], *([nothing(), x] for x in turn)],
        )
        for _ in range(self.i):
            before = self._forward(before, steps)
        after: tuple[Counts, Counts] = [sure, *flat], [sure, *flat]
        for _ in range(self.chain.size - 1 - self.i):
            after = self._backward(after, steps)
        found = [self._product(*pair) for pair in zip(before, after, strict=True)]
        return found[0], found[1]

    def _forward(self, lists: tuple[Counts, Counts], steps: tuple[Span, Span, Span, Span]) -> tuple[Counts, Counts]:
        """A_k+1 from A_k."""
        self.allowance.look()
        (from_zero, from_one), (one, stay, zero, leave) = lists, steps
        pairs = list(zip(from_zero, from_one, strict=True))
        first = [added(_by(stay, u), _by(zero, v)) for u, v in pairs]
        second = [added(_by(one, u), _by(leave, v)) for u, v in pairs]
        first[1], second[1] = taken(first[1], from_zero[0]), added(second[1], from_zero[0])
        first[2], second[2] = added(first[2], from_one[0]), taken(second[2], from_one[0])
        return first, [[nothing(), *numbers] for numbers in second]

    def _backward(self, lists: tuple[Counts, Counts], steps: tuple[Span, Span, Span, Span]) -> tuple[Counts, Counts]:
        """W_k+1 from W_k."""
        self.allowance.look()
        (to_zero, shifted), (one, stay, zero, leave) = lists, steps
        to_one = [[nothing(), *numbers] for numbers in shifted]
        pairs = list(zip(to_zero, to_one, strict=True))
        first = [added(_by(stay, u), _by(one, v)) for u, v in pairs]
        second = [added(_by(zero, u), _by(leave, v)) for u, v in pairs]
        change = taken(to_one[0], to_zero[0])
        first[1], second[2] = added(first[1], change), taken(second[2], change)
        return first, second

    def _product(self, before: Counts, after: Counts) -> Counts:
        """p(x, .), of A and W, and its derivatives."""
        found = [self._convolved(before[0], after[0])]
        for one, other in zip(before[1:], after[1:], strict=True):
            found.append(added(self._convolved(one, after[0]), self._convolved(other, before[0])))
        return found

    def _convolved(self, numbers: list[Span], masses: list[Span]) -> list[Span]:
        """Sums of products with masses, which are not negative."""
        result = [nothing()] * (self.chain.size + 1)
        for s, mass in enumerate(masses):
            self.allowance.look()
            for t, x in enumerate(numbers[: len(result) - s] if not mass.high <= 0 else ()):
                result[s + t] = result[s + t].plus(x.by(mass))
        return result


def pairs(box: Sequence[tuple[fmpq, fmpq]]) -> list[list[tuple[fmpq, fmpq]]]:
    """The ranges of both letters' probabilities: after 0, after 1 and, where it is a parameter, at the start."""
    ranges = [[(1 - hi, 1 - lo), (lo, hi)] for lo, hi in box]
    ranges[1].reverse()
    return ranges


def _log(mass: arb, other: arb, share: arb) -> arb:
    """log(mass / (share (mass + other))); nothing is known where the mass, or the share, may be 0."""
    return -(share * (1 + other / mass)).log() if mass > 0 and share > 0 else arb("nan")


def _unknown() -> Span:
    """Of what nothing is known."""
    return Span(arb("nan"), arb("nan"))


def _turn(own: tuple[fmpq, fmpq], other: tuple[fmpq, fmpq]) -> Span:
    """Range of y/(x + y)^2: it falls in x, and rises in y as far as x."""

    def value(x: fmpq, y: fmpq) -> fmpq:
        return y / (x + y) ** 2

    (low, high), ends = own, [y for y in (own[0],) if other[0] <= y <= other[1]]
    return span(min(value(high, y) for y in other), max(value(low, y) for y in (*other, *ends)))


def _by(factor: Span, numbers: list[Span]) -> list[Span]:
    return [x.by(factor) for x in numbers]
