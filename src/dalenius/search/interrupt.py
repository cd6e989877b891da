"""The first Ctrl-C stops a clock, so that the bounds reached are returned."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dalenius.search.clock import Clock

__all__ = ["stopped_by_interrupt"]


@contextmanager
def stopped_by_interrupt(clock: Clock) -> Iterator[None]:
    """The first Ctrl-C stops the clock; the second one is an interrupt as usual. Only the main thread hears either."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        clock.stop()
        signal.signal(signal.SIGINT, previous)

    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous):
        yield
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
