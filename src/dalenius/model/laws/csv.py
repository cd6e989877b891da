"""The law of the letters in a column of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import as_list, brief
from dalenius.files import csv_column
from dalenius.model.laws.iid import Iid
from dalenius.model.shelf import Shelved

__all__ = ["CsvLaw", "law_from_csv"]


@dataclass(frozen=True)
class CsvLaw(Shelved):
    """Where to read a law: a column of a csv file with names in its first line. No law itself; `read` makes it one.

    Parameters
    ----------
    file : str
        The path of a plain file in UTF-8 of at most 64 MiB, relative to the folder that `read` is told.
    column : str
        A name in the first line.
    letters : sequence of str
        The texts that stand for letter 0, 1, ..., all different.

    Raises
    ------
    InputError
        If a key is no text, or letters are repeated or missing.
    """

    kind: ClassVar[str] = "csv"
    file: str
    column: str
    letters: Sequence[str]

    def __post_init__(self) -> None:
        for name in ("file", "column"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"law: {name} must be a text, got {brief(getattr(self, name))}")
        letters = tuple(as_list(self.letters, "law: letters"))
        for a, letter in enumerate(letters):
            if not isinstance(letter, str):
                raise InputError(f"law: letters[{a}] must be the text that stands for letter {a}, got {brief(letter)}")
        if not letters or len(set(letters)) < len(letters):
            raise InputError(f"law: letters must be a non-empty list of different texts, got {brief(list(letters))}")
        object.__setattr__(self, "letters", letters)

    def read(self, folder: str | Path = "") -> Iid:
        """The shares of the letters among the lines of the file, as a law of independent records."""
        path = Path(folder) / self.file
        counts = Counter[str]()
        for line, text in csv_column(path, self.column):
            if text not in self.letters:
                raise InputError(
                    f"{path}: line {line}: the entry in column {brief(self.column)} (not shown) is none of the letters "
                    f"{brief(list(self.letters))}; list it, or clean the file"
                )
            counts[text] += 1
        if not counts:
            raise InputError(f"{path}: no lines below the first one; expected at least one to take shares of")
        return Iid([Fraction(counts[letter], counts.total()) for letter in self.letters])


def law_from_csv(path: str | Path, column: str, letters: Sequence[str]) -> Iid:
    """The law of independent records that a column of a csv file shows: each letter's share of the lines.

    Parameters
    ----------
    path : path
        A plain file in UTF-8 of at most 64 MiB, with the names of the columns in its first line.
    column : str
        The name of the column; other columns are not looked at.
    letters : sequence of str
        The texts that stand for letter 0, 1, ...

    Raises
    ------
    InputError
        If the file cannot be read, has no such column or no lines, or a line holds an unknown letter; the message names the line, and
        repeats nothing that stands in it.

    Notes
    -----
    The probabilities are the exact shares of the table: a design for this law, its certificate and its mechanism tell them to whoever
    gets these (docs/release.md).

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "survey.csv"
    ...     _ = path.write_text("age,smoker\\n41,no\\n29,yes\\n63,no\\n")
    ...     law_from_csv(path, "smoker", ["no", "yes"])
    Iid(probabilities=(Fraction(2, 3), Fraction(1, 3)))
    """
    return CsvLaw(str(path), column, letters).read()
