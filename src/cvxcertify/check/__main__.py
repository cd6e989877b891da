"""Command line: `python -m cvxcertify.check INTERVAL.json`."""

from __future__ import annotations

import sys

from dalenius_check import Status, Verdict
from dalenius_check.console import Parser, ended, file_bytes, show, unusable

from . import check_interval

_PROGRAM = "cvxcertify.check"


def run(arguments: list[str] | None = None, program: str = _PROGRAM) -> int:
    """Check the file, say what is proved of it, and return the exit status: 0 proved, 1 rejected, 2 unreadable, 3 undecided.

    An OSError says that the verdict cannot be printed.
    """
    parser = Parser(prog=program, description="Check an interval for a conic instance.")
    parser.add_argument("proof", help="the file (JSON) that CertifiedInterval.write writes")
    parser.add_common()
    options = parser.parse_args(arguments)
    limits = {"seconds": options.time_limit, "memory": options.memory_limit}
    try:
        verdict = check_interval(file_bytes(options.proof), arithmetic=options.arithmetic, **limits)
    except ValueError as error:
        return unusable(f"{program}: {error}")
    except KeyboardInterrupt:
        verdict = Verdict(Status.UNDECIDED, "interrupted")
    lines = verdict.lines or (f"{verdict.status.value}: {verdict.reason}",)
    if options.json or verdict.status is not Status.UNREADABLE:
        show(verdict.json(proof=options.proof) if options.json else "\n".join(lines))
    if verdict.status is Status.UNREADABLE:
        return unusable(f"{program}: {options.proof}: {verdict.reason}")
    return verdict.exit_code


def main(arguments: list[str] | None = None) -> int:
    """The same for a process: the exit status also where the verdict cannot be printed (2), or nobody reads it (141)."""
    return ended(_PROGRAM, lambda: run(arguments))


if __name__ == "__main__":
    sys.exit(main())
