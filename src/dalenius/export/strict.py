"""Strict reading: bounded files, no unknown keys, no numbers that are none; every error names its place."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.files import MAX_PROOF, read_text
from dalenius.programs import StandardForm
from dalenius.strict_json import parse_object

__all__ = ["MAX_NUMBERS", "keys_of", "need_cones", "numbers_of", "read_file", "read_object", "text_of", "whole_of"]

MAX_NUMBERS = 2**24


def need_cones(form: StandardForm, what: str, kinds: Collection[str]) -> None:
    """Raise `InputError` for a kind of cone that a format has no exact form of, by name."""
    for part in form.rows:
        if part.size and part.cone not in kinds:
            raise InputError(
                f"{what}: {form.program} has a {part.cone} cone, and this format does not write it exactly; use json"
            )


def read_file(path: str | Path, what: str) -> str:
    """The text of a file of at most 256 MiB; `InputError` if it cannot be read, or is not UTF-8."""
    return read_text(path, what, at_most=MAX_PROOF)


def read_object(text: str) -> dict[str, Any]:
    """A JSON object whose numbers are doubles.

    Raises
    ------
    InputError
        As `parse_object`, and if a number is NaN or beyond doubles.

    >>> read_object('{"a": 1e999}')
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: expected numbers within the range of doubles, got '1e999'
    """
    return parse_object(text, number=_double)


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
