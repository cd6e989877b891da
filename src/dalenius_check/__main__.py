"""Command line: `python -m dalenius_check MODEL.toml CERTIFICATE`."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress

from . import Status, Verdict, check
from .arithmetic import NAMES, choose
from .read import MAX_FILE


def _judge(model: str, certificate: str, resolved: bool, arithmetic: str) -> Verdict:
    try:
        with open(model, "rb") as first, open(certificate, "rb") as second:
            files = first.read(MAX_FILE + 1), second.read(MAX_FILE + 1)
            return check(*files, resolved=resolved, arithmetic=arithmetic)
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
    verdict = _judge(options.model, options.certificate, options.resolved, options.arithmetic)
    if not options.quiet:
        with suppress(OSError):
            lines = verdict.lines or (f"{verdict.status.value}: {verdict.reason}",)
            sys.stdout.write((_json(options, verdict) if options.json else "\n".join(lines)) + "\n")
            sys.stdout.flush()
    return verdict.exit_code


if __name__ == "__main__":
    sys.exit(main())
