"""The texts of both files, counted before they are read: a parser of TOML takes far more than the text, gzip hides a file's size."""

from __future__ import annotations

import re
import tomllib
import zlib
from typing import Any

from .allowance import NUMBER, PAIR, Allowance
from .arithmetic import fmpq
from .numbers import RefusedError, need, rational
from .read import MAX_FILE

_MOST = 1000  # characters of a number or bare name
_KEYS, _TABLES = 10_000, 2000
_DEEPEST = 8
# Strings and comments, each to its end or, where it has none, to that of its line or of the text: then TOML does not go on either.
_OPAQUE = re.compile(
    r""""{3}[^"\\]*+(?:(?:\\.?|"(?!""))[^"\\]*+)*+(?:"{3,5}|\Z)|'{3}[^']*+(?:'(?!'')[^']*+)*+(?:'{3,5}|\Z)"""
    r"""|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
_DOTTED = re.compile(rf"[\w-](?:[ \t]*+\.[ \t]*+[\w-]++){{{_DEEPEST}}}")
_LONG = re.compile(rf"[\w+.:-]{{{_MOST + 1}}}")
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
        need(not _DOTTED.search(bare), f"the model has a key of more than {_DEEPEST} parts")
        need(not _LONG.search(bare), f"the model has a number or name of more than {_MOST} characters")
        return tomllib.loads(text, parse_float=number)
    except RecursionError:
        raise RefusedError("the model is nested too deeply") from None
    except ValueError as error:
        raise RefusedError(f"the model is not TOML: {ascii(str(error))[1:-1][:120]}") from None


_GZIP = b"\x1f\x8b"  # no line of JSON begins so
_PIECE = 1 << 18


def plain(data: bytes, allowance: Allowance) -> bytes:
    """What a certificate's file says: itself, or what it is the compressed form of, piece by piece within the limits."""
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
