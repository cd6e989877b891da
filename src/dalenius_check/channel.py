"""The mechanism as a row-stochastic matrix: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from flint import arb, arb_mat, fmpq

from .counts import values
from .model import Model
from .numbers import RejectedError, UnreadableError, enclosure, largest, limit, total, xlogx

_MAX_ENTRIES = 1 << 24


class Channel:
    """Rows R(k, y); `exact` tells whether the entries are rationals, otherwise they are balls of positive numbers."""

    def __init__(self, rows: list[list[Any]], exact: bool, dataset: bool, inputs: list[int], source: str) -> None:
        self.rows, self.exact, self.dataset, self.values, self.source = rows, exact, dataset, inputs, source
        self.outputs = len(rows[0])

    @cached_property
    def matrix(self) -> arb_mat:
        """The rows as one matrix of balls."""
        return arb_mat([list(map(arb, row)) for row in self.rows] if self.exact else self.rows)

    @cached_property
    def _negentropies(self) -> list[arb]:
        cache: dict[int, arb] = {}  # equal entries are often one object; the rows keep the objects alive
        result = []
        for row in self.rows:
            terms = arb(0)
            for x in row:
                term = cache.get(id(x))
                if term is None:
                    term = xlogx(arb(x))
                    if len(cache) < 100_000:
                        cache[id(x)] = term
                terms += term
            result.append(terms)
        return result

    def zero(self, k: int, y: int) -> bool:
        """Whether the entry is exactly zero (an epsilon mechanism has no zeros)."""
        return self.exact and self.rows[k][y] == 0

    def ranges(self, inputs: list[int]) -> list[tuple[fmpq, fmpq]]:
        """Outward rational enclosures of the smallest and largest entry of each column over these inputs."""
        columns = zip(*(self.rows[k] for k in inputs), strict=True)
        if self.exact:
            return [(min(column), max(column)) for column in columns]
        return [enclosure(-largest([-x for x in column]), largest(column)) for column in columns]

    def divergences(self, law: list[fmpq]) -> list[arb]:
        """D(R(k, .) || law) for each input k; meaningful where the row vanishes with the law."""
        logs = arb_mat(self.outputs, 1, [arb(q).log() if q else arb(0) for q in law])
        cross = (self.matrix * logs).entries()
        return [
            arb(0) if self.exact and self.rows[k] == law else self._negentropies[k] - cross[k]
            for k in range(len(self.rows))
        ]

    def check_law(self, law: list[fmpq], inputs: set[int], where: str) -> None:
        """Reject a law that vanishes where one of these inputs does not."""
        for y, q in enumerate(law):
            if not q and any(not self.zero(k, y) for k in inputs):
                raise RejectedError(f"{where}: the law is zero at output {y}, where the channel is not")


def build(model: Model, resolved: dict[str, Any] | None) -> Channel | None:
    """The model's channel; None for an unknown kind without a resolved matrix."""
    mechanism = model.mechanism if resolved is None else {"kind": "matrix", **resolved}
    kind, inputs = mechanism["kind"], values(model)
    if kind == "matrix":
        source = "exact rationals" if resolved is None else "TAKEN FROM THE CERTIFICATE (resolved matrix)"
        return _matrix(model, mechanism, inputs, source)
    if kind in ("symmetric", "randomized_response"):
        return _diagonal(mechanism, inputs)
    if kind == "laplace_threshold":
        if inputs != [0, 1]:
            raise UnreadableError("laplace_threshold needs a query with the values 0, 1")
        flip = _power(mechanism["epsilon"] / 2) / 2
        return _channel([[1 - flip, flip], [flip, 1 - flip]], inputs)
    if kind in ("geometric", "exponential"):
        return _decaying(mechanism, inputs)
    return None


def _power(exponent: fmpq) -> Any:
    """exp(-exponent): the rational 1 at zero, else a ball."""
    return fmpq(1) if exponent == 0 else arb(-exponent).exp()


def _channel(rows: list[list[Any]], inputs: list[int]) -> Channel:
    exact = isinstance(rows[0][0], fmpq)
    return Channel(rows, exact, False, inputs, "exact rationals" if exact else "enclosed by balls")


def _entries(inputs: int, outputs: int) -> None:
    if inputs * outputs > _MAX_ENTRIES:
        raise UnreadableError(f"the channel has more than {_MAX_ENTRIES} entries")


def _matrix(model: Model, mechanism: dict[str, Any], inputs: list[int], source: str) -> Channel:
    rows, dataset = mechanism["rows"], mechanism["inputs"] == "dataset"
    wanted = model.states() if dataset else len(inputs)
    if len(rows) != wanted:
        raise UnreadableError(
            f"rows has {len(rows)} rows where {wanted if wanted >= 0 else 'at most 65536'} are needed"
        )
    _entries(len(rows), len(rows[0]))
    normalised = []
    for row in rows:
        weight = total(row)
        normalised.append(row if weight == 1 else [x / weight for x in row])
    return Channel(normalised, True, dataset, inputs, source)


def _diagonal(mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    size = len(inputs)
    if size < 2 or mechanism["k"] not in (None, size):
        raise UnreadableError(f"mechanism.k must be the number of query values, {size}, and at least 2")
    _entries(size, size)
    if mechanism["kind"] == "symmetric":
        keep, other = 1 - mechanism["flip"], mechanism["flip"] / (size - 1)
    else:
        decay = _power(mechanism["epsilon"])
        keep, other = 1 / (1 + (size - 1) * decay), decay / (1 + (size - 1) * decay)
    return _channel([[keep if y == v else other for y in range(size)] for v in range(size)], inputs)


def _decaying(mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    low, high = mechanism["range"] or (inputs[0], inputs[-1])
    if low >= high:
        raise UnreadableError("mechanism.range needs two outputs: the query has one value only")
    if low > inputs[0] or high < inputs[-1]:
        raise UnreadableError("mechanism.range must contain every value of the query")
    _entries(len(inputs), high - low + 1)
    geometric = mechanism["kind"] == "geometric"
    rate = mechanism["epsilon"] if geometric else mechanism["epsilon"] / (2 * mechanism["sensitivity"])
    reach = max(high - inputs[0], inputs[-1] - low)
    limit(reach * rate < 1 << 60 and reach < 1 << 22, "the mechanism reaches too far")
    decay = [_power(rate * d) for d in range(reach + 1)] if rate else [fmpq(1)] * (reach + 1)
    if geometric:
        ends = [x / (1 + decay[1]) for x in decay]
        inside = [-x * arb(-rate).expm1() for x in ends]
        shape = [[(ends if y in (low, high) else inside)[abs(y - v)] for y in range(low, high + 1)] for v in inputs]
        return _channel(shape, inputs)
    tails = _sums(decay)
    rows = []
    for v in inputs:
        weight = tails[v - low] + tails[high - v] - decay[0]
        rows.append([decay[abs(y - v)] / weight for y in range(low, high + 1)])
    return _channel(rows, inputs)


def _sums(terms: list[Any]) -> list[Any]:
    result = [terms[0]]
    for term in terms[1:]:
        result.append(result[-1] + term)
    return result
