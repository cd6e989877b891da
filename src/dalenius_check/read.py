"""Strict reading of tables and lists, shared by the model and the certificate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from flint import fmpq

from .numbers import need, rational, total

MAX_FILE = 256 << 20
BIG = 10**9
REQUIRED: Any = object()
Reader = Callable[[Any, str], Any]
Schema = Mapping[str, tuple[Reader, Any]]


def table(value: Any, what: str, schema: Schema) -> dict[str, Any]:
    """A table's keys under a schema of (reader, default); a key unknown or missing is refused."""
    need(isinstance(value, dict), f"{what} must be a table")
    for key in value:
        need(key in schema, f"{what}: unknown key {key[:40]!a}")
    result = {}
    for key, (reader, default) in schema.items():
        need(key in value or default is not REQUIRED, f"{what}: the key {key!a} is missing")
        result[key] = reader(value[key], f"{what}.{key}") if key in value else default
    return result


def text(value: Any, what: str, options: Collection[str] = ()) -> str:
    """Any text, or one of these."""
    need(isinstance(value, str), f"{what} must be text")
    need(not options or value in options, f"{what} must be {' or '.join(map(repr, options))}")
    return str(value)


INPUTS = partial(text, options=["query", "dataset"])


def integer(value: Any, what: str, low: int = -BIG, high: int = BIG) -> int:
    """An integer in [low, high]."""
    need(type(value) is int and low <= value <= high, f"{what} must be an integer from {low} to {high}")
    return int(value)


def entries(value: Any, what: str, size: int | None = None) -> list[Any]:
    """A list, of exactly this many entries if a size is given."""
    fits = isinstance(value, list) and size in (None, len(value))
    need(fits, f"{what} must be a list" + ("" if size is None else f" of {size}"))
    return list(value)


def integers(value: Any, what: str) -> list[int]:
    """A list of integers of at most 10^9 in absolute value."""
    return [integer(x, what) for x in entries(value, what)]


def decimal(value: Any, what: str) -> fmpq:
    """An exact number written as a string."""
    need(isinstance(value, str), f"{what} must be a number written as a string")
    return rational(value)


def exact(value: Any, what: str) -> fmpq:
    """An exact number from an integer, a decimal or a string of a model file."""
    if isinstance(value, str):
        return rational(value)
    need(isinstance(value, fmpq) or (type(value) is int and abs(value) < 10**400), f"{what} must be a number")
    return fmpq(value)


def nonnegative(value: Any, what: str) -> fmpq:
    """A number >= 0 written as a string."""
    result = decimal(value, what)
    need(result >= 0, f"{what} must be nonnegative")
    return result


def number(value: Any, what: str, high: int | None = None, positive: bool = False) -> fmpq:
    """A model's number >= 0 (or > 0), at most `high`."""
    result = exact(value, what)
    need(result >= 0 and not (positive and result == 0), f"{what} must be {'positive' if positive else 'nonnegative'}")
    need(high is None or result <= high, f"{what} must be at most {high}")
    return result


def laws(value: Any, what: str, number: Reader = exact) -> list[list[fmpq]]:
    """Laws (the rows of a matrix, or priors) as written, not yet normalised."""
    result: list[list[fmpq]] = []
    for row in entries(value, what):
        result.append([number(x, what) for x in entries(row, what)])
        fits = len(result[-1]) == len(result[0]) >= 1 and all(x >= 0 for x in result[-1])
        need(fits, f"{what} must be lists of one length >= 1 of nonnegative numbers")
        off = abs(total(result[-1]) - 1)
        need(off <= fmpq(1, BIG), f"{what}: row {len(result) - 1} does not sum to 1 within 1e-9")
    return result


def normal(value: Any) -> Any:
    """Numbers as strings of reduced fractions; text, booleans and lists stay."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, dict):
        return {key: normal(item) for key, item in value.items()}
    return str(exact(value, "mechanism"))
