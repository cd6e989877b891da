"""Files: read with a bound on their size, written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dalenius.errors import InputError, brief

__all__ = ["MAX_INPUT", "MAX_PROOF", "csv_column", "read_bytes", "read_text", "write_whole"]

MAX_INPUT = 64 * 2**20  # bytes of what people write: models, data, mechanisms, tables
MAX_PROOF = 256 * 2**20  # bytes of what programs write: certificates, instances and their solutions


def read_bytes(path: str | Path, what: str, *, at_most: int = MAX_INPUT, plain: bool = False) -> bytes:
    """The bytes of a file; `what` names its kind in errors.

    Parameters
    ----------
    at_most : int
        Bytes it may have; no more than one byte beyond them is ever read.
    plain : bool
        Refuse pipes, devices and the like without opening them.

    Raises
    ------
    InputError
        If the file cannot be read, is not plain though it must be, or is too large; the message names it.
    """
    path = Path(path)
    try:
        if plain and path.exists() and not path.is_file():
            raise InputError(f"{path}: cannot be read: not a plain file")
        with path.open("rb") as file:
            data = file.read(at_most + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > at_most:
        raise InputError(f"{path}: {what} has at most {at_most} bytes")
    return data


def read_text(path: str | Path, what: str, *, at_most: int = MAX_INPUT, encoding: str = "utf-8") -> str:
    """The text of a file, as `read_bytes` reads it.

    Raises
    ------
    InputError
        Also if it is not in this encoding.
    """
    try:
        return read_bytes(path, what, at_most=at_most).decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not {what}: not in {encoding.upper()}: {error}") from None


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


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file so that nobody ever sees half of it.

    Raises
    ------
    InputError
        If it cannot be written; what was there before is then still there.
    """
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
