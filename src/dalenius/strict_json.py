"""JSON, read strictly and written in one way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dalenius.errors import InputError, brief


def parse_object(text: str, *, number: Callable[[str], Any]) -> dict[str, Any]:
    """A JSON object.

    Parameters
    ----------
    number : callable
        What a number with a point or an exponent means, and NaN or Infinity; it may refuse with `InputError`. Integers are integers.

    Raises
    ------
    InputError
        If it is something else, a key stands twice, a number is refused, or it nests too deep.

    >>> parse_object('{"a": 1, "a": 2}', number=float)
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: the key 'a' stands twice in one object
    """
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: no JSON: {error.msg}") from None
    except RecursionError:
        raise InputError("the JSON nests too deep") from None
    except InputError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise InputError(f"no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object, got {brief(value)}")
    return value


def object_text(members: Mapping[str, Any]) -> str:
    """A JSON object, a member a line; every double to its last bit.

    >>> print(object_text({"format": "x/1", "b": [0.5, 1]}))
    {"format": "x/1",
    "b": [0.5, 1]}
    """
    return "{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(x, allow_nan=False)}" for key, x in members.items()) + "}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"the key {brief(key)} stands twice in one object")
        found[key] = value
    return found
