"""Limits of a check, seconds and memory counted before it is taken, and the lemmas that it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from time import monotonic
from typing import Any

Amount = float  # of seconds and MiB alone: what is proved has no doubles in it
SECONDS, MEMORY = 3600, 4096
# Bytes, rounded up, of what is made in large numbers: an entry of a list, which is some object; with a small number of its own; a
# ball in a matrix; a ball of its own; an entry of a dictionary with what it maps.
POINTER = 8
NUMBER = 80
CELL = 96
BALL = 144
PAIR = 160


def amount(text: str) -> Amount:
    """A number >= 0 of a command line, possibly infinite."""
    value = Amount(text)
    if not value >= 0:
        raise ValueError(text)
    return value


class LimitError(Exception):
    """A limit was reached; more precision does not help. `allowed` names what was allowed for the check, if it was that."""

    def __init__(self, what: str, allowed: str = "") -> None:
        super().__init__(f"limit: {what}")
        self.allowed = allowed


def limit(condition: bool, what: str) -> None:
    """Raise LimitError unless the condition holds."""
    if not condition:
        raise LimitError(what)


class Allowance:
    """Seconds and MiB. What can grow asks here first; the line of the certificate that was reached is kept for the reason.

    Memory is counted by what is about to be made, so that two files end alike on every machine; the clock is the outer guard, and
    is looked at between steps of less than a second or so. `spared` tells how many seconds whoever asked still has for it, where that
    may change meanwhile.
    """

    def __init__(
        self, seconds: Amount = SECONDS, memory: Amount = MEMORY, spared: Callable[[], Amount] | None = None
    ) -> None:
        if not (seconds >= 0 and memory >= 0):
            raise ValueError(f"seconds and memory must be numbers >= 0, got {seconds!r} and {memory!r}")
        self.seconds = seconds
        self.memory = memory
        self.line = 0
        self.held = 0
        self.theorems = set[str]()  # beyond the core, which the check rests on
        self._end = monotonic() + seconds
        self._spared = spared
        self._most = memory * 2**20

    @property
    def place(self) -> str:
        """Place that was being read, in words."""
        return f"certificate line {self.line}" if self.line else "the model"

    @property
    def left(self) -> Amount:
        """The seconds that are left."""
        left = self._end - monotonic()
        return max(left if self._spared is None else min(left, self._spared()), 0)

    def look(self) -> None:
        """Go on only if there is time left."""
        self.soon(0)

    def soon(self, seconds: Amount) -> None:
        """Go on only if there is time left for a step that takes so long and cannot be interrupted."""
        if monotonic() + seconds > self._end:
            raise LimitError(f"{self.seconds:g} seconds", "seconds")
        if self._spared is not None and self._spared() < seconds:
            raise LimitError("the seconds that were left to it", "seconds")

    def room(self, size: Amount) -> None:
        """Go on only if so many bytes more, given back before long, are within the limit."""
        if self.held + size > self._most:
            raise LimitError(f"{self.memory:g} MiB of memory", "memory")

    def take(self, size: int) -> None:
        """Count so many bytes as held; negative ones are given back."""
        self.room(size)
        self.held += size

    @contextmanager
    def holding(self, size: int = 0) -> Iterator[None]:
        """A block after which everything taken since, and this much, is given back."""
        before = self.held
        self.take(size)
        try:
            yield
        finally:
            self.held = before

    @contextmanager
    def resting(self) -> Iterator[set[str]]:
        """The theorems that a block rests on by itself, which are added to the others."""
        before, self.theorems = self.theorems, set()
        try:
            yield self.theorems
        finally:
            self.theorems = before | self.theorems  # theirs alone stay as they are


LEMMAS = {  # theorems as docs/theory.md numbers them
    "households": ("B1", "B2", "B3"),
    "gaussian": ("B4",),
    "chains": ("M1", "M2", "M3", "M4"),
    "letter_chains": ("M5",),
    "sums": ("B5", "B6"),
    "histograms": ("H1", "H2"),
    "wide": ("W1",),
    "grid": ("W2",),
    "neighbours": ("D7",),
    "alone": ("O1", "O2"),
    "separate": ("U1", "U2"),
    "releases": ("R1",),
    "adaptive": ("R2",),
    "randomized": ("L1", "L2"),
    "protocols": ("Q1",),
    "real_noise": ("N1",),
    "secrets": ("T1", "T2"),
    "designs": ("G1", "G2", "G3", "G4"),
    "information": ("J1",),
    "envelope": ("J2",),
}


def lemma(name: str) -> Any:
    """The module of a lemma."""
    assert name in LEMMAS
    return import_module(f"..lemmas.{name}", __package__)


def rests_on(allowance: Allowance, theorem: str) -> None:
    """Say in the verdict of this check that it rests on a theorem beyond the core."""
    assert any(theorem in theorems for theorems in LEMMAS.values())
    allowance.theorems.add(theorem)


def rules(allowance: Allowance) -> tuple[str, ...]:
    """Rules that a verdict rests on: the core, and lemmas with their theorems."""
    found = ["core"]
    for name, theorems in LEMMAS.items():
        used = [theorem for theorem in theorems if theorem in allowance.theorems]
        if used:
            found.append(f"{name.replace('_', ' ')} (Theorem{'s' * (len(used) > 1)} {', '.join(used)})")
    return tuple(found)
