"""Who is asked about, and what is released: the options that `audit`, `noise` and `table` share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Option

import dalenius as dl
from dalenius.cli.shared import listed, naming
from dalenius.errors import InputError
from dalenius.exact import as_fraction
from dalenius.files import csv_column
from dalenius.model.elsewhere import People
from dalenius.model.problems import Mean

MEAN = "mean"
KEPT = ("--noise", "--mechanism", "--query")  # said beside a table

ValuesOption = Annotated[
    str | None,
    Option("--values", metavar="LOW,HIGH[,STEP]", help="Of a mean: public bounds of the values, and their grid."),
]
TableOption = Annotated[
    Path | None,
    Option(
        "--table",
        "--data",
        help="Instead of --people and --blocks: a csv file with a line a person, names in line 1.",
    ),
]
AnswerOption = Annotated[str | None, Option("--answer", "--column", help="Of --table: the column with the answers.")]
HouseholdOption = Annotated[
    str | None, Option("--household", help="Of --table: the column that says who lives with whom.")
]
LettersOption = Annotated[
    str | None,
    Option("--letters", help="Of --table: all answers there could be, with commas: no,yes counts yes."),
]


def mean_of(query: str | None, values: str | None, people: int | None, alphabet: int | None = None) -> Mean | None:
    """The mean that --query and --values ask for; None where something else is released."""
    if (query == MEAN) != (values is not None):
        raise InputError("--query mean, --values LOW,HIGH: expected both, or neither")
    if values is None or people is None:
        return None
    if alphabet is not None:
        raise InputError("--alphabet: --values says so already; leave it out")
    return Mean(people, *_bounds(values))


def people_of(
    table: Path | None, given: Mapping[str, Any], columns: dict[str, str | None], values: str | None = None
) -> People | None:
    """The people of a table, where one is given; no message repeats what stands in it.

    Parameters
    ----------
    given : mapping of options to what was said
        But for `--mechanism` and `--query` the table says it already.
    columns : dict
        Of `--answer`, `--household` and `--letters`; the last are those of a mean where there are its `values`.
    """
    said = [name for name, value in columns.items() if value is not None]
    if table is None:
        if said:
            homes = columns["--household"] or ""
            meant = f"; households of at most {homes} people are --blocks {homes}" if homes.isdecimal() else ""
            raise InputError(f"{', '.join(said)}: expected with --table FILE{meant}")
        return None
    if twice := [name for name, value in given.items() if value is not None and name not in KEPT]:
        raise InputError(f"{', '.join(twice)}: --table says so already; leave them out")
    if values is not None:
        if columns["--letters"] is not None:
            raise InputError("--letters: --values says so already; leave it out")
        columns = {**columns, "--letters": ""}
    if missing := [name for name, value in columns.items() if value is None]:
        raise InputError(
            f"--table: expected {', '.join(missing)}, too: the columns, and every answer there may be, whether or not it occurs. "
            "Where people are independent of each other, --household is a column that is different in every line"
        )
    answers, homes, listed_ = (str(value) for value in columns.values())
    texts = [letter.strip() for letter in listed(listed_, "--letters")]
    known = {answers: texts, homes: ()}
    read = {name: [text.strip() for _, text in csv_column(table, name, entries=known[name])] for name in known}
    with naming(table):
        if values is not None:
            texts, read[answers] = _on_grid(read[answers], values)
        return dl.from_frame(
            {name: [text or None for text in column] for name, column in read.items()},
            answer=answers,
            household=homes,
            letters=texts,
        )


def _on_grid(column: list[str], values: str) -> tuple[list[str], list[str]]:
    """The names of a mean's grid, and for each answer that there is the nearest one."""
    mean = Mean(max(len(column), 1), *_bounds(values))
    names = mean.records.letters
    there = [text for text in column if text]
    if unread := sum(not _is_number(text) for text in there):
        raise InputError(f"--query mean: expected numbers, but {unread} of {len(there)} answers are none")
    nearest = iter(mean.letters(there))
    return list(names), [names[next(nearest)] if text else "" for text in column]


def _is_number(text: str) -> bool:
    try:
        as_fraction(text, "")
    except InputError:
        return False
    return True


def _bounds(values: str) -> list[str]:
    bounds = [bound.strip() for bound in listed(values, "--values")]
    if len(bounds) not in (2, 3):
        raise InputError(f"--values: expected LOW,HIGH or LOW,HIGH,STEP, got {len(bounds)} numbers")
    return bounds
