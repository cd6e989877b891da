"""Texts, tables and lists, read strictly: what the model and the certificate share."""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from .allowance import NUMBER, PAIR, Allowance
from .arithmetic import fmpq, is_rational
from .numbers import RefusedError, grouped, need, normalised, once, rational, total

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
    if not (type(value) is int and low <= value <= high):
        raise RefusedError(f"{what} must be an integer from {low} to {high}")
    return value


def entries(value: Any, what: str, size: int | None = None) -> list[Any]:
    """A list, of exactly this many entries if a size is given."""
    if not (isinstance(value, list) and size in (None, len(value))):
        raise RefusedError(f"{what} must be a list" + ("" if size is None else f" of {size}"))
    return value


def integers(value: Any, what: str) -> list[int]:
    """A list of integers of at most 10^9 in absolute value."""
    return [integer(x, what) for x in entries(value, what)]


def decimal(value: Any, what: str) -> fmpq:
    """An exact number written as a string."""
    if not isinstance(value, str):
        raise RefusedError(f"{what} must be a number written as a string")
    return rational(value, what)


def exact(value: Any, what: str) -> fmpq:
    """An exact number from an integer, a decimal or a string of a model file."""
    if isinstance(value, str):
        return rational(value, what)
    if is_rational(value):
        return value
    need(type(value) is int and abs(value) < 10**400, f"{what} must be a number")
    return fmpq(value)


def nonnegative(value: Any, what: str) -> fmpq:
    """A number >= 0 written as a string."""
    result = decimal(value, what)
    need(result >= 0, f"{what} must be nonnegative")
    return result


def positive(value: Any, what: str) -> fmpq:
    """A number > 0 written as a string."""
    result = decimal(value, what)
    need(result > 0, f"{what} must be positive")
    return result


def number(value: Any, what: str, high: int | None = None, positive: bool = False) -> fmpq:
    """A model's number >= 0 (or > 0), at most `high`."""
    result = exact(value, what)
    need(result >= 0 and not (positive and result == 0), f"{what} must be {'positive' if positive else 'nonnegative'}")
    need(high is None or result <= high, f"{what} must be at most {high}")
    return result


def amount(value: Any, what: str, units: str, number: Reader = exact) -> tuple[fmpq, str]:
    """A number of nats, or text of a number, one blank and a unit."""
    match = re.fullmatch(rf"(\S+) ({units})", value) if isinstance(value, str) else None
    return number(match[1] if match else value, what), match[2] if match else "nats"


def epsilon(value: Any, what: str) -> tuple[fmpq, str]:
    """At most 1000 nats or bits, or the number q > 0 of the text "log q"."""
    match = re.fullmatch(r"log (\S+)", value) if isinstance(value, str) else None
    if match:
        return number(match[1], what, positive=True), "log"
    result = amount(value, what, "nats|bits")
    need(result[0] <= 1000, f"{what} must be at most 1000 nats or bits")
    return result


def level(value: Any, what: str) -> tuple[fmpq, str]:
    """An epsilon that is not negative."""
    found, unit = epsilon(value, what)
    need(found >= (unit == "log"), f"{what} must not be negative")
    return found, unit


def alike(values: list[Any], reader: Callable[[Any], fmpq], known: dict[Any, fmpq]) -> list[fmpq]:
    """The numbers of a list; those written alike are one object (of what is no text, one object is written once)."""
    keys = [x if isinstance(x, str) else id(x) for x in values]
    for name, x in zip(keys, values, strict=True):
        if name not in known:
            known[name] = reader(x)
    return [known[name] for name in keys]


def matrix(value: Any, what: str, number: Reader = exact) -> list[list[fmpq]]:
    """Lists of nonnegative numbers, of one length >= 1."""
    known: dict[Any, fmpq] = {}
    result = [alike(entries(row, what), lambda x: number(x, what), known) for row in entries(value, what)]
    fits = all(len(row) == len(result[0]) >= 1 for row in result) and all(x >= 0 for x in known.values())
    need(fits, f"{what} must be lists of one length >= 1 of nonnegative numbers")
    return result


