"""The command compare: the certified solver beside its rivals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.shared import GapOption, JsonOption, ModelArgument, drawn, listed, make_folder, out, write_json
from dalenius.files import write_whole
from dalenius.intervals import interval_text
from dalenius.model import digest

__all__ = ["compare"]


def compare(
    model: ModelArgument,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Names with commas; all that fit by default.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Starts of each rival.")] = 5,
    budget: Annotated[float, typer.Option("--budget", help="Seconds for each method.")] = 10.0,
    gap: GapOption = 1e-3,
    as_json: JsonOption = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for table and picture.")] = None,
) -> None:
    """The certified solver beside the source paper's algorithms and other rivals on MODEL; with -o value against time as a picture."""
    path = model_path(model)
    problem = dl.load(path)
    if output is not None:
        make_folder(output)
    comparison = dl.compare(
        problem, methods=None if methods is None else listed(methods, "--methods"), seeds=seeds, budget=budget, gap=gap
    )
    written = [] if output is None else _write_comparison(comparison, output / f"{path.stem}.compare")
    if as_json:
        write_json(_comparison_answer(comparison, path, written))
    else:
        _print_comparison(comparison)
        for file in written:
            out.print(file, markup=False)


def _write_comparison(comparison: dl.Comparison, stem: Path) -> list[str]:
    """The table, and the picture where matplotlib is installed."""
    from dalenius.report import comparison_picture, comparison_table

    table = write_whole(f"{stem}.csv", comparison_table(comparison))
    title = comparison.problem.title or stem.stem
    return [str(table), *drawn(lambda: comparison_picture(comparison, f"{stem}.png", title=title))]


def _comparison_answer(comparison: dl.Comparison, path: Path, written: list[str]) -> dict[str, Any]:
    entries = [
        {
            "method": entry.method,
            "starts": entry.seeds,
            "value": entry.value,
            "first_start": None if math.isnan(entry.first) else entry.first,
            "claimed": entry.claimed,
            "shortfall": entry.shortfall,
            "violation": entry.violation,
            "iterations": entry.iterations,
            "evaluations": entry.evaluations,
            "seconds": round(entry.seconds, 3),
            "seconds_to_gap": None if entry.reached is None else round(entry.reached, 3),
        }
        for entry in comparison.entries
    ]
    return {
        "model": str(path),
        "digest": digest(comparison.problem),
        "lower": comparison.lower,
        "upper": comparison.upper,
        "units": comparison.units,
        "gap": comparison.gap,
        "termination": comparison.termination.value,
        "methods": entries,
        "files": written,
    }


def _print_comparison(comparison: dl.Comparison) -> None:
    heads = (
        "method",
        "starts",
        "value",
        "uniform start",
        "shortfall",
        "violation",
        "iterations",
        "evaluations",
        "s",
        "s to gap",
    )
    table = Table(*heads, box=None, pad_edge=False)
    for entry in comparison.entries:
        table.add_row(
            entry.method,
            str(entry.seeds),
            comparison.value_text(entry.value, 8),
            comparison.value_text(entry.first, 8) or "-",
            f"{entry.shortfall:.2%}",
            f"{entry.violation:.1e}",
            str(entry.iterations) if entry.iterations else "-",
            str(entry.evaluations) if entry.evaluations else "-",
            f"{entry.seconds:.2f}",
            "never" if entry.reached is None else f"{entry.reached:.2f}",
        )
    Console(highlight=False, width=max(out.width, 120)).print(table)
    unit = "" if comparison.quantity is dl.Quantity.DISTORTION else f" {comparison.units}"
    out.print(f"certified  {interval_text(comparison.lower, comparison.upper)}{unit}; {comparison.termination.advice}")
