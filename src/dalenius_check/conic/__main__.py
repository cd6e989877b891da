"""Command line: `python -m dalenius_check.conic INTERVAL.json`."""

from __future__ import annotations

import sys

from .. import Status
from ..arithmetic import NAMES
from ..console import Parser, ended, file_bytes, show, unusable
from . import check_interval

_PROGRAM = "dalenius_check.conic"


def _run(arguments: list[str] | None) -> int:
    parser = Parser(prog=_PROGRAM, description="Check an interval for a conic instance.")
    parser.add_argument("proof", help="the file (JSON) that CertifiedInterval.write writes")
    parser.add_argument("--arithmetic", choices=NAMES, default="auto", help="as that of dalenius_check")
    options = parser.parse_args(arguments)
    try:
        verdict = check_interval(file_bytes(options.proof), arithmetic=options.arithmetic)
    except ValueError as error:
        return unusable(f"{_PROGRAM}: {error}")
    show("\n".join(verdict.lines or (f"{verdict.status.value}: {verdict.reason}",)))
    if verdict.status is Status.UNREADABLE:
        return unusable(f"{_PROGRAM}: {options.proof}: {verdict.reason}")
    return verdict.exit_code


def main(arguments: list[str] | None = None) -> int:
    """Check the file, say what is proved of it, and return the exit status: 0 proved, 1 rejected, 2 unreadable, 3 undecided.

    141: nobody reads it (a closed pipe).
    """
    return ended(_PROGRAM, lambda: _run(arguments))


if __name__ == "__main__":
    sys.exit(main())
