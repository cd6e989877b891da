"""Data about people, from a csv file: the letters of the records, and what the texts in it stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dalenius.errors import InputError
from dalenius.exact import as_list, brief
from dalenius.files import csv_column
from dalenius.model import Records

__all__ = ["letter_texts", "read_letters"]


def letter_texts(records: Records, texts: Sequence[str] | None = None) -> list[str]:
    """The texts that stand for letter 0, 1, ...; `InputError` unless there is one for each letter of the largest alphabet.

    >>> letter_texts(Records(2, alphabet=3))
    ['0', '1', '2']
    """
    largest = max(records.alphabets)
    texts = list(map(str, range(largest))) if texts is None else as_list(texts, "letters")
    if len(texts) != largest or len(set(texts)) < largest:
        raise InputError(
            f"letters: expected {largest} different texts, for the letters 0 to {largest - 1}, got {brief(texts)}"
        )
    return texts


def read_letters(
    path: str | Path, records: Records, column: str | None = None, texts: Sequence[str] | None = None
) -> list[int]:
    """The letters of the records, from a csv file with names in its first line and one record in each line below.

    Parameters
    ----------
    column : str, optional
        A name in the first line; left out: the only column.
    texts : sequence of str, optional
        The texts that stand for letter 0, 1, ...; left out: the numbers themselves.

    Raises
    ------
    InputError
        If the texts do not fit the alphabets, the file cannot be read, or there are not as many records. Errors name the line; what
        stands in it is nobody's business.
    """
    texts, largest = letter_texts(records, texts), max(records.alphabets)
    letter_of = {text: letter for letter, text in enumerate(texts)}
    letters: list[int] = []
    for line, text in csv_column(path, column, gaps=False):
        record = len(letters)
        if record == len(records):
            raise InputError(f"{path}: line {line}: one record too many; the model has {len(records)}")
        letter = letter_of.get(text, largest)
        if letter >= records.alphabets[record]:
            known = brief(texts[: records.alphabets[record]])
            raise InputError(
                f"{path}: line {line}: the entry (not shown) is none of record {record}'s letters, {known}"
            )
        letters.append(letter)
    if len(letters) < len(records):
        raise InputError(f"{path}: ends after {len(letters)} records; the model has {len(records)}, one a line")
    return letters
