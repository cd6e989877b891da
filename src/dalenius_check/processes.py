"""One check by several processes: each reads the whole file, and works out those leaves alone that stand in its share of the lines.

What one of them works out of a leaf, or why it refuses it, goes to the first process, which reads every line itself, in order, and
asks for it where the leaf stands. So what is proved is what one process proves: every leaf has an owner, by the number of its line
alone, nothing is taken for a leaf that its owner has not said of that very line, and every comparison with a claim is made by
whoever has all that it is about (docs/certificate-format.md, "Several processes").
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from .core.allowance import PAIR, Allowance, LimitError
from .core.arithmetic import arb, chosen, fmpq
from .core.certificate import Shares
from .core.known import MOST, Known
from .core.numbers import OpenError, RefusedError

CHUNK = 16  # lines that have one owner
LEAST = 1 << 18  # bytes of a certificate that others are called for
FINE = 1024  # bits of balls that go from one process to another, no less than any check has
_LOOK = 0.1  # seconds between two looks at the clock
_PATH = "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline())"
_START = f"{_PATH}; import {__package__}.running as r; r.main()"
Told = tuple[list[Any], list[tuple[int, bytes, list[list[str]], str | None]]]
_ENDS: dict[str, type[Exception]] = {"refused": RefusedError, "open": OpenError}


class Helper(Shares):
    """Share j of n, j > 0: what is in it is told, what is not is left out, and so are leaves of several lines."""

    whole = False

    def __init__(self, j: int, parts: int, chunk: int, tell: Callable[[dict[str, Any]], None]) -> None:
        self._j = j
        self._parts = parts
        self._chunk = chunk
        self._tell = tell

    def row(self, number: int, work: Callable[[], list[arb]]) -> list[arb]:
        if number // self._chunk % self._parts == self._j:
            self._tell({"line": number, "found": list(map(_ends, work()))})
        return []

    def leaf(self, number: int, work: Callable[[], bool]) -> bool:
        if number // self._chunk % self._parts == self._j:
            self._tell({"line": number, "found": work()})
        return False


class First(Shares):
    """Share 0 of n, and the leaves of the others as they tell them."""

    def __init__(self, told: list[SimpleQueue[dict[str, Any] | None]], chunk: int, allowance: Allowance) -> None:
        self._told = told
        self._chunk = chunk
        self._allowance = allowance

    def row(self, number: int, work: Callable[[], list[arb]]) -> list[arb]:
        j = number // self._chunk % (len(self._told) + 1)
        return list(map(_ball, self._asked(j, number))) if j else work()

    def leaf(self, number: int, work: Callable[[], bool]) -> bool:
        j = number // self._chunk % (len(self._told) + 1)
        return self._asked(j, number) is True if j else work()

    def _asked(self, j: int, number: int) -> Any:
        """Result of a line from its owner, which must be the owner's next message."""
        said = self._next(self._told[j - 1])
        if said is None:
            raise LimitError("another process that checks was lost; check again, with one process", "processes")
        if said.get("error") == "limit":
            raise LimitError(said["reason"], said["allowed"])
        if said["line"] != number:
            raise RuntimeError(f"asked about line {number}, another process speaks of line {said['line']}")
        if "error" in said:
            raise _ENDS.get(said["error"], RuntimeError)(said["reason"])
        return said["found"]

    def _next(self, told: SimpleQueue[dict[str, Any] | None]) -> dict[str, Any] | None:
        while True:
            self._allowance.look()
            try:
                return told.get(timeout=_LOOK)
            except Empty:
                continue


