"""A channel as a csv file: the outputs' names in the first line, an input a line, and its probability in a column named prior."""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction
from pathlib import Path

from dalenius.errors import InputError
from dalenius.exact import as_fraction, as_law
from dalenius.files import read_text

PRIOR = "prior"
_BARE = re.compile(r"^(?P<sign>-?)\.(?=[0-9])")  # as many programs write 0.5: .5

Laws = list[list[Fraction]]


def read_table(path: str | Path) -> tuple[Laws, list[str], list[Fraction] | None]:
    """The rows of the channel, the names of the outputs, and the prior, if there is such a column.

    Raises
    ------
    InputError
        If the file cannot be read, is no table of numbers, has no outputs or no inputs, or its first line may be an input's: read as
        names, it would be left out; the message names file and line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "channel.csv"
    ...     _ = path.write_text("prior,no,yes\\n.5,0.9,0.1\\n0.5,1/3,2/3\\n")
    ...     read_table(path)[1:]
    (['no', 'yes'], [Fraction(1, 2), Fraction(1, 2)])
    """
    lines = csv.reader(io.StringIO(read_text(path, "a csv file", encoding="utf-8-sig"), newline=""), strict=True)
    rows: Laws = []
    try:
        names = [name.strip() for name in next(lines, [])]
        if _is_law(names):
            raise InputError(
                f"{path}: line 1 could be a row of probabilities; begin with a line of names that could not, such as "
                f"{','.join(f'y{j}' for j in range(1, min(len(names), 3) + 1))}{',...' if len(names) > 3 else ''}"
            )
        for row in lines:
            if row:
                where = f"{path}: line {lines.line_num}"
                if len(row) != len(names):
                    raise InputError(f"{where}: expected an entry for each of the {len(names)} columns, got {len(row)}")
                rows.append([as_fraction(_number(entry), where) for entry in row])
    except csv.Error as error:
        raise InputError(f"{path}: line {lines.line_num}: {error}") from None
    if len(set(names)) < len(names) or names.count(PRIOR) == len(names) or not rows:
        raise InputError(
            f"{path}: line 1 must name the outputs, all different (and, if there is one, the column {PRIOR}), and every further line "
            "list the probabilities of one input"
        )
    if PRIOR not in names:
        return rows, names, None
    place = names.index(PRIOR)
    prior = [row.pop(place) for row in rows]
    return rows, names[:place] + names[place + 1 :], prior


def _number(entry: str) -> str:
    return _BARE.sub(r"\g<sign>0.", entry.strip())


def _is_law(names: list[str]) -> bool:
    """True if they could be the probabilities of an input, as 0 and 1 could; not if they are numbers of another sum."""
    try:
        return bool(as_law([_number(name) for name in names], "line 1"))
    except InputError:
        return False