def law_of(value: Any, size: int, what: str, allowance: Allowance) -> list[fmpq]:
    """So many nonnegative weights, normalised exactly."""
    weights = alike(entries(value, what, size), lambda x: nonnegative(x, what), {})
    return normalised(weights, what, allowance)


def laws(value: Any, what: str, number: Reader = exact) -> list[list[fmpq]]:
    """Laws (the rows of a channel, or priors) as written, not yet normalised."""
    rows = matrix(value, what, number)
    for j, row in enumerate(rows):
        need_law(row, f"{what}: row {j}")
    return rows


def need_law(numbers: Iterable[fmpq], what: str) -> None:
    """Refuse numbers that do not add up to 1, to nine digits: what is written may be rounded."""
    whole = total(times * x for x, times in grouped(list(numbers)))
    need(abs(whole - 1) <= fmpq(1, BIG), f"{what} does not sum to 1 within 1e-9")


def numbers(value: Any, what: str) -> list[fmpq]:
    """A list of exact numbers of any sign."""
    return [exact(x, what) for x in entries(value, what)]


def row(value: Any, what: str) -> list[fmpq]:
    """One list of nonnegative numbers."""
    return matrix([value], what)[0]


def probabilities(value: Any, what: str) -> list[fmpq]:
    """One law, as it is written."""
    return laws([value], what)[0]


def priors(value: Any, what: str) -> list[list[fmpq]]:
    """At least one law, as they are written."""
    rows = laws(value, what)
    need(0 < sum(map(len, rows)) <= 1 << 22, f"{what} must be at least one list, of at most 2^22 numbers altogether")
    return rows


def normal(value: Any) -> Any:
    """Numbers as strings of reduced fractions, with their unit if they have one; text, booleans and lists stay."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, list):
        return once(value, normal)
    if isinstance(value, dict):
        return {key: normal(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return f"log {value[0]}" if value[1] == "log" else f"{value[0]} {value[1]}"
    return str(exact(value, "mechanism"))


def letters(value: Any, what: str) -> list[int]:
    """Distinct letters, ascending."""
    result = sorted(integer(x, what, 0) for x in entries(value, what))
    need(len(set(result)) == len(result), f"{what} must be distinct")
    return result


def groups(value: Any, what: str) -> list[list[int]]:
    """At least one list of distinct indices, none empty."""
    result = [[integer(x, what, 0) for x in entries(group, f"a group of {what}")] for group in entries(value, what)]
    fits = len(result) > 0 and all(0 < len(group) == len(set(group)) for group in result)
    need(fits, f"{what} must be at least one list of distinct inputs, none empty")
    return result


def weights(value: Any, what: str) -> list[Any]:
    """Integers for the letters, or a list of them for each record."""
    rows = entries(value, what)
    if rows and isinstance(rows[0], list):
        return [integers(row, what) for row in rows]
    return integers(rows, what)


def span(value: Any, what: str) -> list[int]:
    """The range [lo, hi], or [0, hi] from an integer."""
    low, high = integers(entries([0, value] if type(value) is int else value, what, 2), what)
    need(low < high, f"{what} must be [lo, hi] with lo < hi")
    return [low, high]


def required(reader: Any, **options: Any) -> tuple[Any, Any]:
    """A key that may not be missing."""
    return partial(reader, **options), REQUIRED


def variant(value: Any, what: str, kinds: dict[str, Schema]) -> dict[str, Any]:
    """A table under its kind's schema; the table of an unknown kind as it is."""
    need(isinstance(value, dict), f"{what} must be a table")
    kind = text(value.get("kind"), f"{what}.kind")
    return table(value, what, {"kind": (text, REQUIRED), **kinds[kind]}) if kind in kinds else value


