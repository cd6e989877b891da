"""Command line: `python -m dalenius_check MODEL.toml CERTIFICATE`."""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
from contextlib import suppress

from . import Status, Verdict, check
from .allowance import MEMORY, SECONDS, amount
from .arithmetic import NAMES, choose
from .read import MAX_FILE


def _read(path: str) -> bytes:
    """A file's bytes, and one more than there may be; a pipe or device, which might never end, is not opened."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"{path}: not a regular file")
    with open(path, "rb") as file:
        return file.read(MAX_FILE + 1)


def _judge(options: argparse.Namespace) -> Verdict:
    limits = {"seconds": options.time_limit, "memory": options.memory_limit}
    try:
        files = _read(options.model), _read(options.certificate)
        return check(*files, resolved=options.resolved, arithmetic=options.arithmetic, **limits)
    except (OSError, ValueError) as error:
        return Verdict(Status.UNREADABLE, f"cannot read a file: {ascii(str(error))[1:-1]}")
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


def main(arguments: list[str] | None = None) -> int:
    """Run the check and return the exit status: 0 proved, 1 rejected, 2 unreadable, 3 undecided, 4 resolved."""
    parser = argparse.ArgumentParser(prog="dalenius_check", description="Check a dalenius certificate.")
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
    parser.add_argument("--quiet", action="store_true", help="print nothing; the exit status tells")
    options = parser.parse_args(arguments)
    try:
        choose(options.arithmetic)
    except ValueError as error:
        parser.error(str(error))
    verdict = _judge(options)
    if not options.quiet:
        with suppress(OSError):
            lines = verdict.lines or (f"{verdict.status.value}: {verdict.reason}",)
            sys.stdout.write((_json(options, verdict) if options.json else "\n".join(lines)) + "\n")
            sys.stdout.flush()
    return verdict.exit_code


if __name__ == "__main__":
    sys.exit(main())
