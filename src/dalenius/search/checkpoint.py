"""A file that a long search writes into now and then, and goes on from after a kill."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.files import MAX_PROOF, need_folder, need_places, packed, read_text, write_whole

# What a search holds as text, and back: numbers, texts, lists, arrays, and dataclasses of a given list. Nothing is executed.


Row = list[Any]  # what one thing is made of; [j] stands for the thing of row j
DTYPES = ("float64", "int64", "bool")
CLOSE = 1e-12  # by how much numbers may differ that were computed twice


class Plain:
    """Writes things as rows of JSON, each after those that it is made of, and what is held twice once.

    Parameters
    ----------
    classes : iterable of dataclasses
        Of which there may be any. They are made again from their fields as they were, without their constructors.

    >>> plain = Plain([])
    >>> plain.read(plain.text({3: (np.array([0.5, 1.0]), None)}))
    {3: (array([0.5, 1. ]), None)}
    """

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes = {each.__name__: each for each in classes}

    def text(self, thing: object) -> str:
        """A line."""
        rows, place, held = list[Row](), dict[int, int](), list[object]()
        stack = [thing]
        while stack:
            here = stack[-1]
            parts = () if _simple(here) or id(here) in place else self._parts(here)
            waiting = [part for part in parts if not _simple(part) and id(part) not in place]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if not _simple(here) and id(here) not in place:
                rows.append(self._row(here, place))
                place[id(here)] = len(rows) - 1
                held.append(here)  # as long as its number stands for it
        return json.dumps(rows, separators=(",", ":"))

    def read(self, text: str) -> Any:
        """The thing of a line; `InputError` if it is none."""
        things = list[Any]()
        try:
            for row in json.loads(text):
                things.append(self._made(row, things))
            return things[-1]
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise InputError(f"not what was written: {type(error).__name__}") from None

    def _parts(self, thing: object) -> Iterable[object]:
        if isinstance(thing, tuple | list):
            return thing
        if isinstance(thing, Mapping):
            return thing.values()
        if isinstance(thing, np.ndarray):
            return ()
        assert is_dataclass(thing)
        assert self._classes.get(type(thing).__name__) is type(thing), type(thing)
        return [getattr(thing, each.name) for each in fields(thing)]

    def _row(self, thing: Any, place: Mapping[int, int]) -> Row:
        def of(part: Any) -> Any:
            return (part.item() if isinstance(part, np.generic) else part) if _simple(part) else [place[id(part)]]

        if isinstance(thing, np.ndarray):
            data = base64.b64encode(np.ascontiguousarray(thing).tobytes()).decode("ascii")
            assert thing.dtype.name in DTYPES
            return ["array", thing.dtype.name, list(thing.shape), data]
        if isinstance(thing, Mapping):
            return ["map", *([key, of(value)] for key, value in thing.items())]
        if isinstance(thing, tuple | list):
            return ["tuple" if isinstance(thing, tuple) else "list", *map(of, thing)]
        return [".", type(thing).__name__, *map(of, self._parts(thing))]

    def _made(self, row: Row, things: list[Any]) -> Any:
        def of(part: Any) -> Any:
            if not isinstance(part, list):
                return part
            (j,) = part
            return things[j] if 0 <= j < len(things) else things[len(things)]

        word, *rest = row
        if word == "array":
            name, shape, data = rest
            if name not in DTYPES:
                raise ValueError(name)
            return np.frombuffer(base64.b64decode(data, validate=True), dtype=name).reshape(shape).copy()
        if word == "map":
            return {key: of(value) for key, value in rest}
        if word in ("tuple", "list"):
            return (tuple if word == "tuple" else list)(map(of, rest))
        if word != ".":
            raise ValueError(word)
        kind, values = self._classes[rest[0]], list(map(of, rest[1:]))
        made: object = object.__new__(kind)
        for each, value in zip(fields(kind), values, strict=True):
            object.__setattr__(made, each.name, value)
        return made


def _simple(thing: object) -> bool:
    return thing is None or isinstance(thing, bool | int | float | str | np.generic)


def same(one: object, other: object) -> bool:
    """True if plain things are the same, up to how numbers were rounded that were computed twice.

    >>> same((1, np.array([0.1 + 0.2])), (1, np.array([0.3]))), same((1, 2), (1, 3))
    (True, False)
    """
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and bool(np.allclose(one, other, rtol=CLOSE, atol=1e-300))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    if isinstance(one, tuple | list):
        return (
            isinstance(other, tuple | list)
            and len(one) == len(other)
            and all(same(x, y) for x, y in zip(one, other, strict=True))
        )
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=CLOSE, atol=0.0))
    return one == other


logger = logging.getLogger("dalenius")
FORMAT = "dalenius-checkpoint/1"
EVERY = 30.0  # seconds from one writing to the next, at least
DEARER = 20.0  # times what the last writing took, at least


class Checkpoint:
    """State of a search in a file, found again by name and subject; a file of another model or release is refused.

    Nothing in it is believed: what it leads to is proved as ever, or it is not an answer.

    Parameters
    ----------
    path : path
    model : str
        The digest of the model that the search is about.
    producer : str
        Which release writes and reads it: what a search holds is no format, and another release holds it otherwise.
    plain : Plain
        How things are written.

    Raises
    ------
    InputError
        If there is such a file and it is damaged, no checkpoint, or one of another model or release; or if none can be written there.
    """

    def __init__(self, path: str | Path, model: str, producer: str, plain: Plain) -> None:
        self.path, self._about, self._plain = Path(path), {"model": model, "producer": producer}, plain
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path}: not a regular file; name another one for checkpoints")
        need_places([self.path])
        need_folder(self.path.parent)
        self._lines = self._read() if self.path.exists() else []
        self._next = time.monotonic() + EVERY
        self._writable = True

    def find(self, name: str, mark: object) -> Any:
        """Find the state under a name with the same subject; None if there is nothing. It is found once."""
        for place, (known, text) in enumerate(self._lines):
            if known != name:
                continue
            before, thing = self._plain.read(text)
            if same(before, mark):
                del self._lines[place]
                return thing
        return None

    @property
    def due(self) -> bool:
        """True if it is time to write again."""
        return self._writable and time.monotonic() >= self._next

    def write(self, entries: Iterable[tuple[str, object, object]]) -> None:
        """Put (name, what it is about, thing) in the place of what is there; what was not found again yet stays.

        Trouble with the file is told once, and stops no search.
        """
        started = time.monotonic()
        lines = [(name, self._plain.text((mark, thing))) for name, mark, thing in entries] + self._lines
        body = "".join(f"{json.dumps(name)}\n{text}\n" for name, text in lines)
        header = {"format": FORMAT, **self._about, "digest": hashlib.sha256(body.encode("ascii")).hexdigest()}
        text = f"{json.dumps(header)}\n{body}"
        try:
            if len(text) > MAX_PROOF:
                raise InputError(
                    f"{self.path}: a checkpoint has at most {MAX_PROOF} bytes, and {len(text)} are needed; a lower node limit needs "
                    "fewer"
                )
            write_whole(self.path, packed(text, 1))
        except InputError as error:
            self._writable = False
            logger.warning("no more checkpoints: %s", error)
        now = time.monotonic()
        self._next = now + max(EVERY, DEARER * (now - started))

    def remove(self) -> None:
        """There is nothing left to go on with."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> list[tuple[str, str]]:
        first, _, body = read_text(
            self.path, "a checkpoint", at_most=MAX_PROOF, encoding="ascii", maybe_packed=True
        ).partition("\n")
        try:
            header = json.loads(first)
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InputError(f"{self.path}: not a checkpoint of dalenius; name another file, or remove this one")
        for key, expected in self._about.items():
            if header.get(key) != expected:
                raise InputError(
                    f"{self.path}: a checkpoint of another {'release' if key == 'producer' else key}: expected {expected}, "
                    f"got {brief(header.get(key))}; name another file, or remove this one"
                )
        if header.get("digest") != hashlib.sha256(body.encode("ascii")).hexdigest():
            raise InputError(f"{self.path}: a damaged checkpoint; remove it, and the search begins anew")
        lines = body.splitlines()
        return [(json.loads(name), text) for name, text in zip(lines[::2], lines[1::2], strict=True)]
