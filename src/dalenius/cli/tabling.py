"""The command table: epsilons by size of household, for whoever chooses one."""

from __future__ import annotations

import math
from pathlib import Path

import dalenius as dl
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.people import mean_of
from dalenius.cli.shared import drawn, listed, out, status_line
from dalenius.errors import InputError, brief
from dalenius.exact import fraction_text
from dalenius.files import need_folder, write_all
from dalenius.report import epsilon_picture, epsilon_table
from dalenius.report.epsilons import EPSILONS, SIZES, EpsilonTable

QUERIES = f"What is released: count, sum, histogram, mean with --values, or tables of 2 x 3 answers: '{dl.queries.Margins.example}'."


def table(
    people: int,
    query: str = "count",
    alphabet: int = 2,
    values: str | None = None,
    epsilons: str = ",".join(EPSILONS),
    blocks: str = ",".join(map(str, SIZES)),
    output: Path | None = None,
    gap: float = 1e-2,
    time_limit: float = 60.0,
    as_json: bool = False,
) -> None:
    """Show what each epsilon comes to, by size of household: bits, share of all there is, the best guess, group privacy beside it.

    Parameters
    ----------
    query
        {QUERIES}
    alphabet : --alphabet 2..
        How many answers a person can give: 2, no and yes, or more.
    epsilons : --epsilon
        One person's epsilons, with commas.
    blocks : --blocks, --households
        Sizes of households, with commas, inside which answers are correlated in any way.
    output : -o, --output FOLDER
        Folder for epsilon.md, epsilon.csv and epsilon.png.
    gap
        How far apart both ends may be, in shares of the upper one.
    time_limit
        Seconds for all rows; inf for no limit.
    """
    mean = mean_of(query, values, people, alphabet if alphabet > 2 else None)
    released = (query, dl.Records(people, alphabet=alphabet)) if mean is None else (mean,)
    sizes = listed(blocks, "--blocks")
    if not all(size.strip().isdecimal() for size in sizes):
        raise InputError(f"--blocks: expected sizes of households with commas, 1,2,4; got {brief(blocks)}")
    if output is not None:
        need_folder(output, make=True)
    with status_line("table") as progress:
        found = epsilon_table(
            *released,
            epsilons=listed(epsilons, "--epsilon"),
            sizes=list(map(int, sizes)),
            gap=gap,
            time_limit=None if math.isinf(time_limit) else time_limit,
            progress=progress,
        )
    files = [] if output is None else _written(found, output)
    if as_json:
        names = [f"epsilon {fraction_text(row.epsilon)}, household of {row.size}" for row in found.rows]
        bounds = [Ends(name, *row.bits, "bits") for name, row in zip(names, found.rows, strict=True)]
        write_answer("table", {"rows": [row.told() for row in found.rows], "files": files}, bounds)
        return
    out.print(str(found))
    for path in files:
        out.print(f"wrote {path}")


def _written(found: EpsilonTable, folder: Path) -> list[str]:
    """The tables, whole or not at all; then the picture."""
    contents: dict[Path, str | bytes] = {folder / "epsilon.md": f"{found}\n", folder / "epsilon.csv": found.csv()}
    write_all(contents, folder)
    return [*map(str, contents), *drawn(lambda: epsilon_picture(found), folder / "epsilon.png")]
