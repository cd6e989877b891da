"""Parts shared by several commands: the two consoles, JSON, a status line, errors that name a file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import dalenius as dl
from dalenius._answers_json import plain
from dalenius.catalogue.models import model_path
from dalenius.errors import InputError, naming
from dalenius.files import MAX_INPUT
from dalenius.intervals import interval_text
from dalenius.model import Problem
from dalenius.search import stop_requested
from dalenius.search.clock import Progress
from dalenius.units import lower_in, unit_size, upper_in

PLAIN: Any = {"highlight": False, "markup": False, "emoji": False}  # what is printed stands there as it is
out = Console(**PLAIN, soft_wrap=True)
err = Console(**PLAIN, stderr=True, soft_wrap=True)


class Method(StrEnum):
    """Method that searches a design, or an audit's lower end."""

    EXCHANGE = "exchange"
    ALTERNATING = "alternating"


UNIFORM = dl.Uniform.kind
STANDARD_STREAM = "-"  # as the name of a file
STOPPING = "; interrupted: what is proved in a second and a half is kept, Ctrl-C again ends at once"


def units_shown(units: str | None, *, as_data: bool = False) -> str:
    """Units of --units; by default bits for people, nats for programs.

    >>> units_shown(None), units_shown(None, as_data=True), units_shown("nats")
    ('bits', 'nats', 'nats')
    """
    shown = units if units is not None else "nats" if as_data else "bits"
    unit_size(shown)
    return shown


def need_none(given: Mapping[str, object], why: str) -> None:
    """`InputError` that says why, with their names, if any of these options was given."""
    if said := [name for name, value in given.items() if value is not None and value is not False]:
        raise InputError(f"{', '.join(said)}: {why}")


def listed(text: str, option: str) -> list[str]:
    """The members of an option's list with commas, quoted as in a csv file where they hold one."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise InputError(f"{option}: {error}") from None


def words_of(text: str, option: str) -> list[str]:
    """The same without blanks around them."""
    return [member.strip() for member in listed(text, option)]


def homes_of(blocks: int | None, people: int | None) -> dl.IndependentBlocks | None:
    """The households of --blocks, none of more than all people."""
    if blocks is not None and people is not None and blocks > people:
        raise InputError(f"--blocks: expected households of at most all {people} people, got {blocks}")
    return None if blocks is None else dl.IndependentBlocks(blocks)


def law_of(text: str, option: str) -> dl.Uniform | dl.Iid:
    """The law that an option gives: uniform, or a probability a letter."""
    return dl.Uniform() if text.strip() == UNIFORM else dl.Iid(listed(text, option))


def print_table(
    heads: Iterable[str], rows: Iterable[Iterable[str]], *, width: int | None = None, kept: int = 0, right: bool = False
) -> None:
    """A table on standard output, its first columns unbroken and all but one flush right, if asked; as wide at least as is said."""
    table = Table(box=None, pad_edge=False)
    for k, head in enumerate(heads):
        table.add_column(head, no_wrap=k < kept, justify="right" if right and k else "left")
    for row in rows:
        table.add_row(*row)
    (out if width is None else Console(**PLAIN, width=max(out.width, width))).print(table)


def write_json(answer: object) -> None:
    """One JSON value, and nothing else, on standard output: of whatever answers are made of (`plain`)."""
    out.file.write(json.dumps(plain(answer), allow_nan=False) + "\n")
    out.file.flush()


def read_problem(model: str) -> tuple[str, str, Problem]:
    """Read a model: its name in answers, the stem of its files, and its problem; ``-`` is standard input.

    Raises
    ------
    InputError
        As `dalenius.load`.
    """
    if model != STANDARD_STREAM:
        path = model_path(model)
        return str(path), path.stem, dl.load(path)
    text = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(text) > MAX_INPUT:
        raise InputError(f"standard input: expected a model of at most {MAX_INPUT} bytes, and more came")
    with naming("standard input"):
        return STANDARD_STREAM, "stdin", dl.loads(text)


class _Doing(TextColumn):
    """Status text; after a signal it says that the results found so far are being proved."""

    def render(self, task: Task) -> Text:
        words = super().render(task)
        return words.append(STOPPING) if stop_requested() else words


@contextmanager
def status_line(what: str) -> Iterator[Any]:
    """A status line on standard error while something runs; nothing where standard error is no terminal."""
    columns = (SpinnerColumn(), _Doing("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(moment: Progress | str) -> None:
            told = f"{what}: {moment}" if isinstance(moment, str) else _moment(what, moment)
            bar.update(task, description=told)

        yield show


def _moment(what: str, moment: Progress) -> str:
    """A line for a moment of an audit or of a design."""
    place = f", record {moment.record}" if moment.record is not None else ""
    place += f", round {moment.rounds}" if moment.rounds else ""
    return f"{what}: {moment.stage}{place}, evidence of {moment.evidence} pieces, {bounds_of(moment)}"


def bounds_of(moment: Progress) -> str:
    """The bounds of a moment for people, leakages in bits."""
    if moment.units != "nats":
        return f"{interval_text(moment.lower, moment.upper)} {moment.units}"
    return f"{interval_text(lower_in(moment.lower, 'bits'), upper_in(moment.upper, 'bits'))} bits"


def drawn(draw: Callable[[], Any], picture: Path) -> list[str]:
    """The file of the picture that is drawn; none, and a word about it, where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        err.print("no picture: matplotlib is not installed (pip install 'dalenius[plot]')")
        return []
    from dalenius.report import save_picture

    return [str(save_picture(draw(), picture))]
