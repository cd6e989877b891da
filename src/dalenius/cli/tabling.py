"""The command table: epsilons by size of household, for whoever chooses one."""

from __future__ import annotations

import math
from pathlib import Path

import dalenius as dl
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.people import asked_about, people_of
from dalenius.cli.shared import drawn, listed, out, status_line
from dalenius.errors import InputError, brief
from dalenius.exact import fraction_text
from dalenius.files import need_folder, write_all
from dalenius.model.elsewhere import People
from dalenius.report import epsilon_picture, epsilon_table
from dalenius.report.audit import question_of
from dalenius.report.epsilons import EPSILONS, SIZES, EpsilonTable

QUERIES = f"What is released: count, sum, histogram, mean with --values, or tables of 2 x 3 answers: '{dl.queries.Margins.example}'."


def table(
    people: int | None = None,
    query: str | None = None,
    alphabet: int | None = None,
    values: str | None = None,
    table: Path | None = None,
    answer: str | None = None,
    household: str | None = None,
    letters: str | None = None,
    epsilons: str = ",".join(EPSILONS),
    blocks: str | None = None,
    output: Path | None = None,
    gap: float = 1e-2,
    time_limit: float = 60.0,
    as_json: bool = False,
) -> None:
    """Show what each epsilon comes to, by size of household: bits, share of all there is, the best guess, group privacy beside it.

    Parameters
    ----------
    people : --people 1..
        How many people; or --table, which has them and their households.
    query
        {QUERIES}
    alphabet : --alphabet 2..
        How many answers a person can give: 2, no and yes, or more.
    epsilons : --epsilon
        One person's epsilons, with commas.
    blocks : --blocks, --households
        Sizes of households, with commas, inside which answers are correlated in any way: by default 1, 2, 4; of --table those
        of them below the largest that it has, and this one.
    output : -o, --output FOLDER
        Folder for epsilon.md, epsilon.csv and epsilon.png.
    gap
        How far apart both ends may be, in shares of the upper one.
    time_limit
        Seconds for all rows; inf for no limit.
    """
    given = {"--people": people, "--alphabet": alphabet, "--query": query}
    known = people_of(table, given, {"--answer": answer, "--household": household, "--letters": letters}, values)
    if people is None and known is None:
        raise InputError("expected --people N, or --table FILE")
    records, asked, mean = asked_about(given, values, known)
    crowd = records.records if isinstance(records, People) else records
    homes = SIZES if known is None else [size for size, _ in known.blocks.sizes_of(crowd)]
    largest = min(max(homes), len(crowd))
    released = mean or asked or ("count" if known is None else question_of(dl.discrete_laplace(1), known).query)
    by_default = sorted({size for size in SIZES if size < largest} | {largest})
    sizes = listed(blocks, "--blocks") if blocks else [str(size) for size in by_default]
    if not all(size.strip().isdecimal() for size in sizes):
        raise InputError(f"--blocks: expected sizes of households with commas, 1,2,4; got {brief(blocks)}")
    if output is not None:
        need_folder(output, make=True)
    with status_line("table") as progress:
        found = epsilon_table(
            released,
            None if mean else crowd,
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
