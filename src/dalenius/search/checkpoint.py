"""A file that a long search writes into now and then, and goes on from after a kill."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dalenius.errors import InputError, brief
from dalenius.files import MAX_PROOF, need_folder, need_places, packed, read_text, write_whole
from dalenius.search.plain import Plain, same

__all__ = ["Checkpoint"]

logger = logging.getLogger("dalenius")
FORMAT = "dalenius-checkpoint/1"
EVERY = 30.0  # seconds from one writing to the next, at least
DEARER = 20.0  # times what the last writing took, at least


class Checkpoint:
    """What was written is found again by name and by what it is about; a file of another model or release is refused.

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
        """What was written under a name about something that was the same; None if there is nothing. It is found once."""
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
        """Whether it is time to write again."""
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
