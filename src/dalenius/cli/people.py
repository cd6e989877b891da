"""The people and the release that are asked about, as the options of `audit`, `noise` and `table` say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.cli.shared import err, listed, need_none, words_of
from dalenius.errors import InputError, brief, naming
from dalenius.exact import as_fraction, fraction_text
from dalenius.files import csv_column
from dalenius.model.elsewhere import FileTable, People
from dalenius.model.problems import Mean
from dalenius.model.queries.margins import SEPARATOR

MEAN = "mean"
KEPT = ("--noise", "--mechanism", "--query")  # said beside a table
MEANT = {
    "--answer": "the column with the answers, or several with commas",
    "--household": (
        "the column that says who lives with whom; where people are independent of each other, one that is different in every line"
    ),
    "--letters": "every answer there may be, whether or not it occurs: no,yes, and of several columns f,m;no,yes",
}


def mean_of(query: str | None, values: str | None, people: int | None, alphabet: int | None = None) -> Mean | None:
    """The mean that --query and --values ask for; None where something else is released."""
    if (query == MEAN) != (values is not None):
        raise InputError("--query mean, --values LOW,HIGH: expected both, or neither")
    if values is None or people is None:
        return None
    need_none({"--alphabet": alphabet}, "--values says so already; leave it out")
    return Mean(people, *_bounds(values))


def asked_about(
    given: Mapping[str, Any], values: str | None, people: People | None
) -> tuple[People | dl.Records, str | dl.queries.Margins | dl.Sum | None, Mean | None]:
    """People and query of --people, --alphabet, --query and --values, or of a table; and the mean whose sum they are about."""
    count = given["--people"] if people is None else len(people.records)
    mean = mean_of(given["--query"], values, count, given["--alphabet"])
    if mean is not None:
        return people or mean.records, mean.query, mean
    records = people or dl.Records(count, alphabet=given["--alphabet"] or 2)
    return records, margins_of(given["--query"], people), None


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
    if table is None:
        homes = columns["--household"] or ""
        meant = f"; households of at most {homes} people are --blocks {homes}" if homes.isdecimal() else ""
        need_none(columns, f"expected with --table FILE{meant}")
        return None
    need_none(
        {name: value for name, value in given.items() if name not in KEPT}, "--table says so already; leave them out"
    )
    if values is not None:
        need_none({"--letters": columns["--letters"]}, "--values says so already; leave it out")
        columns = {**columns, "--letters": ""}
    if missing := [name for name, value in columns.items() if value is None]:
        raise InputError(f"--table: expected, too: {'; '.join(f'{name}, {MEANT[name]}' for name in missing)}")
    answers, homes, listed_ = (str(value) for value in columns.values())
    texts = {name: words_of(group, "--letters") for name, group in _by_column(answers, listed_).items()}
    known = {**texts, homes: ()}
    read = {name: {line: text.strip() for line, text in csv_column(table, name, entries=known[name])} for name in known}
    rounding = ""
    with naming(table):
        if values is not None:
            texts[answers], read[answers], rounding = _on_grid(read[answers], values)
        people = dl.from_frame(
            FileTable({name: [text or None for text in read[name].values()] for name in read}, lines=[*read[homes]]),
            answer=[*texts],
            household=homes,
            letters=texts,
        )
    if rounding:
        err.print(rounding)
    return people


def warn_of_sizes(table: Path | None, models: Sequence[str | Path]) -> None:
    """Say on standard error which of the models that were written state the households of a table."""
    if table is not None and models:
        err.print(
            f"WARNING: {' and '.join(map(str, models))} {'states' if len(models) == 1 else 'state'} the size of every household in "
            f"{table}; hand on only what may be known (docs/release.md)"
        )


def _by_column(answers: str, letters: str) -> dict[str, str]:
    """The letters of --letters by column of --answer; several are told by commas there, and semicolons here."""
    if "," not in answers or ";" not in letters:
        return {answers: letters}
    names, groups = words_of(answers, "--answer"), letters.split(";")
    if len(groups) != len(set(names)):
        raise InputError(
            f"--letters: expected the answers of {len(set(names))} columns, parted by semicolons, got {len(groups)}"
        )
    return dict(zip(dict.fromkeys(names), groups, strict=True))


def texts_of(letters: str, answers: str) -> list[str]:
    """The texts in --letters; of several columns one for each combination of their answers, as a model of these people has it.

    >>> texts_of("no,yes", "smoker"), texts_of("f,m;1,2", "sex,age")
    (['no', 'yes'], ['f, 1', 'f, 2', 'm, 1', 'm, 2'])
    """
    if len(columns := _by_column(answers, letters)) == 1:
        return listed(letters, "--letters")
    return [SEPARATOR.join(each) for each in product(*(words_of(group, "--letters") for group in columns.values()))]


def margins_of(query: str | None, people: People | None) -> str | dl.queries.Margins | None:
    """The tables that --query names by the columns of --table, `margins sex,age,sex*age`, or all of so many; else the same.

    >>> people = dl.from_frame({"home": [1, 2], "sex": ["f", "m"], "age": [1, 2]}, answer=["sex", "age"], household="home")
    >>> margins_of("margins 1", people).tables, margins_of("margins age, age*sex", people).tables
    (((0,), (1,)), ((1,), (0, 1)))
    """
    kind, _, rest = (query or "").strip().partition(" ")
    if kind != dl.queries.Margins.kind or people is None or "=" in rest:
        return query
    if rest.strip().isdecimal():
        return dl.queries.Margins.lattice(people.attributes, int(rest))
    names = people.answer.split(SEPARATOR)
    tables = [[name.strip() for name in table.split("*")] for table in listed(rest, "--query")]
    if strange := [name for table in tables for name in table if name not in names] or ([] if tables else [""]):
        raise InputError(
            f"--query margins: expected tables by the columns in --answer, {', '.join(names)}, such as {'*'.join(names)}, or a number "
            f"of columns for all tables of at most so many; got {brief(strange[0])}"
        )
    return dl.queries.Margins(people.attributes, [sorted({names.index(name) for name in table}) for table in tables])


def _on_grid(column: dict[int, str], values: str) -> tuple[list[str], dict[int, str], str]:
    """The names of a mean's grid; for each answer that there is, by its line, the nearest one; and what is to be said of that."""
    mean = Mean(max(len(column), 1), *_bounds(values))
    names = mean.records.letters
    there = {line: text for line, text in column.items() if text}
    numbers = {text: number for text in {*there.values()} if (number := _number(text)) is not None}
    if unread := [line for line, text in there.items() if text not in numbers]:
        raise InputError(
            f"--query mean: expected numbers, but {len(unread)} of {len(there)} answers are none (the first: line {unread[0]})"
        )
    letters = dict(zip(there, mean.letters([numbers[text] for text in there.values()]), strict=True))
    off = sum(numbers[text] != mean.low + letters[line] * mean.step for line, text in there.items())
    told = (
        f"{off} of {len(there)} answers lie between steps of {fraction_text(mean.step)} and are rounded: that moves the mean by at "
        f"most {fraction_text(mean.step / 2)}, and what is proved is about the rounded answers"
    )
    rounded = {line: names[letters[line]] if line in letters else "" for line in column}
    return list(names), rounded, told if off else ""


def _number(text: str) -> Fraction | None:
    with suppress(InputError):
        return as_fraction(text, "")
    return None


def _bounds(values: str) -> list[str]:
    bounds = words_of(values, "--values")
    if len(bounds) not in (2, 3):
        raise InputError(f"--values: expected LOW,HIGH or LOW,HIGH,STEP, got {len(bounds)} numbers")
    return bounds