@contextmanager
def shared(parts: int, options: dict[str, Any], files: tuple[bytes, bytes], allowance: Allowance) -> Iterator[Shares]:
    """The shares of so many processes, this one and others that live as long as the block; of one where the file is small."""
    if parts == 1 or len(files[1]) < LEAST or not sys.executable:
        yield Shares()
        return
    helpers: list[subprocess.Popen[bytes]] = []
    told: list[SimpleQueue[dict[str, Any] | None]] = []
    path = [*sys.path, str(Path(__file__).parents[1])]
    try:
        for j in range(1, parts):
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            command = [sys.executable, "-I", "-S", "-c", _START]
            helpers.append(subprocess.Popen(command, start_new_session=True, **pipes))  # Ctrl-C is not for them
            told.append(SimpleQueue())
            first = {
                **options,
                "part": j,
                "parts": parts,
                "chunk": CHUNK,
                "sizes": list(map(len, files)),
                "code": __file__,
            }
            text = b"".join(json.dumps(line).encode() + b"\n" for line in (path, first))
            Thread(target=_talk, args=(helpers[-1], (text, *files), told[-1]), daemon=True).start()
        yield First(told, CHUNK, allowance)
    finally:
        for process in helpers:
            process.kill()
            process.wait()


def _talk(process: subprocess.Popen[bytes], sent: tuple[bytes, ...], told: SimpleQueue[dict[str, Any] | None]) -> None:
    """Send a helper what it is to check, and collect what it says; None at its end, whatever that is."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with process.stdin, process.stdout:
            for part in sent:
                process.stdin.write(part)
            process.stdin.close()
            for line in process.stdout:
                told.put(json.loads(line))
    except (OSError, ValueError):  # it was killed
        pass
    finally:
        told.put(None)


def received(stream: BinaryIO) -> tuple[dict[str, Any], bytes, bytes]:
    """Read what a helper is sent: options, model and certificate. It ends unless it is made of the same source."""
    options = json.loads(stream.readline())
    if options["code"] != __file__:
        sys.exit(1)
    model, certificate = (stream.read(size) for size in options["sizes"])
    return options, model, certificate


def said(error: Exception, line: int) -> dict[str, Any]:
    """Message of a helper about why it ended on a line."""
    kinds = {RefusedError: "refused", OpenError: "open", LimitError: "limit"}
    told = {"line": line, "error": kinds.get(type(error), type(error).__name__), "reason": str(error)}
    return told | {"reason": str(error).removeprefix("limit: "), "allowed": getattr(error, "allowed", "")}


class Store(Known):
    """Values of leaves that go from one process to another: what is worked out here is told there."""

    def told(self) -> Told:
        """The places, in the order of their numbers, and the leaves, for the store of another process; they are forgotten here."""
        leaves = list[tuple[int, bytes, list[list[str]], str | None]]()
        with chosen().workprec(FINE):
            for (place, line), value in self._leaves.items():
                balls, slope = value if isinstance(value, tuple) else (value, None)
                leaves.append((place, line, list(map(_ends, balls)), None if slope is None else str(slope)))
        places = list(self._places)
        self._places.clear()
        self._leaves.clear()
        self._trees.clear()
        self._left = MOST
        return places, leaves

    def take(self, told: Told) -> None:
        """Leaves that another process has worked out, which is believed as one is that checks a share."""
        numbers = list[int | None]()
        for lead in told[0]:
            above, *rest = lead
            root = isinstance(above, str)
            here = above if root else numbers[above]
            numbers.append(None if here is None else self.place(here, *rest))
        with chosen().workprec(FINE):
            for place, line, balls, slope in told[1]:
                here = numbers[place]
                if here is not None and (here, line) not in self._leaves and self._takes(2 * PAIR + len(line)):
                    found = list(map(_ball, balls))
                    self._leaves[here, line] = found if slope is None else (found, fmpq(*map(int, slope.split("/"))))


def _ends(ball: arb) -> list[str]:
    """A ball as text, from outward rational ends; nothing where nothing is known."""
    return [str(end.fmpq()) for end in (ball.lower(), ball.upper())] if ball.is_finite() else []


def _ball(ends: list[str]) -> arb:
    """The same, or more."""
    if not ends:
        return arb("nan")
    low, high = (arb(fmpq(*map(int, end.split("/")))) for end in ends)
    return low.union(high)
