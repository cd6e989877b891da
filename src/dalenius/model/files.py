"""Files that problems, mechanisms and data are read from: opened carefully, bounded in size, read strictly."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from dalenius.errors import InputError
from dalenius.exact import brief

__all__ = ["MAX_BYTES", "csv_column", "read_bytes", "read_json"]

MAX_BYTES = 64 * 2**20


def read_bytes(path: str | Path, what: str, *, plain: bool = False) -> bytes:
    """The bytes of a file; `what` names its kind in errors.

    Parameters
    ----------
    plain : bool
        Refuse pipes, devices and the like without opening them.

    Raises
    ------
    InputError
        If the file cannot be read, is not plain though it must be, or has more than 64 MiB.
    """
    path = Path(path)
    try:
        if plain and path.exists() and not path.is_file():
            raise InputError(f"{path}: cannot be read: not a plain file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}: {what} has at most {MAX_BYTES} bytes")
    return data


def read_json(path: str | Path, what: str) -> dict[str, Any]:
    """The object in a JSON file, read strictly: in UTF-8, no key twice, integers and texts but no other numbers.

    Raises
    ------
    InputError
        If the file cannot be read, has more than 64 MiB, or is anything else; the message names the file.
    """
    data = read_bytes(path, what)
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_float=_no_float, parse_constant=_no_float
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not {what}: not in UTF-8: {error}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: not {what}: no JSON: {error}") from None
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, lists within lists within lists
        raise InputError(f"{path}: not {what}: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: not {what}: expected a JSON object, got {brief(value)}")
    return value


def csv_column(path: str | Path, column: str | None, *, gaps: bool = True) -> Iterator[tuple[int, str]]:
    """The entries of a column of a csv file with names in its first line, each with the number of the line it ends on.

    Parameters
    ----------
    column : str or None
        A name in the first line; None for the only column there is.
    gaps : bool
        Whether empty lines between others are skipped or refused; at the end of the file they are always skipped.

    Raises
    ------
    InputError
        If the file is no plain file in UTF-8 of at most 64 MiB, has no such column, or a line cannot be read; the message names it.
    """
    try:
        text = read_bytes(path, "a csv file", plain=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not in UTF-8: {error}") from None
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    gap = 0
    try:
        names = next(lines, [])
        place = _place(names, column, path)
        for row in lines:
            if not row:
                gap = gap or lines.line_num
                continue
            if gap and not gaps:
                raise InputError(f"{path}: line {gap} is empty, and more lines follow; every line must hold a record")
            if len(row) != len(names):
                raise InputError(f"{path}: line {lines.line_num}: expected {len(names)} entries, got {len(row)}")
            yield lines.line_num, row[place]
    except csv.Error as error:
        raise InputError(f"{path}: line {lines.line_num}: {error}") from None


def _place(names: list[str], column: str | None, path: str | Path) -> int:
    """Where the column stands."""
    if column is None and len(names) == 1:
        return 0
    if column is None:
        raise InputError(
            f"{path}: line 1 names {len(names)} columns, not one: {brief(names)}; say which column to read"
        )
    if names.count(column) != 1:
        found = "more than one column" if column in names else "no column"
        raise InputError(f"{path}: line 1 names {found} {brief(column)}; it reads {brief(names)}")
    return names.index(column)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise InputError(f"the key {brief(key)} stands twice in one object")
        table[key] = value
    return table


def _no_float(text: str) -> NoReturn:
    raise InputError(f'the number {text[:60]} is not exact; write an integer, or a text such as "1/3" or "0.25"')
