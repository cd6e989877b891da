"""The mechanism as a row-stochastic matrix: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import accumulate, chain, islice
from typing import Any

from .allowance import BALL, CELL, NUMBER, POINTER, Allowance
from .arithmetic import arb, arb_mat, fmpq, is_rational
from .counts import Pairs, values
from .model import Model
from .numbers import enclosure, grouped, largest, need, normalised, once, xlogx

_MAX_ENTRIES = 1 << 24
_BLOCK = 1 << 16  # entries of the rows that are taken together
_FEW = 1024  # rows that are few enough to be taken all
_WIDTH = 256  # columns that are taken together
_MAX_KEPT = 1 << 22  # entries up to which the matrix of balls is kept


class Channel:
    """Rows R(k, y) on `values`, the query's or whole datasets: exact rationals, or balls of positive numbers.

    Entries that are one object are worked out once.
    """

    def __init__(self, rows: list[list[Any]], values: list[int], allowance: Allowance, dataset: bool = False) -> None:
        self.rows, self.values, self.dataset, self.allowance = rows, values, dataset, allowance
        self.exact, self.outputs = is_rational(rows[0][0]), len(rows[0])

    @property
    def blocks(self) -> Iterable[tuple[range, arb_mat]]:
        """The rows as matrices of balls, some inputs at a time; kept where they are not large."""
        return self._kept if _kept_size(len(self.rows) * self.outputs, self.allowance) else self._made()

    @cached_property
    def _kept(self) -> list[tuple[range, arb_mat]]:
        return list(self._made())

    def _made(self) -> Iterator[tuple[range, arb_mat]]:
        size = max(1, _BLOCK // self.outputs)
        for start in range(0, len(self.rows), size):
            inputs = range(start, min(start + size, len(self.rows)))
            yield inputs, self._matrix(inputs)

    def _matrix(self, inputs: Sequence[int]) -> arb_mat:
        self.allowance.look()
        return arb_mat(len(inputs), self.outputs, once((x for k in inputs for x in self.rows[k]), arb))

    def times(self, cells: list[arb], width: int) -> list[list[arb]]:
        """The sums of every row with each column of a matrix, which is listed by output, so wide."""
        if width > _WIDTH:
            half, places = width // 2, range(0, len(cells), width)
            left = [cell for place in places for cell in cells[place : place + half]]
            right = [cell for place in places for cell in cells[place + half : place + width]]
            return self.times(left, half) + self.times(right, width - half)
        matrix, sums = arb_mat(self.outputs, width, cells), list[arb]()
        for _, block in self.blocks:
            self.allowance.look()
            sums += (block * matrix).entries()
        return [sums[column::width] for column in range(width)]

    def mixed(self, masses: Sequence[dict[int, arb]]) -> list[list[arb]]:
        """For each choice of masses on the inputs the mixture of their rows."""
        result, zero = list[list[arb]](), arb(0)
        for some in (masses[start : start + _WIDTH] for start in range(0, len(masses), _WIDTH)):
            mixture, used = arb_mat(len(some), self.outputs), set(chain(*some))
            for inputs, block in self.blocks:
                self.allowance.look()
                if not used.isdisjoint(inputs):
                    dense = [row.get(k, zero) for row in some for k in inputs]
                    mixture += arb_mat(len(some), len(inputs), dense) * block
            cells = mixture.entries()
            result += [cells[j * self.outputs : (j + 1) * self.outputs] for j in range(len(some))]
        return result

    @cached_property
    def constant(self) -> bool:
        """Whether all rows are equal exactly."""
        return self.exact and all(row == self.rows[0] for row in self.rows)

    @cached_property
    def negentropies(self) -> list[arb]:
        """The sum of R log R of each row."""
        return [self._negentropy(row) for row in self.rows]

    def _negentropy(self, row: list[Any]) -> arb:
        self.allowance.look()
        return sum((times * xlogx(arb(x)) for x, times in grouped(row)), arb(0))

    @cached_property
    def classes(self) -> list[int]:
        """For each input the first one with the same row: exactly the same numbers, or, for balls, the same input."""
        first: dict[Any, int] = {}
        return [first.setdefault(tuple(row) if self.exact else k, k) for k, row in enumerate(self.rows)]

    def vanishes(self, y: int, inputs: Iterable[int]) -> bool:
        """Whether output y is exactly impossible on all these inputs (an epsilon mechanism has no zeros)."""
        return all(self.exact and self.rows[k][y] == 0 for k in inputs)

    def ranges(self, inputs: list[int]) -> list[tuple[fmpq, fmpq]]:
        """Outward rational enclosures of the smallest and largest entry of each column over these inputs."""
        columns = [[x for x, _ in grouped(column)] for column in zip(*(self.rows[k] for k in inputs), strict=True)]
        if self.exact:
            return [(min(column), max(column)) for column in columns]
        return [enclosure(-largest([-x for x in column]), largest(column)) for column in columns]

    def divergences(self, law: list[fmpq], inputs: Iterable[int]) -> dict[int, arb]:
        """D(R(k, .) || law) by these inputs, whose rows vanish where the law does."""
        column, used = arb_mat(self.outputs, 1, log_weights(law)), set(inputs)
        costs: dict[int, arb] = {}
        few = len(used) * 8 < len(self.rows) > _FEW  # then one by one
        for listed, block in (([k], self._matrix([k])) for k in used) if few else self.blocks:
            costs |= zip(listed, (block * column).entries(), strict=True)
        same = {k for k in used if self.exact and self.rows[k] == law}
        return {k: arb(0) if k in same else self.negentropies[k] - costs[k] for k in used}


class Record:
    """One record's channel: for letter a the inputs k with N(a, k) > 0 and the logarithms of these counts."""

    def __init__(self, channel: Channel, pairs: list[Pairs]) -> None:
        self.channel, self.pairs = channel, pairs
        self.inputs = [[k for k, _ in row] for row in pairs]
        logs = iter(once((n for row in pairs for _, n in row), lambda n: arb(n).log()))
        self.logs = [list(islice(logs, len(row))) for row in pairs]
        self.size = sum(map(len, pairs)) * BALL  # bytes of a ball for each pair
        self.everything = {k for inputs in self.inputs for k in inputs}
        self.exchanges = set[object]()  # of letters, which were found to leave the channel as it is

    def through(self, channel: Channel) -> Record:
        """The same record, released through another channel with the same inputs."""
        other = copy(self)
        other.channel, other.exchanges = channel, set()
        return other


