"""Command line: `python -m dalenius_check MODEL.toml CERTIFICATE`."""

from __future__ import annotations

import argparse
import errno
import json
import os
import stat
import sys
from typing import NoReturn

from . import Status, Verdict, check
from .allowance import MEMORY, SECONDS, amount
from .arithmetic import NAMES, choose
from .read import MAX_FILE

CLOSED = 141  # the exit status where nobody reads what is printed, as of a program that SIGPIPE ends


class _Parser(argparse.ArgumentParser):
    """Whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; --help says what there is\n")


def _read(path: str) -> bytes:
    """A file's bytes, and one more than there may be; a pipe or device, which might never end, is not opened."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("not a regular file")
        with open(path, "rb") as file:
            return file.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _judge(options: argparse.Namespace) -> Verdict:
    limits = {"seconds": options.time_limit, "memory": options.memory_limit}
    try:
        files = _read(options.model), _read(options.certificate)
        return check(*files, resolved=options.resolved, arithmetic=options.arithmetic, **limits)
    except MemoryError:
        return Verdict(Status.UNDECIDED, "limit: out of memory")
    except KeyboardInterrupt:
        return Verdict(Status.UNDECIDED, "interrupted")


def _json(options: argparse.Namespace, verdict: Verdict) -> str:
    """The verdict; the ends exactly, as fractions, and null where there is no interval."""
    ends = (None if end is None else str(end) for end in (verdict.lower, verdict.upper))
    told: dict[str, object] = {"model": options.model, "certificate": options.certificate}
    told |= {"status": verdict.status.value, "proved": verdict.proved, "reason": verdict.reason}
    return json.dumps(told | dict(zip(("lower", "upper"), ends, strict=True)) | {"lines": verdict.lines})


def run(arguments: list[str] | None = None, program: str = "dalenius_check") -> int:
    """Run the check and return the exit status: 0 proved, 1 rejected, 2 unreadable, 3 undecided, 4 resolved.

    Where it is 2, one line on standard error says what cannot be used. An OSError says that the verdict cannot be printed.
    """
    parser = _Parser(prog=program, description="Check a dalenius certificate.")
    parser.add_argument("model", help="the model file (TOML)")
    parser.add_argument("certificate", help="the certificate file (JSON lines)")
    parser.add_argument(
        "--resolved",
        action="store_true",
        help="for a mechanism of an unknown kind, prove what holds of the matrix in the certificate (exit status 4)",
    )
    parser.add_argument(
        "--time-limit", type=amount, default=SECONDS, metavar="SECONDS", help="undecided beyond (default: %(default)g)"
    )
    parser.add_argument(
        "--memory-limit", type=amount, default=MEMORY, metavar="MIB", help="undecided beyond (default: %(default)g)"
    )
    parser.add_argument("--json", action="store_true", help="print the verdict as one JSON object")
    parser.add_argument(
        "--arithmetic",
        choices=NAMES,
        default="auto",
        help="python-flint's, or the checker's own in the standard library alone; auto is flint where it is installed",
    )
    parser.add_argument("--quiet", action="store_true", help="print no verdict; the exit status tells")
    options = parser.parse_args(arguments)
    try:
        choose(options.arithmetic)
    except ValueError as error:
        parser.error(str(error))
    try:
        verdict = _judge(options)
    except ValueError as error:
        return _unusable(f"{program}: {error}")
    if not options.quiet:
        lines = verdict.lines or (f"{verdict.status.value}: {verdict.reason}",)
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        sys.stdout.write((_json(options, verdict) if options.json else "\n".join(lines)) + "\n")
        sys.stdout.flush()
    if verdict.status is Status.UNREADABLE:
        return _unusable(f"{program}: {options.model}: {verdict.reason}")
    return verdict.exit_code


def main(arguments: list[str] | None = None) -> int:
    """The same for a process: the exit status also where the verdict cannot be printed (2), or nobody reads it (141)."""
    try:
        try:
            return run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        sys.stdout = None  # so that nothing is flushed into it at exit
        return (
            CLOSED
            if isinstance(error, BrokenPipeError)
            else _unusable(f"dalenius_check: standard output: {error.strerror}")
        )


def _unusable(message: str) -> int:
    """The exit status, and a line that says what cannot be used."""
    try:
        sys.stderr.write(ascii(message)[1:-1] + "\n")
        sys.stderr.flush()
    except (OSError, AttributeError):  # it is full, or closed
        sys.stderr = None
    return Status.UNREADABLE.exit_code


if __name__ == "__main__":
    sys.exit(main())
