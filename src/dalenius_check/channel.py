"""The mechanism as a row-stochastic matrix: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import Any

from .arithmetic import arb, arb_mat, fmpq, is_rational
from .counts import Pairs, values
from .model import Model
from .numbers import enclosure, largest, need, total, xlogx

_MAX_ENTRIES = 1 << 24


class Channel:
    """Rows R(k, y) on `values`, the query's or whole datasets: exact rationals, or balls of positive numbers."""

    def __init__(self, rows: list[list[Any]], values: list[int], dataset: bool = False) -> None:
        self.rows, self.values, self.dataset = rows, values, dataset
        self.exact, self.outputs = is_rational(rows[0][0]), len(rows[0])

    @cached_property
    def matrix(self) -> arb_mat:
        """The rows as one matrix of balls."""
        return arb_mat([list(map(arb, row)) for row in self.rows] if self.exact else self.rows)

    @cached_property
    def negentropies(self) -> list[arb]:
        """The sum of R log R of each row."""
        return [sum((xlogx(arb(x)) for x in row), arb(0)) for row in self.rows]

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
        columns = zip(*(self.rows[k] for k in inputs), strict=True)
        if self.exact:
            return [(min(column), max(column)) for column in columns]
        return [enclosure(-largest([-x for x in column]), largest(column)) for column in columns]

    def divergences(self, law: list[fmpq], inputs: Iterable[int]) -> list[arb]:
        """D(R(k, .) || law) for each of these inputs, whose rows vanish where the law does."""
        column = arb_mat(self.outputs, 1, log_weights(law))
        costs = {k: (arb_mat([list(map(arb, self.rows[k]))]) * column).entries()[0] for k in inputs}
        same = {k for k in costs if self.exact and self.rows[k] == law}
        return [arb(0) if k in same else self.negentropies[k] - cost for k, cost in costs.items()]


class Record:
    """One record's channel: for letter a the inputs k with N(a, k) > 0 and the logarithms of these counts."""

    def __init__(self, channel: Channel, pairs: list[Pairs]) -> None:
        self.channel, self.pairs = channel, pairs
        self.inputs = [[k for k, _ in row] for row in pairs]
        logs = {
            id(n): arb(n).log() for n in {id(n): n for row in pairs for _, n in row}.values()
        }  # many share a number
        self.logs = [[logs[id(n)] for _, n in row] for row in pairs]
        self.everything = {k for inputs in self.inputs for k in inputs}


def log_weights(law: list[fmpq]) -> list[arb]:
    """The logarithms of a law, zero where it vanishes: there the channel vanishes too."""
    return [arb(q).log() if q else arb(0) for q in law]


def build(model: Model, resolved: dict[str, Any] | None = None) -> Channel | None:
    """The model's channel, or the resolved matrix; None for an unknown kind without one."""
    mechanism = resolved or model.mechanism
    kind, inputs = mechanism["kind"], values(model)
    if kind == "matrix":
        return _matrix(model, mechanism, inputs)
    if kind in ("symmetric", "randomized_response"):
        return Channel(_diagonal(mechanism, len(inputs)), inputs)
    if kind == "laplace_threshold":
        need(inputs == [0, 1], "laplace_threshold needs a query with the values 0, 1")
        flip = _power(mechanism["epsilon"] / 2) / 2
        return Channel([[1 - flip, flip], [flip, 1 - flip]], inputs)
    return Channel(_decaying(mechanism, inputs), inputs) if kind in ("geometric", "exponential") else None


def _power(exponent: fmpq) -> Any:
    """exp(-exponent): the rational 1 at zero, else a ball."""
    return fmpq(1) if exponent == 0 else arb(-exponent).exp()


def _need_entries(inputs: int, outputs: int) -> None:
    need(inputs * outputs <= _MAX_ENTRIES, f"the channel has more than {_MAX_ENTRIES} entries")


def _matrix(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    rows, dataset = mechanism["rows"], mechanism["inputs"] == "dataset"
    wanted = model.states() if dataset else len(inputs)
    need(wanted >= 0, "a matrix on datasets needs at most 65536 datasets")
    need(len(rows) == wanted, f"{len(rows)} rows where {wanted} are needed")
    _need_entries(len(rows), len(rows[0]))
    exact = [[x / weight for x in row] for row in rows for weight in [total(row)]]
    return Channel(exact, list(range(wanted)) if dataset else inputs, dataset)


def _diagonal(mechanism: dict[str, Any], size: int) -> list[list[Any]]:
    need(size >= 2 and mechanism["k"] in (None, size), f"mechanism.k must be {size}, one for each value, and >= 2")
    _need_entries(size, size)
    if mechanism["kind"] == "symmetric":
        keep, other = 1 - mechanism["flip"], mechanism["flip"] / (size - 1)
    else:
        decay = _power(mechanism["epsilon"])
        keep, other = 1 / (1 + (size - 1) * decay), decay / (1 + (size - 1) * decay)
    return [[keep if y == v else other for y in range(size)] for v in range(size)]


def _decaying(mechanism: dict[str, Any], inputs: list[int]) -> list[list[Any]]:
    low, high = mechanism["range"] or (inputs[0], inputs[-1])
    need(low < high, "mechanism.range needs two outputs: the query has one value only")
    need(low <= inputs[0] and inputs[-1] <= high, "mechanism.range must contain every value of the query")
    _need_entries(len(inputs), high - low + 1)
    geometric = mechanism["kind"] == "geometric"
    rate = mechanism["epsilon"] if geometric else mechanism["epsilon"] / (2 * mechanism["sensitivity"])
    decay = [_power(rate * d) for d in range(high - low + 1)]
    if geometric:
        ends = [x / (1 + decay[1]) for x in decay]
        inside = [-x * arb(-rate).expm1() for x in ends]
        return [[(ends if y in (low, high) else inside)[abs(y - v)] for y in range(low, high + 1)] for v in inputs]
    tails, rows = list(accumulate(decay)), []
    for v in inputs:
        weight = tails[v - low] + tails[high - v] - decay[0]
        rows.append([decay[abs(y - v)] / weight for y in range(low, high + 1)])
    return rows
