"""The program `dalenius`, from its first instruction on: whoever stops it while it still imports gets one line.

A package of its own: nothing of `dalenius` is imported before the signals are handled.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

__all__ = ["main"]

WORDS = {signal.SIGINT: b"interrupted", signal.SIGTERM: b"terminated"}


def main() -> None:
    """Entry point of `dalenius`. Signals that the process ignores stay ignored."""
    for number in WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    from dalenius.cli import main as command_line

    command_line()


def _leave(number: int, frame: FrameType | None) -> None:
    """There is nothing to return or to tidy up, and an exception in the middle of an import may get lost."""
    os.write(2, b"dalenius: " + WORDS[signal.Signals(number)] + b"\n")
    os._exit(128 + number)
