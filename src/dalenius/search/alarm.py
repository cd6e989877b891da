"""Work that knows no clock, ended when its time is over: formulas in exact numbers, and other people's Python."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dalenius.information.deadline import Deadline, need_time

EVERY = 0.05  # seconds of work between two looks at the clock


@contextmanager
def ended_with(clock: Deadline) -> Iterator[None]:
    """Raise `TimeIsOverError` where the block is, once the clock has expired: at its begin, or between two steps of Python.

    What is in the block must be of use only as a whole, and leave nothing behind that is half done. One call of compiled code ends
    when it ends. So does the block outside the main thread, where no signal arrives, and in a process with an alarm of its own.
    """
    need_time(clock)
    if not _free():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        need_time(clock)

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, EVERY, EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _free() -> bool:
    """Whether there can be an alarm, and is none."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGVTALRM) in (signal.SIG_DFL, signal.SIG_IGN)
