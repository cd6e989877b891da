"""Files: read with a bound on their size, written whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dalenius.errors import InputError, brief, hint

MAX_INPUT = 64 * 2**20  # bytes of what people write: models, data, mechanisms, tables
MAX_PROOF = 256 * 2**20  # bytes of what programs write: certificates, instances and their solutions
LONGEST_NAME = 1000  # characters of a path that a message repeats: what is longer is no path
PACKED = b"\x1f\x8b"  # how a file begins that gzip wrote, and no text
LEFTOVER = ".dalenius-", ".tmp"  # how the name of a temporary file begins and ends


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
        name = str(path)
        name = brief(name) if len(name) > LONGEST_NAME or "\n" in name else name
        raise InputError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > at_most:
        raise InputError(f"{path}: {what} has at most {at_most} bytes")
    return data


def packed(text: str, level: int = 9) -> bytes:
    """A text compressed by gzip, quickly (1) to well (9): the same bytes whenever it is done.

    >>> len(packed("1" * 1000)) < 100
    True
    """
    return gzip.compress(text.encode(), level, mtime=0)


def _unpacked(path: str | Path, data: bytes, what: str, at_most: int) -> bytes:
    """Data of one member of gzip, at most so many bytes."""
    stream = zlib.decompressobj(wbits=31)
    try:
        text = stream.decompress(data, at_most + 1)
    except zlib.error as error:
        raise InputError(f"{path}: not {what}: it begins as what gzip writes, but is not that ({error})") from None
    if len(text) > at_most:
        raise InputError(f"{path}: {what} has at most {at_most} bytes, also when it is no longer compressed")
    if not stream.eof:
        raise InputError(f"{path}: not {what}: the compressed data end too early; fetch the whole file")
    if stream.unused_data:
        raise InputError(f"{path}: not {what}: something stands after the compressed data")
    return text


def read_text(
    path: str | Path, what: str, *, at_most: int = MAX_INPUT, encoding: str = "utf-8", maybe_packed: bool = False
) -> str:
    """The text of a file, as `read_bytes` reads it.

    Parameters
    ----------
    maybe_packed : bool
        A file that gzip wrote, of one member, stands for the text that it is the compressed form of; `at_most` holds for both.

    Raises
    ------
    InputError
        Also if it is not in this encoding, or compressed data are damaged, cut short or followed by anything.
    """
    data = read_bytes(path, what, at_most=at_most)
    if maybe_packed and data.startswith(PACKED):
        data = _unpacked(path, data, what, at_most)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not {what}: not in {encoding.upper()}: {error}") from None


def csv_column(
    path: str | Path, column: str | None, *, gaps: bool = True, entries: Collection[str] = (), joint: str = ""
) -> Iterator[tuple[int, str]]:
    """The entries of a column of a csv file with names in its first line, each with the number of the line it ends on.

    Parameters
    ----------
    column : str or None
        A name in the first line; None for the only column there is.
    gaps : bool
        Whether empty lines between others are skipped or refused; at the end of the file they are always skipped.
    entries : collection of str, optional
        What the column may hold: a column with such a name is a file without names.
    joint : str, optional
        A comma and what else stands between the entries of several columns, whose names `column` has with commas; where a column has
        that name as a whole, it is that one.

    Raises
    ------
    InputError
        If the file is no plain file in UTF-8 of at most 64 MiB, has no such column, or a line cannot be read. The message names file
        and line, and repeats nothing that stands there: it may be data about people, in line 1 too if the names are missing.
    """
    data = read_bytes(path, "a csv file", plain=True)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise InputError(f"{path}: line {line} is not in UTF-8") from None
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    gap = 0
    try:
        names = next(lines, [])
        several = joint and column is not None and column not in names and joint.strip() in column
        parts = [part.strip() for part in column.split(joint.strip())] if several and column else [column]
        places = [_place(names, part, path) for part in parts]
        if joint.join(names[place].strip() for place in places) in entries:
            raise InputError(
                f"{path}: line 1 holds an entry (not shown) where a column's name is expected; put the names above it"
            )
        for row in lines:
            if not row:
                gap = gap or lines.line_num
                continue
            if gap and not gaps:
                raise InputError(f"{path}: line {gap} is empty, and more lines follow; every line must hold a record")
            if len(row) != len(names):
                raise InputError(f"{path}: line {lines.line_num}: expected {len(names)} entries, got {len(row)}")
            yield lines.line_num, joint.join(row[place].strip() for place in places) if several else row[places[0]]
    except csv.Error as error:
        raise InputError(f"{path}: line {lines.line_num}: {error}") from None


def _place(names: list[str], column: str | None, path: str | Path) -> int:
    """Place of the column."""
    if column is None and len(names) == 1:
        return 0
    if column is None:
        raise InputError(f"{path}: line 1 names {len(names)} columns, not one; say which column to read")
    if names.count(column) != 1:
        found = "more than one column" if column in names else "no column"
        apart = next((sign for sign in ";\t" if len(names) == 1 and sign in names[0]), "")
        meant = f"; columns are separated by commas here, not by {apart!r}" if apart else hint(column, names)
        raise InputError(
            f"{path}: line 1 names {found} {brief(column)} among its {len(names)}{meant}; it must hold the names of the columns"
        )
    return names.index(column)


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write a file, text in UTF-8, so that nobody ever sees half of it.

    Raises
    ------
    InputError
        If it cannot be written; what was there before is then still there.
    """
    write_together({Path(path): content})
    return Path(path)


