"""The certificate file: strict lines, header and numbers (docs/certificate-format.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from .model import MAX_FILE, Model
from .numbers import LimitError, RejectedError, UnreadableError, limit, rational, total
from .tables import matrix_rows

_MAX_LINE = 16 << 20
_MAX_LINES = 5_000_000
_MAX_INDEX = 10**9
_KEYS = {"format", "problem", "model", "lower", "upper", "unit", "producer"}
_FIXED = {"format": "dalenius-certificate/1", "problem": "maximal_leakage", "unit": "nats"}


def _refuse(text: str) -> Any:
    raise ValueError(f"{text[:40]!a} is not allowed as a JSON number")


def _index(text: str) -> int:
    return int(text) if len(text) <= 10 and text[0] != "-" and int(text) <= _MAX_INDEX else int(_refuse(text))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a key occurs twice")
    return result


_DECODER = json.JSONDecoder(
    parse_float=_refuse, parse_int=_index, parse_constant=_refuse, object_pairs_hook=_object, strict=True
)


@dataclass(frozen=True)
class Header:
    """Line 1: the claims, and the channel where the model's mechanism is unknown."""

    lower: fmpq
    upper: fmpq
    resolved: dict[str, Any] | None


class Lines:
    """The lines of a certificate one by one; every rejection names the line."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position, self.number = data, 0, 0
        if len(data) > MAX_FILE:
            raise RejectedError(f"the certificate is longer than {MAX_FILE} bytes")

    def reject(self, reason: str) -> RejectedError:
        """A rejection at the current line."""
        return RejectedError(f"certificate line {self.number}: {reason}")

    def more(self) -> bool:
        """Whether a line is left."""
        return self.position < len(self.data)

    def next(self, expected: str) -> Any:
        """The next line's JSON value."""
        self.number += 1
        if not self.more():
            raise self.reject(f"the file ends where {expected} is expected")
        limit(self.number <= _MAX_LINES, f"more than {_MAX_LINES} lines")
        end = self.data.find(b"\n", self.position)
        line = self.data[self.position : end if end >= 0 else len(self.data)]
        self.position = end + 1 if end >= 0 else len(self.data)
        if len(line) > _MAX_LINE:
            raise self.reject(f"longer than {_MAX_LINE} bytes")
        try:
            return _DECODER.decode(line.decode("ascii"))
        except UnicodeDecodeError:
            raise self.reject("not ASCII") from None
        except RecursionError:
            raise self.reject("nested too deeply") from None
        except ValueError as error:
            raise self.reject(f"not a JSON value under the rules ({ascii(str(error))[1:-1][:100]})") from None

    def item(self, expected: str, sizes: dict[str, int]) -> list[Any]:
        """The next line as a list whose first entry names it, of the size that name has."""
        value = self.next(expected)
        if not (isinstance(value, list) and value and isinstance(value[0], str) and value[0] in sizes):
            raise self.reject(f"{expected} is expected, one of {', '.join(sizes)}")
        if len(value) != sizes[value[0]]:
            raise self.reject(f"{value[0]!a} takes {sizes[value[0]] - 1} entries, not {len(value) - 1}")
        return value

    def index(self, value: Any, below: int, what: str) -> int:
        """An index smaller than `below`."""
        if type(value) is not int or value >= below:
            raise self.reject(f"{what} must be an index below {below}")
        return value

    def rational(self, value: Any, what: str) -> fmpq:
        """An exact number written as a string."""
        if not isinstance(value, str):
            raise self.reject(f"{what} must be a number written as a string")
        try:
            return rational(value)
        except ValueError as error:
            raise self.reject(f"{what}: {error}") from None

    def nonnegative(self, value: Any, what: str) -> fmpq:
        """A number >= 0."""
        result = self.rational(value, what)
        if result < 0:
            raise self.reject(f"{what} must not be negative")
        return result

    def entries(self, value: Any, size: int, what: str) -> list[Any]:
        """A list of exactly this many entries."""
        if not isinstance(value, list) or len(value) != size:
            raise self.reject(f"{what} must be a list of {size}")
        return value

    def hints(self, value: Any, size: int) -> list[fmpq] | None:
        """A list of numbers, or null for zeros."""
        return None if value is None else [self.rational(x, "nu") for x in self.entries(value, size, "nu")]

    def law(self, value: Any, size: int, what: str) -> list[fmpq]:
        """Nonnegative weights, normalised exactly."""
        weights = [self.nonnegative(x, what) for x in self.entries(value, size, what)]
        weight = total(weights)
        if weight == 0:
            raise self.reject(f"{what} has total weight zero")
        return [x / weight for x in weights]


def header(lines: Lines, model: Model, known: bool) -> Header:
    """Read line 1 against the user's model."""
    value = lines.next("the header")
    if not isinstance(value, dict):
        raise lines.reject("the header must be an object")
    for key, text in _FIXED.items():
        if value.get(key) != text:
            raise lines.reject(f"the header's {key!a} must be {text!a}")
    if not isinstance(value.get("producer"), str):
        raise lines.reject("the header's 'producer' must be text")
    if value.get("model") != model.digest:
        raise lines.reject(f"it is for another model: this model's digest is {model.digest}")
    keys = _KEYS if known else _KEYS | {"resolved"}
    if set(value) != keys:
        raise lines.reject(f"the header's keys differ from {sorted(keys)}: {ascii(sorted(set(value) ^ keys))[:100]}")
    resolved = None if known else _resolved(lines, value["resolved"])
    lower, upper = (lines.rational(value[key], key) for key in ("lower", "upper"))
    if lower > upper or upper < 0:
        raise lines.reject("the claim needs lower <= upper and 0 <= upper")
    return Header(lower, upper, resolved)


def _resolved(lines: Lines, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != {"inputs", "rows"}:
        raise lines.reject("'resolved' must have the keys inputs, rows")
    rows = value["rows"] if isinstance(value["rows"], list) else []
    if not all(isinstance(row, list) and all(isinstance(x, str) for x in row) for row in rows):
        raise lines.reject("'resolved' rows must be lists of numbers written as strings")
    try:
        return {"inputs": value["inputs"], "rows": matrix_rows(value["inputs"], rows, "resolved")}
    except LimitError:
        raise
    except UnreadableError as error:
        raise lines.reject(str(error)) from None