def log_weights(law: list[fmpq]) -> list[arb]:
    """The logarithms of a law, zero where it vanishes: there the channel vanishes too."""
    return once(law, lambda q: arb(q).log() if q else arb(0))


def build(model: Model, resolved: dict[str, Any] | None = None) -> Channel | None:
    """The model's channel, or the resolved matrix; None for an unknown kind without one."""
    mechanism, allowance = resolved or model.mechanism, model.allowance
    kind, inputs = mechanism["kind"], values(model)
    if kind == "matrix":
        return _matrix(model, mechanism, inputs)
    if kind in ("symmetric", "randomized_response"):
        return Channel(_diagonal(mechanism, len(inputs), allowance), inputs, allowance)
    if kind == "laplace_threshold":
        need(inputs == [0, 1], "laplace_threshold needs a query with the values 0, 1")
        flip = _power(mechanism["epsilon"] / 2) / 2
        keep = 1 - flip
        return Channel([[keep, flip], [flip, keep]], inputs, allowance)
    decays = kind in ("geometric", "exponential")
    return Channel(_decaying(mechanism, inputs, allowance), inputs, allowance) if decays else None


def _power(exponent: fmpq) -> Any:
    """exp(-exponent): the rational 1 at zero, else a ball."""
    return fmpq(1) if exponent == 0 else arb(-exponent).exp()


def take_entries(inputs: int, outputs: int, allowance: Allowance, size: int) -> None:
    """Count the rows, of entries of so many bytes, and the matrices that are kept or made one after the other."""
    need(inputs * outputs <= _MAX_ENTRIES, f"the channel has more than {_MAX_ENTRIES} entries")
    entries = inputs * outputs
    allowance.take(entries * size + _kept_size(entries, allowance) + 3 * min(entries, _BLOCK) * BALL)


def _kept_size(entries: int, allowance: Allowance) -> int:
    """The bytes of the matrices of balls that are kept: none, where they are large for what is allowed."""
    return entries * CELL if entries <= _MAX_KEPT and 4 * entries * CELL <= allowance.memory * 2**20 else 0


def _matrix(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    rows, dataset = mechanism["rows"], mechanism["inputs"] == "dataset"
    wanted = model.states() if dataset else len(inputs)
    need(wanted >= 0, "a matrix on datasets needs at most 65536 datasets")
    need(len(rows) == wanted, f"{len(rows)} rows where {wanted} are needed")
    take_entries(len(rows), len(rows[0]), model.allowance, NUMBER)
    exact = [normalised(row, "a row", model.allowance) for row in rows]
    return Channel(exact, list(range(wanted)) if dataset else inputs, model.allowance, dataset)


def _diagonal(mechanism: dict[str, Any], size: int, allowance: Allowance) -> list[list[Any]]:
    need(size >= 2 and mechanism["k"] in (None, size), f"mechanism.k must be {size}, one for each value, and >= 2")
    take_entries(size, size, allowance, POINTER)
    if mechanism["kind"] == "symmetric":
        keep, other = 1 - mechanism["flip"], mechanism["flip"] / (size - 1)
    else:
        decay = _power(mechanism["epsilon"])
        keep, other = 1 / (1 + (size - 1) * decay), decay / (1 + (size - 1) * decay)
    return [[other] * v + [keep] + [other] * (size - v - 1) for v in range(size)]


def _decaying(mechanism: dict[str, Any], inputs: list[int], allowance: Allowance) -> list[list[Any]]:
    low, high = mechanism["range"] or (inputs[0], inputs[-1])
    need(low < high, "mechanism.range needs two outputs: the query has one value only")
    need(low <= inputs[0] and inputs[-1] <= high, "mechanism.range must contain every value of the query")
    geometric = mechanism["kind"] == "geometric"
    take_entries(len(inputs), high - low + 1, allowance, POINTER if geometric else NUMBER)
    rate = mechanism["epsilon"] if geometric else mechanism["epsilon"] / (2 * mechanism["sensitivity"])
    decay = [_power(rate * d) for d in range(high - low + 1)]
    if geometric:
        ends = [x / (1 + decay[1]) for x in decay]
        inside = [-x * arb(-rate).expm1() for x in ends]
        return [[(ends if y in (low, high) else inside)[abs(y - v)] for y in range(low, high + 1)] for v in inputs]
    tails, rows, shares = list(accumulate(decay)), [], dict[int, list[Any]]()
    for v in inputs:
        allowance.look()
        near, far = sorted((v - low, high - v))
        if near not in shares:  # of two mirrored inputs only one is worked out
            weight = tails[near] + tails[far] - decay[0]
            shares[near] = [x / weight for x in decay[: far + 1]]
        rows.append([shares[near][abs(y - v)] for y in range(low, high + 1)])
    return rows