def write_together(contents: Mapping[Path, str | bytes], *, without: Iterable[Path] = ()) -> None:
    """Write files that belong together, each whole, and remove others; nothing is touched before all of them are on the disk.

    Parameters
    ----------
    contents : mapping of path -> text or bytes
        Put into place in this order.
    without : iterable of paths
        Files that are removed, where they are there, just before.

    Raises
    ------
    InputError
        If one cannot be written or removed; the message names it.
    """
    staged = dict[Path, str]()
    path = Path()
    try:
        for path, content in contents.items():
            staged[path] = _staged(path, content)
        for path in without:
            path.unlink(missing_ok=True)
        for path, content in contents.items():
            try:
                os.replace(staged[path], path)
            except FileNotFoundError:  # another process took it for a leftover
                staged[path] = _staged(path, content)
                os.replace(staged[path], path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        for temporary in staged.values():
            Path(temporary).unlink(missing_ok=True)


def _staged(path: Path, content: str | bytes) -> str:
    """A temporary file with this content beside the path, safe on the disk."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=LEFTOVER[0], suffix=LEFTOVER[1])
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return temporary


def make_folder(folder: Path) -> None:
    """The folder, and those above it: `InputError` where that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made a folder: {error.strerror or error}") from None


def write_all(contents: Mapping[Path, str | bytes], folder: Path) -> None:
    """Write files that belong together into a folder, which is made for them."""
    need_places(contents)
    make_folder(folder)
    write_together(contents)


def need_folder(folder: Path, *, make: bool = False) -> None:
    """The folder is tried, and if need be made for that: `InputError` unless a file can be written into it.

    What was made goes again: whoever writes there makes it anew, and who has nothing to write leaves nothing.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()] if make else []
    try:
        if make:
            make_folder(folder)
        _need_writable(folder)
    finally:
        for each in missing:
            with suppress(OSError):  # another process writes there already
                each.rmdir()


def _need_writable(folder: Path) -> None:
    try:
        staged = _staged(folder / "any", "")
    except OSError as error:
        if isinstance(error, FileNotFoundError) and folder.is_dir():
            return  # it was made, and a process that tidied was quicker
        raise InputError(f"{folder}: cannot be written into: {error.strerror or error}") from None
    with suppress(FileNotFoundError):
        os.unlink(staged)


def need_places(paths: Iterable[Path]) -> None:
    """Files that will be written, or removed: `InputError` where something is in the way that no file can replace."""
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path}: cannot be written: it is a folder; move it, or name another place")


def tidy(folder: Path) -> None:
    """Remove what processes that were killed left behind; a process that still writes, alone or not, does it again."""
    for leftover in folder.glob("*".join(LEFTOVER)):
        leftover.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path, what: str = "", *, wait: float = math.inf) -> Iterator[None]:
    """No other process is alone in the folder meanwhile; what processes that were killed left behind is removed.

    Parameters
    ----------
    what : str
        Which part: locks of different parts do not know each other. The empty one is for writing and tidies.
    wait : float
        Seconds to wait for another process.

    Raises
    ------
    InputError
        If the folder cannot be locked, or another process has it for longer than that.
    """
    path = folder / f".dalenius{what and '-'}{what}.lock"
    lock = FileLock(path)
    try:
        lock.acquire(timeout=wait if wait < math.inf else -1)
    except Timeout:
        raise InputError(
            f"{folder}: another process is at work there ({path.name}); wait for it, or name another folder"
        ) from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be locked: {error.strerror or error}") from None
    try:
        if not what:
            tidy(folder)
        yield
    finally:
        with suppress(OSError):  # where an open file cannot be removed, its release does it
            path.unlink(missing_ok=True)  # while it is locked: whoever waits sees that it is gone, and makes a new one
        lock.release()
