"""What several commands use: the two consoles, common options, a status line, errors that name a file, mechanisms written."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

import dalenius as dl
from dalenius.files import write_whole
from dalenius.intervals import interval_text

__all__ = [
    "GapOption",
    "JsonOption",
    "ModelArgument",
    "SeedOption",
    "TimeOption",
    "UnitsOption",
    "drawn",
    "err",
    "listed",
    "make_folder",
    "naming",
    "out",
    "status_line",
    "write_json",
    "write_mechanism",
]

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or a name from `dalenius list`.")]
GapOption = Annotated[float, typer.Option("--gap", help="Relative gap at which to stop.")]
TimeOption = Annotated[float, typer.Option("--time-limit", help="Seconds to search.")]
UnitsOption = Annotated[str, typer.Option("--units", help="nats or bits.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of the random starts.")]


def listed(text: str, option: str) -> list[str]:
    """The members of an option's list with commas, quoted as in a csv file where they hold one."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise dl.InputError(f"{option}: {error}") from None


def write_json(answer: Any) -> None:
    """One JSON value, and nothing else, on standard output."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


@contextmanager
def naming(path: Path | None) -> Iterator[None]:
    """Errors about what stands in a file begin with its name."""
    try:
        yield
    except dl.InputError as error:
        raise (error if path is None else dl.InputError(f"{path}: {error}")) from None


@contextmanager
def status_line(what: str) -> Iterator[Any]:
    """A status line on standard error while something runs; nothing where standard error is no terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(moment: dl.Progress) -> None:
            bar.update(task, description=_moment(what, moment))

        yield show


def _moment(what: str, moment: dl.Progress) -> str:
    """A line for a moment of an audit or of a design."""
    place = f", record {moment.record}" if moment.record is not None else ""
    place += f", round {moment.rounds}" if moment.rounds else ""
    ends = f"{interval_text(moment.lower, moment.upper)} {moment.units}"
    return f"{what}: {moment.stage}{place}, evidence of {moment.evidence} pieces, {ends}"


def drawn(draw: Callable[[], Path]) -> list[str]:
    """The file of the picture that is drawn; none, and a word about it, where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        err.print("no picture: matplotlib is not installed (pip install 'dalenius\\[plot]')")
        return []
    return [str(draw())]


def make_folder(folder: Path) -> None:
    """The folder, with those above it, if it is not there; `InputError` if it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise dl.InputError(f"{folder}: cannot be made a folder: {error.strerror or error}") from None


def write_mechanism(problem: dl.DesignProblem, result: dl.DesignResult, stem: Path) -> bool:
    """The mechanism, if there is one; against an adversary also the audit of it as a model with its certificate."""
    if result.mechanism is None:
        return False
    result.mechanism.save(f"{stem}.mechanism.json")
    if result.audit is None:
        return True
    write_whole(f"{stem}.mechanism.toml", dl.dumps(problem.release(result.mechanism.rows)))
    result.audit.certificate.write(f"{stem}.mechanism.cert")
    return True
