"""The command verify: the checker's verdict on a certificate, or on the proof of an interval."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

import dalenius as dl
from dalenius._verify import MEMORY, SECONDS
from dalenius.catalogue.models import model_path
from dalenius.cli.gates import AtMostOption, Budget, Ends, require_at_most
from dalenius.cli.shared import JsonOption, models_in
from dalenius.cli.statuses import ExitStatus
from dalenius.errors import InputError, brief
from dalenius.units import UNITS


class Arithmetic(StrEnum):
    """What the checker computes with; `auto` is python-flint where it is installed."""

    AUTO = "auto"
    FLINT = "flint"
    PYTHON = "python"


def verify(
    model: Annotated[
        str,
        models_in("MODEL", "A model file, a name from `dalenius list`, or an interval's proof (.json)."),
    ],
    certificate: Annotated[
        Path | None, Argument(metavar="[CERTIFICATE]", help="A certificate file; none with an interval's proof.")
    ] = None,
    resolved: Annotated[
        bool,
        Option("--resolved", help="For a mechanism of an unknown kind: what holds of the matrix in CERTIFICATE."),
    ] = False,
    time_limit: Annotated[float, Option("--time-limit", min=0, help="Seconds, undecided beyond.")] = SECONDS,
    memory_limit: Annotated[float, Option("--memory-limit", min=0, help="MiB, undecided beyond.")] = MEMORY,
    as_json: JsonOption = False,
    arithmetic: Annotated[
        Arithmetic, Option(help="python-flint's, or the checker's own in the standard library alone.")
    ] = Arithmetic.AUTO,
    jobs: Annotated[int, Option("--jobs", min=1, help="Processes that check a long certificate.")] = 1,
    at_most: AtMostOption = None,
) -> None:
    """Prove CERTIFICATE for MODEL with the independent checker; or an interval for a convex model of your own, from its proof alone.

    Exit status 0 proved, 1 rejected, 2 unreadable, 3 undecided, 4 resolved (--resolved), 6 proved, but more than --at-most.
    """
    from cvxcertify.check.__main__ import run as check_interval
    from dalenius_check.__main__ import run as check

    options = [f"--arithmetic={arithmetic}", f"--time-limit={time_limit}", f"--memory-limit={memory_limit}"]
    options += ["--json"] * as_json + ["--resolved"] * resolved
    budget = Budget.of(at_most)
    if certificate is not None:
        status = check([str(model_path(model)), str(certificate), f"--jobs={jobs}", *options], "dalenius")
        if status == ExitStatus.DONE and budget is not None:
            header = dl.Certificate.read(certificate).header
            if header.unit not in UNITS or header.claim is None or header.problem == dl.MaxInformation.kind:
                raise InputError(f"--at-most: {certificate} does not bound a leakage from above")
            require_at_most(budget, [Ends(model, *header.claim, header.unit)])
        raise typer.Exit(status)
    if budget is not None:
        raise InputError("--at-most: expected MODEL and CERTIFICATE")
    if resolved or not model.endswith(".json"):
        raise InputError(
            "verify: expected MODEL and CERTIFICATE, or the proof of an interval alone (.json, without --resolved); "
            f"got {brief(model)}{' and --resolved' if resolved else ''}"
        )
    raise typer.Exit(check_interval([model, *options], "dalenius"))