def known(value: Any, what: str, kinds: dict[str, Schema], otherwise: str = "") -> dict[str, Any]:
    """A table of one of these kinds; `otherwise` is what it may have instead."""
    result = variant(value, what, kinds)
    elsewhere = (
        "is not read from a table here; check NAME.design.toml beside the certificate, which states what was proved"
    )
    need(result["kind"] != "csv", f"{what} {elsewhere}")
    need(result["kind"] in kinds, f"{what}.kind must be {' or '.join(map(repr, kinds))}{otherwise}")
    return result


_LONGEST = 1000  # characters of a number or bare name
_KEYS, _TABLES = 10_000, 2000
_DEEPEST_KEY = 8
# Strings and comments, each to its end or, where it has none, to that of its line or of the text: then TOML does not go on either.
_OPAQUE = re.compile(
    r""""{3}[^"\\]*+(?:(?:\\.?|"(?!""))[^"\\]*+)*+(?:"{3,5}|\Z)|'{3}[^']*+(?:'(?!'')[^']*+)*+(?:'{3,5}|\Z)"""
    r"""|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
_DOTTED = re.compile(rf"[\w-](?:[ \t]*+\.[ \t]*+[\w-]++){{{_DEEPEST_KEY}}}")
_LONG = re.compile(rf"[\w+.:-]{{{_LONGEST + 1}}}")
_TABLE = re.compile(r"^[ \t]*+\[[^\],\n]*\]\]?[ \t]*+s?\r?$", re.MULTILINE)


def parse_toml(data: bytes, allowance: Allowance) -> Any:
    """The tables of a file, or a one-line reason to refuse it.

    Refused before parsing are more keys, tables, parts of a key and characters of a number than any model needs.
    """
    need(len(data) <= MAX_FILE, f"the model is longer than {MAX_FILE} bytes")
    allowance.soon(len(data) / 1e7 + data.count(b",") / 1e6)
    allowance.take(8 * len(data) + 2 * NUMBER * data.count(b",") + PAIR * data.count(b"["))
    once: dict[str, fmpq] = {}

    def number(text: str) -> fmpq:
        if text not in once:
            once[text] = rational(text.replace("_", "").lower().removeprefix("+").replace("e+", "e"))
        return once[text]

    try:
        text = data.decode("utf-8")
        bare = _OPAQUE.sub("s", text)
        need(bare.count("=") <= _KEYS, f"the model has more than {_KEYS} keys")
        need(sum(1 for _ in _TABLE.finditer(bare)) <= _TABLES, f"the model has more than {_TABLES} tables")
        need(not _DOTTED.search(bare), f"the model has a key of more than {_DEEPEST_KEY} parts")
        need(not _LONG.search(bare), f"the model has a number or name of more than {_LONGEST} characters")
        return tomllib.loads(text, parse_float=number)
    except RecursionError:
        raise RefusedError("the model is nested too deeply") from None
    except ValueError as error:
        raise RefusedError(f"the model is not TOML: {ascii(str(error))[1:-1][:120]}") from None


_GZIP = b"\x1f\x8b"  # no line of JSON begins so
_PIECE = 1 << 18


def plain(data: bytes, allowance: Allowance) -> bytes:
    """Content of a certificate's file: itself or decompressed, piece by piece within the limits."""
    if not data.startswith(_GZIP):
        return data
    stream = zlib.decompressobj(wbits=31)
    found = bytearray()
    start = 0
    while not stream.eof:
        allowance.look()
        allowance.room(2 * (len(found) + _PIECE))
        given = stream.unconsumed_tail or data[start : start + _PIECE]
        start += 0 if stream.unconsumed_tail else len(given)
        try:
            made = stream.decompress(given, _PIECE)
        except zlib.error as error:
            raise RefusedError(f"not what gzip writes ({error})") from None
        need(bool(given or made) or stream.eof, "the compressed data end too early")
        found += made
        need(max(len(data), len(found)) <= MAX_FILE, f"the certificate is longer than {MAX_FILE} bytes")
    need(start >= len(data) and not stream.unused_data, "something stands after the compressed data")
    allowance.take(len(found))
    return bytes(found)
