"""Datasets: a number of records, and the alphabet of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.information.arrays import Integers
from dalenius.model.fields import as_text, keep
from dalenius.model.shelf import Stated, check_keys

MAX_RECORDS = 1_000_000
MAX_ALPHABET = 10_000
MORE = (
    f". Of people in independent households, and a count, sum or table with noise that is not cut off, more of them change nothing: "
    f"write {MAX_RECORDS}"
)
MAX_ENUMERATED = 65_536
ADVICE = "Use a query that is computed from sums (parity, modular_sum, count, sum, threshold)"


@dataclass(frozen=True)
class Records(metaclass=Stated):
    """The records of a dataset; record i takes a letter 0, ..., alphabets[i] - 1.

    Parameters
    ----------
    count : int, optional
        Number of records, with `alphabet`.
    alphabet : int, optional
        Common alphabet size, with `count`.
    alphabets : sequence of int, optional
        One alphabet size a record; instead of the other two.
    answer : str, optional
        Name of what the letters are values of, such as a table's column; like `letters` it is carried along and carries no meaning.
    letters : sequence of str, optional
        Names of the letters 0, 1, ... of the largest alphabet.

    Raises
    ------
    InputError
        If neither or both forms are given, a size is no positive integer, or names are no texts or not one a letter.

    >>> Records(4, alphabet=2) == Records(alphabets=[2, 2, 2, 2])
    True
    >>> Records(alphabets=[2, 3]).datasets
    6
    """

    count: int
    alphabets: tuple[int, ...]
    answer: str = field(compare=False)
    letters: tuple[str, ...] = field(compare=False)

    def __init__(
        self,
        count: Integer | None = None,
        *,
        alphabet: Integer | None = None,
        alphabets: Sequence[Integer] | Integers = (),
        answer: str = "",
        letters: Sequence[str] = (),
    ) -> None:
        if (len(as_list(alphabets, "records: alphabets")) > 0) == (alphabet is not None):
            raise InputError("records: give either count and alphabet, or alphabets (one size a record)")
        if alphabet is not None:
            try:
                times = as_integer(count, "records: count", at_least=1, at_most=MAX_RECORDS)
            except InputError as error:
                raise InputError(f"{error}{MORE if isinstance(count, int) and count > MAX_RECORDS else ''}") from None
            sizes = (as_integer(alphabet, "records: alphabet", at_least=1, at_most=MAX_ALPHABET),) * times
        else:
            sizes = _sizes(alphabets)
            if count not in (None, len(sizes)):
                raise InputError(f"records: count is {brief(count)}, but alphabets lists {len(sizes)} records")
        named = as_list(letters, "records: letters")
        if named and len(named) != max(sizes):
            raise InputError(f"records: letters: expected {max(sizes)} texts, one for each letter, got {len(named)}")
        texts = [as_text(text, "records: letters") for text in named]
        keep(self, count=len(sizes), alphabets=sizes, answer=as_text(answer, "records: answer"), letters=tuple(texts))

    @classmethod
    def of_table(cls, table: Mapping[str, Any], where: str) -> Records:
        """The records that a model file's table describes."""
        check_keys(table, ("count", "alphabet", "alphabets", "answer", "letters"), where)
        if "alphabets" in table and not (isinstance(table["alphabets"], list | tuple) and table["alphabets"]):
            raise InputError(f"{where}: alphabets must be a non-empty list of integers")
        if "alphabets" in table and "count" in table:
            raise InputError(f"{where}: give either count and alphabet, or alphabets (one size a record)")
        return cls(table.get("count"), **{key: value for key, value in table.items() if key != "count"})

    def to_model(self) -> dict[str, Any]:
        """The table of a model file."""
        same = len(self.runs) == 1
        sizes = {"count": self.count, "alphabet": self.alphabets[0]} if same else {"alphabets": self.alphabets}
        names = {"answer": self.answer, "letters": self.letters}
        return sizes | {key: name for key, name in names.items() if name}

    def normal_form(self) -> list[tuple[int, int]]:
        """Data that the digest is taken of (docs/model-format.md)."""
        return self.runs

    def __repr__(self) -> str:
        if len(self.runs) == 1:
            return f"Records({self.count}, alphabet={self.alphabets[0]})"
        runs = " + ".join(f"[{size}] * {times}" for size, times in self.runs)
        return f"Records(alphabets={runs if self.count > 9 else [*self.alphabets]})"

    def __len__(self) -> int:
        return len(self.alphabets)

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """Consecutive records of equal alphabet, as (alphabet, times); of a million records they are counted once."""
        return [(size, len(list(group))) for size, group in itertools.groupby(self.alphabets)]

    @property
    def datasets(self) -> int:
        """|X|, the exact number of datasets."""
        return math.prod(size**times for size, times in self.runs)

    @property
    def log_datasets(self) -> float:
        """log |X| in nats."""
        return math.fsum(times * math.log(size) for size, times in self.runs)

    def dataset(self, letters: Sequence[Integer] | Integers) -> tuple[int, ...]:
        """The letters of a dataset, one a record, checked; an error does not repeat them.

        >>> Records(3, alphabet=2).dataset([0, 1, 1])
        (0, 1, 1)
        """
        listed = as_list(letters, "dataset")
        if len(listed) != len(self):
            raise InputError(f"dataset: expected one letter for each of the {len(self)} records, got {len(listed)}")
        for record, (letter, size) in enumerate(zip(listed, self.alphabets, strict=True)):
            number = getattr(letter, "item", lambda letter=letter: letter)()
            if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < size:
                raise InputError(f"dataset: the letter of record {record} must be an integer from 0 to {size - 1}")
        return tuple(map(int, listed))

    def index(self, letters: Sequence[Integer] | Integers) -> int:
        """The dataset's place in lexicographic order, record 0 slowest.

        >>> Records(alphabets=[2, 3]).index([1, 2])
        5
        """
        place = 0
        for letter, size in zip(self.dataset(letters), self.alphabets, strict=True):
            place = place * size + letter
        return place

    def letters_of_datasets(self, record: int) -> Integers:
        """The letter of a record in every dataset, in lexicographic order of the datasets; for few datasets.

        >>> Records(alphabets=[2, 3]).letters_of_datasets(1).tolist()
        [0, 1, 2, 0, 1, 2]
        """
        slower = np.arange(self.datasets) // math.prod(self.alphabets[record + 1 :])
        return np.asarray(slower % self.alphabets[record], dtype=np.int64)

    def datasets_by_letter(self, record: int) -> Integers:
        """The places of the datasets (a, z), (letters a, settings z of the other records), both in lexicographic order.

        >>> Records(alphabets=[2, 3]).datasets_by_letter(1).tolist()
        [[0, 3], [1, 4], [2, 5]]
        """
        letters = self.letters_of_datasets(record)
        return np.argsort(letters, kind="stable").reshape(self.alphabets[record], -1)

    def enumerable(self, what: str, advice: str = ADVICE) -> int:
        """|X| where listing the datasets is affordable; an error naming `what` elsewhere, with `advice`."""
        log_limit = math.log(MAX_ENUMERATED) + 1e-9
        if self.log_datasets > log_limit:
            raise InputError(
                f"{what} lists every dataset, at most {MAX_ENUMERATED}; these records have "
                f"exp({self.log_datasets:.1f}) of them. {advice}"
            )
        return self.datasets


def _sizes(alphabets: Sequence[Integer] | Integers) -> tuple[int, ...]:
    sizes = as_list(alphabets, "records: alphabets")
    if len(sizes) > MAX_RECORDS:
        raise InputError(f"records: at most {MAX_RECORDS} records, got {len(sizes)}")
    return tuple(
        as_integer(size, f"records: alphabets[{i}]", at_least=1, at_most=MAX_ALPHABET) for i, size in enumerate(sizes)
    )
