"""Common parts of the checker's command lines: files, one line for what cannot be used, and what cannot be printed."""

from __future__ import annotations

import argparse
import errno
import os
import stat
import sys
from collections.abc import Callable
from typing import NoReturn

from .core.allowance import MEMORY, SECONDS, amount
from .core.arithmetic import NAMES
from .core.read import MAX_FILE

_UNUSABLE = 2
_CLOSED = 141  # nobody reads what is printed: as of a program that SIGPIPE ends


class Parser(argparse.ArgumentParser):
    """Parser with one-line errors, whose help is printed or else an error."""

    def print_help(self, file: object = None) -> None:
        show(self.format_help().rstrip("\n"))

    def add_common(self) -> None:
        """Add the options of all checkers: limits, how the verdict is printed, and what to compute with."""
        for name, default, unit in (("--time-limit", SECONDS, "SECONDS"), ("--memory-limit", MEMORY, "MIB")):
            self.add_argument(
                name, type=amount, default=default, metavar=unit, help="undecided beyond (default: %(default)g)"
            )
        self.add_argument("--json", action="store_true", help="print the verdict as one JSON object")
        self.add_argument(
            "--arithmetic",
            choices=NAMES,
            default="auto",
            help="python-flint's, or the checker's own in the standard library alone; auto is flint where it is installed",
        )

    def error(self, message: str) -> NoReturn:
        self.exit(_UNUSABLE, f"{self.prog}: {message}; --help says what there is\n")


def file_bytes(path: str) -> bytes:
    """A file's bytes, and one more than there may be; a pipe or device, which might never end, is not opened.

    A ValueError says what is the matter with it.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("not a regular file")
        with open(path, "rb") as file:
            return file.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def show(text: str) -> None:
    """Print it now; an OSError says that this cannot be done."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def unusable(message: str) -> int:
    """The exit status, and a line that says what cannot be used."""
    try:
        sys.stderr.write(ascii(message)[1:-1] + "\n")
        sys.stderr.flush()
    except (OSError, AttributeError):  # it is full, or closed
        sys.stderr = None
    return _UNUSABLE


def ended(program: str, run: Callable[[], int]) -> int:
    """The exit status of a process that runs this, also where nobody reads what it prints, or it cannot be written."""
    try:
        try:
            return run()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        sys.stdout = None  # so that nothing is flushed into it at exit
        if isinstance(error, BrokenPipeError):
            return _CLOSED
        return unusable(f"{program}: standard output: {error.strerror}")
