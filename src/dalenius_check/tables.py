"""The tables of a model: strict fields, queries and mechanisms."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from .numbers import UnreadableError, rational, total

MAX_STATES = 65_536
REQUIRED: Any = object()
_BIG = 10**9


class Fields:
    """The keys of one table, taken one by one; a key left over or missing is refused."""

    def __init__(self, table: Any, name: str) -> None:
        if not isinstance(table, dict):
            raise UnreadableError(f"{name} must be a table")
        self.table, self.name = dict(table), name

    def take(self, key: str, default: Any = REQUIRED) -> Any:
        value = self.table.pop(key, default)
        if value is REQUIRED:
            raise UnreadableError(f"{self.name}: the key {key!a} is missing")
        return value

    def integer(self, key: str, low: int, high: int, default: Any = REQUIRED) -> Any:
        value = self.take(key, default)
        return value if value is None else integer(value, low, high, f"{self.name}.{key}")

    def number(self, key: str, low: int, high: int | None, default: Any = REQUIRED) -> fmpq:
        value = number(self.take(key, default), f"{self.name}.{key}")
        if value < low or (high is not None and value > high):
            raise UnreadableError(
                f"{self.name}.{key} must be at least {low}" + (f" and at most {high}" if high else "")
            )
        return value

    def done(self) -> None:
        if self.table:
            raise UnreadableError(f"{self.name}: unknown key {next(iter(self.table))!a}")


def integer(value: Any, low: int, high: int, what: str) -> int:
    """A TOML integer in [low, high]."""
    if type(value) is not int or not low <= value <= high:
        raise UnreadableError(f"{what} must be an integer from {low} to {high}")
    return value


def number(value: Any, what: str) -> fmpq:
    """An exact rational from an integer, a decimal or a string."""
    if type(value) is int and abs(value) < 10**400:
        return fmpq(value)
    if isinstance(value, str):
        try:
            return rational(value)
        except ValueError as error:
            raise UnreadableError(f"{what}: {error}") from None
    if not isinstance(value, fmpq):
        raise UnreadableError(f"{what} must be a number")
    return value


def sequence(value: Any, what: str) -> list[Any]:
    """A TOML list."""
    if not isinstance(value, list):
        raise UnreadableError(f"{what} must be a list")
    return value


def query_table(fields: Fields, alphabets: list[int]) -> dict[str, Any]:
    """The query's table with its defaults."""
    kind = fields.take("kind")
    query: dict[str, Any] = {"kind": kind}
    if kind == "modular_sum":
        query["modulus"] = fields.integer("modulus", 2, MAX_STATES)
    elif kind == "count":
        letters = sequence(fields.take("letters", [1]), "query.letters")
        query["letters"] = sorted(integer(letter, 0, _BIG, "query.letters") for letter in letters)
        if len(set(query["letters"])) < len(letters):
            raise UnreadableError("query.letters must be distinct")
        if len(alphabets) >= MAX_STATES:
            raise UnreadableError(f"the query has more than {MAX_STATES} values")
    elif kind == "sum":
        query["weights"] = _weights(fields.take("weights", None), alphabets)
    elif kind == "threshold":
        query["at"] = fields.integer("at", -_BIG, _BIG)
    elif kind == "table":
        query["values"] = [integer(v, -_BIG, _BIG, "query.values") for v in sequence(fields.take("values"), "values")]
    elif kind not in ("parity", "identity"):
        raise UnreadableError(f"query.kind {str(kind)[:40]!a} is unknown")
    fields.done()
    return query


def _weights(weights: Any, alphabets: list[int]) -> Any:
    if weights is None:
        return None
    if sequence(weights, "query.weights") and isinstance(weights[0], list):
        lists = [sequence(row, "query.weights") for row in weights]
        if [len(row) for row in lists] != alphabets:
            raise UnreadableError("query.weights must have one weight for each letter of each record")
        return [[integer(w, -_BIG, _BIG, "query.weights") for w in row] for row in lists]
    if len(weights) != max(alphabets):
        raise UnreadableError("query.weights must be as long as the largest alphabet")
    return [integer(w, -_BIG, _BIG, "query.weights") for w in weights]


def mechanism_table(fields: Fields) -> tuple[dict[str, Any], bool]:
    """The mechanism's table with defaults, and whether the query may be left out."""
    kind = fields.take("kind")
    if not isinstance(kind, str):
        raise UnreadableError("mechanism.kind must be text")
    table: dict[str, Any] = {"kind": kind}
    if kind == "matrix":
        table["inputs"] = fields.take("inputs", "query")
        table["rows"] = matrix_rows(table["inputs"], fields.take("rows"), "mechanism")
    elif kind in ("symmetric", "randomized_response"):
        name, high = ("flip", 1) if kind == "symmetric" else ("epsilon", 1000)
        table[name] = fields.number(name, 0, high)
        table["k"] = fields.integer("k", 2, MAX_STATES, None)
    elif kind in ("laplace_threshold", "geometric", "exponential"):
        table["epsilon"] = fields.number("epsilon", 0, 1000)
        if kind == "geometric" and table["epsilon"] == 0:
            raise UnreadableError("mechanism.epsilon must be positive")
        if kind != "laplace_threshold":
            table["range"] = _range(fields.take("range", None))
        if kind == "exponential":
            table["sensitivity"] = fields.number("sensitivity", 0, None, 1)
            if table["sensitivity"] == 0:
                raise UnreadableError("mechanism.sensitivity must be positive")
    else:
        return {**fields.table, **table}, True
    fields.done()
    return table, table.get("inputs") == "dataset"


def _range(value: Any) -> list[int] | None:
    if value is None:
        return None
    pair = [0, value] if type(value) is int else sequence(value, "mechanism.range")
    low, high = (integer(v, -_BIG, _BIG, "mechanism.range") for v in (pair if len(pair) == 2 else [None, None]))
    if low >= high:
        raise UnreadableError("mechanism.range must be [lo, hi] with lo < hi")
    return [low, high]


def matrix_rows(inputs: Any, rows: Any, where: str) -> list[list[fmpq]]:
    """Rows under the rules of the matrix kind, as written (not yet normalised)."""
    if inputs not in ("query", "dataset"):
        raise UnreadableError(f"{where}.inputs must be 'query' or 'dataset'")
    result = []
    for row in sequence(rows, f"{where}.rows"):
        result.append([number(x, f"{where}.rows") for x in sequence(row, f"{where}.rows")])
        if not result[-1] or len(result[-1]) != len(result[0]) or any(x < 0 for x in result[-1]):
            raise UnreadableError(f"{where}.rows must be lists of one length >= 1 of nonnegative numbers")
        if abs(total(result[-1]) - 1) > fmpq(1, _BIG):
            raise UnreadableError(f"{where}.rows: row {len(result) - 1} does not sum to 1 within 1e-9")
    return result
