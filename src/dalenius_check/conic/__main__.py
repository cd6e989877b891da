"""Command line: `python -m dalenius_check.conic INTERVAL.json`."""

from __future__ import annotations

import argparse
import sys

from .. import Status, Verdict
from ..__main__ import _read
from ..arithmetic import NAMES
from . import check_interval


def main(arguments: list[str] | None = None) -> int:
    """Check the file, say what is proved of it, and return the exit status: 0 proved, 1 rejected, 2 unreadable, 3 undecided."""
    parser = argparse.ArgumentParser(prog="dalenius_check.conic", description="Check an interval for a conic instance.")
    parser.add_argument("proof", help="the file (JSON) that CertifiedInterval.write writes")
    parser.add_argument("--arithmetic", choices=NAMES, default="auto", help="as that of dalenius_check")
    options = parser.parse_args(arguments)
    try:
        verdict = check_interval(_read(options.proof), arithmetic=options.arithmetic)
    except (OSError, ValueError) as error:
        verdict = Verdict(Status.UNREADABLE, f"cannot read the file: {ascii(str(error))[1:-1]}")
    sys.stdout.write("\n".join(verdict.lines or (f"{verdict.status.value}: {verdict.reason}",)) + "\n")
    return verdict.exit_code


if __name__ == "__main__":
    sys.exit(main())
