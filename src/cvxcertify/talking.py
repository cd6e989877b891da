"""Words about work in progress, on standard output: for whoever asked with ``verbose=True``, while that call lasts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_asked: ContextVar[bool] = ContextVar("verbose", default=False)


@contextmanager
def talking(verbose: bool = True) -> Iterator[None]:
    """Have what is called meanwhile say what it does; not what runs in other processes. `False` leaves it as it was.

    >>> with talking():
    ...     say("two")
    two
    >>> say("three")
    """
    before = _asked.set(_asked.get() or bool(verbose))
    try:
        yield
    finally:
        _asked.reset(before)


def heard() -> bool:
    """True if somebody asked."""
    return _asked.get()


def say(line: str) -> None:
    """Write a line, if somebody asked."""
    if heard():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
