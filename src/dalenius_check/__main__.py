"""Command line: `python -m dalenius_check MODEL.toml CERTIFICATE`."""

from __future__ import annotations

import argparse
import re
import sys

from . import Status, Verdict, check
from .console import Parser, ended, file_bytes, show, unusable
from .core.arithmetic import choose

# a table of the model, which is cut where people read it
_LONG = re.compile(r"^([a-z_]+(?: \d+)?: [\[{].{199}).+$", re.MULTILINE)


def _judge(options: argparse.Namespace) -> Verdict:
    limits = {"seconds": options.time_limit, "memory": options.memory_limit}
    try:
        files = file_bytes(options.model), file_bytes(options.certificate)
        return check(*files, resolved=options.resolved, arithmetic=options.arithmetic, jobs=options.jobs, **limits)
    except MemoryError:
        return Verdict(Status.UNDECIDED, "limit: out of memory", cause="limit")
    except KeyboardInterrupt:
        return Verdict(Status.UNDECIDED, "interrupted")


def run(arguments: list[str] | None = None, program: str = "dalenius_check") -> int:
    """Run the check and return the exit status: 0 proved, 1 rejected, 2 unreadable, 3 undecided, 4 resolved.

    Where it is 2, one line on standard error says what cannot be used, beside a verdict in JSON alone. An OSError says that the
    verdict cannot be printed.
    """
    parser = Parser(prog=program, description="Check a dalenius certificate.")
    parser.add_argument("model", help="the model file (TOML)")
    parser.add_argument("certificate", help="the certificate file (JSON lines)")
    parser.add_argument(
        "--resolved",
        action="store_true",
        help="for a mechanism of an unknown kind, prove what holds of the matrix in the certificate (exit status 4)",
    )
    parser.add_common()
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="processes that check a long certificate (default: %(default)s)",
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
        return unusable(f"{program}: {error}")
    if not options.quiet and (options.json or verdict.status is not Status.UNREADABLE):
        lines = verdict.lines or (f"{verdict.status.value}: {verdict.reason}",)
        shown = _LONG.sub(r"\1... (--json has it whole)", "\n".join(lines))
        show(verdict.json(model=options.model, certificate=options.certificate) if options.json else shown)
    if verdict.status is Status.UNREADABLE:
        return unusable(f"{program}: {options.model}: {verdict.reason}")
    return verdict.exit_code


def main(arguments: list[str] | None = None) -> int:
    """The same for a process: the exit status also where the verdict cannot be printed (2), or nobody reads it (141)."""
    return ended("dalenius_check", lambda: run(arguments))


if __name__ == "__main__":
    sys.exit(main())
