"""The command line in a process of its own, with Ctrl-C pressed in the middle of the work.

`python tests/interrupted.py SECONDS FILE ARGUMENTS...` interrupts after so many seconds of work (tests/clocks.py), counted from when
FILE exists (`-` for the start).
"""

import signal
import sys
from pathlib import Path

from clocks import WorkClock


def main() -> None:
    from dalenius.cli import main as command_line

    seconds, file, *arguments = sys.argv[1:]
    clock = WorkClock.installed()

    def wait() -> None:
        if file == "-" or Path(file).exists():
            clock.alarm(float(seconds), lambda: signal.raise_signal(signal.SIGINT))
        else:
            clock.alarm(0.1, wait)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # the background jobs of a shell ignore it
    wait()
    sys.argv[1:] = arguments
    command_line()


if __name__ == "__main__":
    main()
