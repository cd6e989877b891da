"""Columns of tables: entries that are there, and can be told from others."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np

from dalenius.errors import InputError

__all__ = ["by_size", "is_missing", "told_apart"]


def told_apart(entries: list[Any], what: str) -> list[Hashable]:
    """The entries, if equal ones are surely the same: Python takes True for 1, and cannot look up a list at all."""
    for entry in entries:
        try:
            hash(entry)
        except TypeError:
            raise InputError(f"{what}: expected texts, numbers or truth values, got a {type(entry).__name__}") from None
    truths = {entry for entry in entries if isinstance(entry, bool | np.bool_)}
    if truths and not truths.isdisjoint(entry for entry in entries if not isinstance(entry, bool | np.bool_)):
        raise InputError(
            f"{what}: expected truth values or numbers, got both (True and 1, or False and 0); write them alike"
        )
    return entries


def is_missing(entry: Any) -> bool:
    """None, NaN, or NaT or NA of pandas, which says of nothing whether it is equal."""
    try:
        return entry is None or bool(entry != entry)
    except TypeError:
        return True


def by_size(entry: Hashable) -> tuple[bool, float, str]:
    """The order of entries: numbers by their size, then all others by their texts.

    >>> sorted([10, "b", 9, "a"], key=by_size)
    [9, 10, 'a', 'b']
    """
    number = isinstance(entry, Real | np.bool_)
    return not number, float(entry) if number else 0.0, str(entry)  # type: ignore[arg-type]
