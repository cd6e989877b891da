"""The command measure: every measure of what a mechanism tells."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.shared import UnitsOption, listed, out, status_line, write_json

__all__ = ["measure"]

WIDTH = 160  # of a table where the terminal is narrower


def measure(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A model file, a name from `dalenius list`, a mechanism's file (.json), or a channel (.csv): outputs' names in "
            "line 1, an input a line, its probability in a column named prior.",
        ),
    ],
    units: UnitsOption = "nats",
    as_json: Annotated[
        bool, typer.Option("--json", help="A JSON list on standard output, an object a measure.")
    ] = False,
    prior: Annotated[
        str | None, typer.Option("--prior", help="The law of a mechanism's or channel's inputs, with commas.")
    ] = None,
    law: Annotated[
        str | None, typer.Option("--law", help="The law of a model's records, a probability a letter, with commas.")
    ] = None,
    mechanism: Annotated[
        Path | None, typer.Option("--mechanism", help="The mechanism's file, where MODEL is a design.")
    ] = None,
    epsilon: Annotated[
        str, typer.Option("--epsilon", help="Add the deltas for each of these, with commas: 0.5, 1 bits, log 3.")
    ] = "",
    delta: Annotated[str, typer.Option("--delta", help="Add the least epsilons for each of these, with commas.")] = "",
    outputs: Annotated[
        bool, typer.Option("--outputs", help="Add the pointwise maximal leakage and the probability of each output.")
    ] = False,
) -> None:
    """Show every leakage measure of MODEL's mechanism: intervals that hold, rounded outward.

    Of a model it is about one record, the others being independent; of a mechanism's file or a channel, about the input.
    """
    subject = _subject(model)
    with status_line("measure") as progress:
        found = dl.measure(
            subject,
            prior=None if prior is None else listed(prior, "--prior"),
            law=None if law is None else dl.Iid(listed(law, "--law")),
            mechanism=None if mechanism is None else dl.DesignedMechanism.load(mechanism),
            epsilon=[text.strip() for text in listed(epsilon, "--epsilon")],
            delta=[text.strip() for text in listed(delta, "--delta")],
            outputs=outputs,
            units=units,
            progress=progress,
        )
    if as_json:
        write_json([dataclasses.asdict(row) for row in found])
        return
    table = Table("measure", "value", "units", "what it is", box=None, pad_edge=False)
    for column in table.columns[:3]:
        column.no_wrap = True
    for row in found.table():
        table.add_row(*map(escape, row))
    out.print(found.about, markup=False, emoji=False)
    out.print()
    Console(highlight=False, width=max(out.width, WIDTH)).print(table)


def _subject(model: str) -> dl.Problem | dl.Mechanism | Path:
    """What MODEL names, by its ending."""
    suffix = Path(model).suffix.lower()
    if suffix == ".csv":
        return Path(model)
    return dl.DesignedMechanism.load(model) if suffix == ".json" else dl.load(model_path(model))
