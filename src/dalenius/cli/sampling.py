"""The command audit-samples: what runs of a black box say. Statistical, never a proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Argument, Option

import dalenius as dl
from dalenius.cli.shared import JsonOption, SeedOption, listed, out, status_line, write_json
from dalenius.errors import InputError, brief
from dalenius.exact import as_fraction
from dalenius.files import csv_column
from dalenius.intervals import text_below
from dalenius.statistics import SampledLeakage
from dalenius.statistics.counts import LABEL, MOST


def audit_samples(
    runs: Annotated[
        Path,
        Argument(metavar="RUNS", help="A csv file with names in its first line, and a run of the black box a line."),
    ],
    records: Annotated[
        str,
        Option("--records", help="The columns with the data that the run was given, a record each, with commas."),
    ],
    outputs: Annotated[str, Option("--outputs", help="The columns with what came out, with commas.")],
    confidence: Annotated[float, Option("--confidence", help="Of the answer, for all records together.")] = 0.95,
    words: Annotated[
        bool,
        Option(
            "--words",
            help="Count: one column of inputs and one of outputs, as words; few of each, runs planned an input.",
        ),
    ] = False,
    given_others: Annotated[
        bool, Option("--given-others", help="What is told to somebody who knows all other records.")
    ] = False,
    critic: Annotated[str, Option("--critic", help="bins or neurons.")] = "bins",
    seed: SeedOption = 0,
    units: Annotated[str, Option("--units", help="nats or bits.")] = "bits",
    as_json: JsonOption = False,
) -> None:
    """A lower confidence bound on the leakage of a black box, from samples: statistical, never a proof, and never a certificate.

    Every run needs new, independent data and new noise. That a black box tells little cannot be learnt in this way.
    """
    if words:
        ignored = {"--given-others": given_others, "--critic": critic != "bins", "--seed": seed != 0}
        if told := [name for name, said in ignored.items() if said]:
            raise InputError(f"{', '.join(told)}: counting words (--words) has no use for them; leave them out")
    columns = [
        [[entry.strip() for _, entry in csv_column(runs, name)] for name in _names(text, option)]
        for text, option in ((records, "--records"), (outputs, "--outputs"))
    ]
    with status_line("audit-samples"):
        if words:
            found = _counted(*columns, confidence=confidence, units=units)
        else:
            data, released = (np.array([_numbers(runs, column) for column in side]).T for side in columns)
            found = dl.audit_samples(
                data, released, confidence=confidence, given_others=given_others, critic=critic, seed=seed, units=units
            )
    if as_json:
        write_json(vars(found) | {"label": LABEL})
        return
    out.print(str(found))
    if found.epsilon is not None:
        out.print(f"differential privacy between these inputs: epsilon >= {text_below(found.epsilon, 4)} nats, jointly")


def _names(text: str, option: str) -> list[str]:
    """The columns that an option names, each once."""
    names = [name.strip() for name in listed(text, option)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{option}: expected each column once, got {', '.join(map(brief, twice))} more than once")
    return names


def _numbers(runs: Path, column: list[str]) -> list[float]:
    """What a column says; no message repeats it, as it may be data about people."""
    try:
        return [float(as_fraction(text, "entry")) for text in column]
    except (InputError, OverflowError):
        strange = [text for text in column if not _is_float(text)]
        what = "numbers in these columns; --words counts words" if strange else "finite numbers that doubles can hold"
        raise InputError(f"{runs}: expected {what}") from None


def _is_float(text: str) -> bool:
    """Whether it is a number to Python, though it may be infinite or none at all (nan)."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _counted(inputs: list[list[str]], outputs: list[list[str]], *, confidence: float, units: str) -> SampledLeakage:
    """Of one column of each."""
    if len(inputs) != 1 or len(outputs) != 1:
        raise InputError(
            f"--words: expected one column of inputs and one of outputs, got {len(inputs)} and {len(outputs)}"
        )
    given, rows = np.unique(inputs[0], return_inverse=True)
    came, places = np.unique(outputs[0], return_inverse=True)
    if given.size * came.size > MOST:
        raise InputError(
            f"--words: expected at most {MOST} pairs of an input and an output, got {given.size} inputs and {came.size} "
            "outputs; leave --words out where the columns are numbers"
        )
    counts = np.zeros((given.size, came.size), dtype=np.int64)
    np.add.at(counts, (rows, places), 1)
    return dl.audit_counts(counts, confidence=confidence, units=units)
