"""Several tables of the same people: a histogram of all combinations of attributes, of which some margins are released."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar, TypeAlias

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.model.fields import Given, declared
from dalenius.model.queries.histogram import Histogram
from dalenius.model.records import MAX_ALPHABET, Records

MOST_ATTRIBUTES = MAX_ALPHABET.bit_length() - 1  # of two values each
MOST_TABLES = 64
SEPARATOR = ", "  # of the values of attributes in the name of a letter
Lists: TypeAlias = Sequence[Sequence[Integer]]


def _as_attributes(value: Sequence[Integer], what: str) -> tuple[int, ...]:
    sizes = tuple(as_integer(x, what, at_least=2, at_most=MAX_ALPHABET) for x in as_list(value, what))
    if not 1 <= len(sizes) <= MOST_ATTRIBUTES:
        raise InputError(
            f"{what} must be the numbers of values of 1 to {MOST_ATTRIBUTES} attributes, got {len(sizes)} of them"
        )
    return sizes


def _as_tables(value: Lists, what: str) -> tuple[tuple[int, ...], ...]:
    listed = as_list(value, what)
    if not 1 <= len(listed) <= MOST_TABLES:
        raise InputError(f"{what} must be 1 to {MOST_TABLES} tables, got {len(listed)}")
    found = []
    for t, table in enumerate(listed):
        numbers = tuple(as_integer(j, f"{what}[{t}]", at_least=0) for j in as_list(table, f"{what}[{t}]"))
        if not numbers or list(numbers) != sorted(set(numbers)):
            raise InputError(
                f"{what}[{t}] must list the attributes of a table, ascending and each once, got {brief(list(numbers))}"
            )
        found.append(numbers)
    return tuple(found)


@declared
class Margins(Histogram):
    """f(x) = the tables that are released together of the same people, each with its own noise on every cell.

    A record's letter is the combination (a_0, a_1, ...) of values of its attributes, a = (a_0 A_1 + a_1) A_2 + ...; a table, or
    *margin*, counts the records by the values of some attributes (docs/theory.md, Theorem H2). The mechanism is one noise for all
    tables, or `several_releases` with one part on each.

    Parameters
    ----------
    attributes : sequence of int
        A_0, A_1, ...: how many values each has, at least 2; their product is the records' alphabet.
    tables : sequence of sequences of int
        For each table the attributes it counts by, numbered from 0, ascending; `lattice` has all of at most so many.

    Raises
    ------
    InputError
        If an attribute of a table does not exist, or `check` finds records of another alphabet.

    >>> both = Margins([2, 3], [[0], [1], [0, 1]])
    >>> both == Margins.lattice([2, 3], 2), both.in_every_cell(Records(3, alphabet=6), [0, 1, 1])
    (True, [3, 0, 1, 2, 0, 1, 2, 0, 0, 0, 0])
    >>> both.cell_names(["no"] * 6)[:5], both.cell_names(["f, a", "f, b", "f, c", "m, a", "m, b", "m, c"])[4:6]
    (['0=0', '0=1', '1=0', '1=1', '1=2'], ['c', 'f, a'])
    """

    kind: ClassVar[str] = "margins"
    words: ClassVar[str] = "{number} of how many of them have each value, or combination of values: {tables}"
    audits_only: ClassVar[str] = (
        "query: margins are for audits against independent_blocks or product_priors with noise on every cell; got"
    )
    example: ClassVar[str] = "margins attributes = [2, 3], tables = [[0], [1], [0, 1]]"
    in_tables: ClassVar[bool] = True
    attributes: Given[Sequence[Integer], tuple[int, ...]] = Given(_as_attributes)
    tables: Given[Lists, tuple[tuple[int, ...], ...]] = Given(_as_tables)

    def __post_init__(self) -> None:
        last = len(self.attributes) - 1
        for t, table in enumerate(self.tables):
            if table[-1] > last:
                raise InputError(
                    f"query: tables[{t}] counts by attribute {table[-1]}, which is none: attributes are numbered from 0 to {last}"
                )

    @classmethod
    def lattice(cls, attributes: Sequence[Integer], ways: Integer) -> Margins:
        """All margins of at most so many attributes, those of one first."""
        sizes = _as_attributes(attributes, "query: attributes")
        most = as_integer(ways, "ways", at_least=1, at_most=len(sizes))
        return cls(sizes, [s for many in range(1, most + 1) for s in combinations(range(len(sizes)), many)])

    @property
    def cells_moved(self) -> int:
        return 2 * len(self.tables)

    def crossed(self, letters: int) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        return self.attributes, self.tables

    def check(self, records: Records) -> None:
        super().check(records)
        if (combined := math.prod(self.attributes)) != records.alphabets[0]:
            raise InputError(
                f"query: attributes of {' x '.join(map(str, self.attributes))} values have {combined} combinations, and the records "
                f"have {records.alphabets[0]} letters"
            )

    def in_every_cell(self, records: Records, letters: Sequence[int]) -> list[int]:
        """The cells of all tables, one table after the other, each in lexicographic order of its attributes' values."""
        whole = np.array(super().in_every_cell(records, letters)).reshape(self.attributes)
        axes = range(len(self.attributes))
        return [n for table in self.tables for n in whole.sum(axis=tuple(set(axes) - set(table))).ravel().tolist()]

    def cell_names(self, letters: Sequence[str]) -> list[str]:
        """Values of a table's attributes; of letters that are no lists of as many texts by their numbers."""
        places = np.stack(np.unravel_index(np.arange(len(letters)), self.attributes), axis=1).tolist()
        parts = [name.split(SEPARATOR) for name in letters]
        if any(len(own) != len(self.attributes) for own in parts):
            parts = [[f"{j}={value}" for j, value in enumerate(own)] for own in places]
        found = list[str]()
        for table in self.tables:
            cells = {tuple(own[j] for j in table): k for k, own in enumerate(places)}
            found += [SEPARATOR.join(parts[k][j] for j in table) for k in cells.values()]
        return found
