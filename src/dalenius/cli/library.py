"""The command list and the group library: the models with their intervals, tighter ones, and the index.

Parameters
----------
folder
    The library's folder; by default the one that comes with this package.
set
    {NAMES}: each has the ones before it, the last all.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import dalenius as dl
from dalenius.catalogue.models import SETS, LibraryModel, library, library_folder, library_model
from dalenius.cli import epilog
from dalenius.cli.answers import write_answer
from dalenius.cli.options import Command, documented
from dalenius.cli.shared import err, out, print_table, units_shown
from dalenius.cli.statuses import ExitStatus
from dalenius.errors import InputError, naming
from dalenius.evidence import exact_fraction_above
from dalenius.intervals import interval_text
from dalenius.results import told_text
from dalenius.search import Clock, Limits, stopped_by_interrupt
from dalenius.units import Quantity, lower_in, upper_in

if TYPE_CHECKING:
    from dalenius.catalogue.ratchet import HistoryRow


def list_models(
    units: str | None = None,
    set: str = SETS[-1],
    as_json: bool = False,
    folder: Path | None = None,
) -> None:
    """Show the model library: intervals that are proved, in the index whose digests the files have, or now; exit 1 if one is not.

    Parameters
    ----------
    as_json : --json
        The index as one JSON object.
    """
    shown = units_shown(units, as_data=as_json)
    models = library(set, folder)
    if as_json:
        write_answer("list", {"models": [vars(model.row()) | {"proved": model.standing.proved} for model in models]})
        _complain(models)
        return
    rows = ((model.name, _proved(model, shown), model.tightness, model.problem.title) for model in models)
    print_table(("model", "proved", "tightness", "what it is"), rows, width=160, kept=3)
    _complain(models)


def _complain(models: list[LibraryModel]) -> None:
    """A line for each certificate that is not proved, and the status of a rejection."""
    refused = [model for model in models if model.tightness == "unproved"]
    for model in refused:
        err.print(f"dalenius: {model.certificate_path}: not proved ({model.standing.reason})")
    if refused:
        raise typer.Exit(ExitStatus.REJECTED)


def _proved(model: LibraryModel, units: str) -> str:
    """The interval of a model of the library, rounded outward; none where nothing is proved."""
    if model.interval is None:
        return ""
    problem = model.problem
    if problem.quantity is not Quantity.LEAKAGE:
        return f"{interval_text(*model.interval)} ({problem.quantity.value})"
    if units == "nats":
        return told_text(*model.interval, units, problem.most_values)
    lower, upper = -exact_fraction_above(-model.interval[0]), exact_fraction_above(model.interval[1])
    return told_text(lower_in(lower, units), upper_in(upper, units), units, problem.most_values)


NAMES = ", ".join(SETS)
library_app = typer.Typer(
    help="Look after a library of models: tighten its intervals, take in a certificate, write its index.",
    add_completion=False,
)


@library_app.command("tighten", cls=Command, epilog=epilog("library tighten"))
@documented
def library_tighten(
    names: list[str] | None = None,
    set: str = SETS[-1],
    gap: float = 1e-6,
    time_limit: float = 60.0,
    node_limit: int = 30_000,
    seed: int = 0,
    as_json: bool = False,
    folder: Path | None = None,
) -> None:
    """Solve models again whose gap is larger than --gap, and keep whichever ends are better; exit 2 if one could not be.

    Interrupted, it keeps what is proved by then and writes the index.

    Parameters
    ----------
    names : [MODEL]...
        Names; all of the set by default.
    """
    from dalenius.catalogue.ratchet import need_room, tighten, write_index

    home, told = _library_home(folder), list[dict[str, Any]]()
    Limits(gap=gap, time_limit=time_limit, node_limit=node_limit)
    models = [library_model(name, home) for name in names] if names else library(set, home)
    need_room(home, *models)
    with stopped_by_interrupt(whole := Clock()):
        try:
            for model in models:
                if whole.expired:
                    break
                told.append({"model": model.name, "changed": False, "error": None})
                try:
                    entry = tighten(model, home, gap=gap, time_limit=time_limit, node_limit=node_limit, seed=seed)
                except InputError as error:
                    err.print(str(error))
                    told[-1]["error"] = str(error)
                    continue
                if entry is not None:
                    told[-1] |= {"changed": True, **_entry(entry)}
                if not as_json:
                    out.print(f"{model.name}: {'unchanged' if entry is None else entry.interval}")
        except KeyboardInterrupt:  # what was found is kept
            if not whole.expired:
                raise
        files = [str(path) for path in write_index(home)]
        if as_json:
            write_answer("library tighten", {"models": told, "files": files})
    if any(model["error"] for model in told):
        raise typer.Exit(ExitStatus.UNUSABLE)


@library_app.command("submit", cls=Command, epilog=epilog("library submit"))
@documented
def library_submit(certificate: Path, by: str = "", as_json: bool = False, folder: Path | None = None) -> None:
    """Prove CERTIFICATE and store what it makes tighter; exit 2, and nothing changed, if it is not proved or no tighter.

    Parameters
    ----------
    certificate : CERTIFICATE
        Of one of the library's models.
    by
        Who found it; by default the certificate's producer.
    """
    from dalenius.catalogue.ratchet import need_room, submit, write_index

    home = _library_home(folder)
    found = dl.Certificate.read(certificate)
    need_room(home)
    try:
        with naming(certificate):
            entry = submit(found, home, by=by)
    except InputError:
        with suppress(InputError):
            write_index(home)  # of what a submission that was killed has stored
        raise
    files = [str(path) for path in write_index(home)]
    if as_json:
        write_answer("library submit", {"model": entry.name, **_entry(entry), "by": entry.by, "files": files})
    else:
        out.print(f"{entry.name}: {entry.interval}")


@library_app.command("index", cls=Command, epilog=epilog("library index"))
@documented
def library_index(as_json: bool = False, folder: Path | None = None) -> None:
    """Have every certificate proved, and write the index, INDEX.md and index.csv; exit 2, and nothing written, if one is not."""
    from dalenius.catalogue.ratchet import write_index

    files = [str(path) for path in write_index(_library_home(folder))]
    if as_json:
        write_answer("library index", {"files": files})
        return
    for file in files:
        out.print(file)


def _entry(entry: HistoryRow) -> dict[str, str | None]:
    """The ends of a new row of the history; null where nothing is feasible."""
    return {"lower": entry.lower or None, "upper": entry.upper or None}


def _library_home(folder: Path | None) -> Path:
    return library_folder() if folder is None else folder
