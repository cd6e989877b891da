"""The tables of adversaries who know Markov chains (docs/model-format.md)."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import read
from .arithmetic import fmpq
from .numbers import need, total
from .read import REQUIRED, Schema

_MOST_LETTERS = 16
Range = list[fmpq]


def _chances(value: Any, what: str) -> Range:
    """The least and the largest of a probability that is neither 0 nor 1."""
    low, high = (read.exact(x, what) for x in read.entries(value, what, 2))
    need(0 < low <= high < 1, f"{what} must be [a, b] with 0 < a <= b < 1")
    return [low, high]


def _law(value: Any, what: str, size: int | None = None) -> list[Range]:
    """The ranges of the probabilities of letters, of which some sum is 1."""
    pairs = [x if isinstance(x, list) else [x, x] for x in read.entries(value, what, size)]
    found = [[read.exact(x, what) for x in read.entries(pair, f"an entry of {what}", 2)] for pair in pairs]
    need(all(0 <= lo <= hi <= 1 for lo, hi in found), f"{what} must have numbers, or [lo, hi], with 0 <= lo <= hi <= 1")
    fits = total(lo for lo, _ in found) <= 1 <= total(hi for _, hi in found)
    need(fits, f"{what} must have lows whose sum is at most 1, and highs whose sum is at least 1")
    return found


def _transitions(value: Any, what: str) -> list[list[Range]]:
    rows = read.entries(value, what)
    need(2 <= len(rows) <= _MOST_LETTERS, f"{what} must have from 2 to {_MOST_LETTERS} rows")
    return [_law(row, f"row {a} of {what}", len(rows)) for a, row in enumerate(rows)]


def _start(value: Any, what: str) -> Any:
    return _law(value, what) if isinstance(value, list) else read.text(value, what, ["stationary", "any"])


_RECORD = (partial(read.integer, low=0), None)
CHAINS: dict[str, Schema] = {
    "markov_chain": {
        **dict.fromkeys(("to_one", "to_zero"), (_chances, REQUIRED)),
        "start": (partial(read.text, options=["stationary", "any"]), "stationary"),
        "record": _RECORD,
    },
    "finite_chain": {
        "transitions": (_transitions, REQUIRED),
        "start": (_start, "stationary"),
        "record": _RECORD,
    },
}
