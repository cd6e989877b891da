"""Strict JSON: bounded files, no duplicate or unknown keys, no numbers that are none; every error names its place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import brief

__all__ = ["MAX_NUMBERS", "keys_of", "numbers_of", "read_object", "read_text", "text_of", "whole_of"]

MAX_BYTES = 256 * 2**20
MAX_NUMBERS = 2**24


def read_text(path: str | Path) -> str:
    """The text of a file of at most 256 MiB; `InputError` if it cannot be read, or is not UTF-8."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InputError(f"{path}: expected at most {MAX_BYTES} bytes")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def read_object(text: str) -> dict[str, Any]:
    """A JSON object.

    Raises
    ------
    InputError
        If it is something else, a key stands twice, a number is NaN or beyond doubles, or it nests too deep.

    >>> read_object('{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: the key 'a' stands twice
    """
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_double)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: no JSON: {error.msg}") from None
    except RecursionError:
        raise InputError("the JSON nests too deep") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"expected an object, got {brief(value)}")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"the key {brief(key)} stands twice")
        found[key] = value
    return found


def _no_number(text: str) -> float:
    raise InputError(f"expected finite numbers, got {text}")


def _double(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise InputError(f"expected numbers within the range of doubles, got {brief(text)}")
    return value


def keys_of(value: Any, what: str, needed: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Any]:
    """The object, which must have just these keys; `InputError` names the first that is missing or unknown."""
    if not isinstance(value, dict):
        raise InputError(f"{what}: expected an object, got {brief(value)}")
    for key in needed:
        if key not in value:
            raise InputError(f"{what}: missing {brief(key)}")
    for key in value:
        if key not in needed and key not in optional:
            raise InputError(f"{what}: unknown key {brief(key)}; expected {', '.join((*needed, *optional))}")
    return value


def text_of(value: Any, what: str) -> str:
    """A text of at most 1,000 characters."""
    if not isinstance(value, str) or len(value) > 1000:
        raise InputError(f"{what}: expected a text, got {brief(value)}")
    return value


def whole_of(value: Any, what: str, most: int = MAX_NUMBERS) -> int:
    """An integer from 0 to `most`.

    >>> whole_of(True, "shape")
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: shape: expected an integer from 0 to 16777216, got True
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise InputError(f"{what}: expected an integer from 0 to {most}, got {brief(value)}")
    return value


def numbers_of(value: Any, what: str, length: int | None = None) -> NDArray[np.float64]:
    """A list of numbers as doubles, of a known length.

    >>> numbers_of([0.5, 1], "b", 2).tolist()
    [0.5, 1.0]
    """
    if not isinstance(value, list):
        raise InputError(f"{what}: expected a list of numbers, got {brief(value)}")
    if length is not None and len(value) != length:
        raise InputError(f"{what}: expected {length} numbers, got {len(value)}")
    for j, entry in enumerate(value):
        if isinstance(entry, bool) or not isinstance(entry, int | float):
            raise InputError(f"{what}[{j}]: expected a number, got {brief(entry)}")
    try:
        return np.array(value, dtype=np.float64)
    except OverflowError:
        raise InputError(f"{what}: expected numbers within the range of doubles") from None
