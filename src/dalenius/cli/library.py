"""The command list and the group library: the models with their intervals, tighter ones, and the index."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import dalenius as dl
from dalenius.catalogue.models import SETS, LibraryModel, library, library_folder, library_model
from dalenius.cli.shared import GapOption, SeedOption, TimeOption, UnitsOption, err, naming, out, write_json
from dalenius.evidence import exact_fraction_above
from dalenius.intervals import interval_text
from dalenius.units import lower_in, unit_size, upper_in

__all__ = ["library_app", "list_models"]

SetOption = Annotated[str, typer.Option("--set", help=f"{', '.join(SETS)}: each has the ones before it, the last all.")]
FolderOption = Annotated[
    Path | None, typer.Option("--folder", help="The library's folder; by default the one that comes with this package.")
]


def list_models(
    units: UnitsOption = "nats",
    set: SetOption = SETS[-1],
    as_json: Annotated[bool, typer.Option("--json", help="The index as a JSON list on standard output.")] = False,
) -> None:
    """Show the model library."""
    unit_size(units)
    models = library(set)
    if as_json:
        write_json([dataclasses.asdict(model.row()) for model in models])
        return
    table = Table("model", f"certified ({units})", "tightness", "what it is", box=None, pad_edge=False)
    for column in table.columns[:3]:
        column.no_wrap = True
    for model in models:
        problem = model.load()
        table.add_row(model.name, _claimed(model, problem, units), model.tightness, escape(problem.title))
    Console(highlight=False, width=max(out.width, 160)).print(table)


def _claimed(model: LibraryModel, problem: dl.Problem, units: str) -> str:
    """The interval of a model of the library, rounded outward."""
    if model.claim is None:
        return ""
    if problem.quantity is dl.Quantity.DISTORTION:
        return f"{interval_text(*model.claim)} (distortion)"
    if units == "nats":
        return interval_text(*model.claim)
    lower, upper = -exact_fraction_above(-model.claim[0]), exact_fraction_above(model.claim[1])
    return interval_text(lower_in(lower, units), upper_in(upper, units))


library_app = typer.Typer(
    help="Look after a library of models: tighten its intervals, take in a certificate, write its index.",
    no_args_is_help=True,
)


@library_app.command("tighten")
def library_tighten(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Names; all of the set by default.")
    ] = None,
    set: SetOption = SETS[-1],
    gap: GapOption = 1e-6,
    time_limit: TimeOption = 60.0,
    node_limit: Annotated[int, typer.Option("--node-limit", min=1, help="Leaves a record's trees may have.")] = 30_000,
    seed: SeedOption = 0,
    folder: FolderOption = None,
) -> None:
    """Solve models again whose gap is larger than --gap, and keep whichever ends are better; exit 2 if one could not be."""
    from dalenius.catalogue.ratchet import tighten, write_index

    home, failed = _library_home(folder), False
    try:
        for model in [library_model(name, home) for name in names] if names else library(set, home):
            try:
                entry = tighten(model, home, gap=gap, time_limit=time_limit, node_limit=node_limit, seed=seed)
            except dl.InputError as error:
                err.print(escape(str(error)))
                failed = True
                continue
            out.print(f"{model.name}: {'unchanged' if entry is None else entry.interval}", markup=False)
    finally:  # of what is kept before an interrupt, too
        write_index(home)
    if failed:
        raise typer.Exit(2)


@library_app.command("submit")
def library_submit(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="Of one of the library's models.")],
    by: Annotated[str, typer.Option("--by", help="Who found it; by default the certificate's producer.")] = "",
    folder: FolderOption = None,
) -> None:
    """Prove CERTIFICATE and store what it makes tighter; exit 2, and nothing changed, if it is not proved or no tighter."""
    from dalenius.catalogue.ratchet import submit, write_index

    home = _library_home(folder)
    found = dl.Certificate.read(certificate)
    with naming(certificate):
        entry = submit(found, home, by=by)
    write_index(home)
    out.print(f"{entry.name}: {entry.interval}", markup=False)


@library_app.command("index")
def library_index(folder: FolderOption = None) -> None:
    """Write the index, INDEX.md and index.csv."""
    from dalenius.catalogue.ratchet import write_index

    for path in write_index(_library_home(folder)):
        out.print(str(path), markup=False)


def _library_home(folder: Path | None) -> Path:
    return library_folder() if folder is None else folder
