"""The kinds of queries with their keys and defaults, and the tables of secrets (docs/model-format.md)."""

from __future__ import annotations

from typing import Any

from . import read
from .mechanism_kinds import MAX_STATES
from .numbers import need
from .read import REQUIRED, Schema, required

_MAX_SECRETS = 1000
QUERIES: dict[str, Schema] = {
    "parity": {},
    "modular_sum": {"modulus": required(read.integer, low=2, high=MAX_STATES)},
    "count": {"letters": (read.letters, [1])},
    "sum": {"weights": (read.weights, None)},
    "histogram": {},
    "threshold": {"at": required(read.integer)},
    "table": {"values": required(read.integers)},
    "identity": {},
}
_PLAIN = ("parity", "modular_sum", "count", "sum", "threshold")


def _queries(value: Any, what: str) -> list[dict[str, Any]]:
    tables = read.entries(value, what)
    need(2 <= len(tables) <= 8, f"{what} must be from 2 to 8 tables")
    return [read.known(item, f"{what} {j}", {kind: QUERIES[kind] for kind in _PLAIN}) for j, item in enumerate(tables)]


QUERIES["joint"] = {"queries": (_queries, REQUIRED)}
_NAMED = (read.letters, None)
_TOLD = {key: schema for key, schema in QUERIES.items() if key not in ("histogram", "joint")}
_TOLD["letters"] = {"records": _NAMED, "others": _NAMED, "groups": (read.groups, None)}


def _told(value: Any, what: str) -> list[dict[str, Any]]:
    """What is told together: queries, and letters of some records."""
    tables = value if isinstance(value, list) else [value]
    found = [read.known(item, what, _TOLD) for item in tables]
    for table in found:
        one = bool(table.get("records")) != bool(table.get("others"))
        need(one or table["kind"] != "letters", f"{what} must have either 'records' or 'others', not empty")
    return found


def _secret(value: Any, what: str) -> list[dict[str, Any]]:
    found = _told(value, what)
    need(len(found) > 0, f"{what} must be at least one table")
    return found


TOLD: Schema = {"of": (_secret, REQUIRED), "given": (_told, [])}


def secrets(value: Any, what: str) -> list[dict[str, Any]]:
    tables = read.entries(value, what)
    need(1 <= len(tables) <= _MAX_SECRETS, f"{what} must be from 1 to {_MAX_SECRETS} tables")
    return [read.table(item, f"{what} {j}", TOLD) for j, item in enumerate(tables)]
