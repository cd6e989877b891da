"""A process that works out a share of a certificate's leaves for the one that checks it (shares.py)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from . import attempt
from .allowance import Allowance
from .arithmetic import choose, chosen, using
from .model import parse_model
from .shares import Helper, received, said


def work(options: dict[str, Any], model: bytes, certificate: bytes, tell: Callable[[dict[str, Any]], None]) -> None:
    """Tell what becomes of each leaf of the share, and at last why there is no more, if that is so."""
    allowance = Allowance(options["seconds"], options["memory"])
    shares = Helper(options["part"], options["parts"], options["chunk"], tell)
    try:
        with using(choose(options["arithmetic"])), chosen().workprec(options["bits"]):
            allowance.take(len(model) + len(certificate))
            attempt(parse_model(model, allowance), certificate, options["resolved"], shares)
    except BrokenPipeError:  # nobody asks any more
        return
    except Exception as error:  # noqa: BLE001 - the first process meets it, too, or says that something is wrong
        tell(said(error, allowance.line))


def main() -> None:
    """Read what is to be checked from standard input, and write what is found to standard output, a line for each leaf."""

    def tell(found: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()

    work(*received(sys.stdin.buffer), tell)
