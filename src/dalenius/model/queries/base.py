"""Queries, in two ways: a sum over the records, or a table over the datasets."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.information.arrays import Integers
from dalenius.model.fields import Given, declared
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved

MAX_VALUES = 65_536
MAX_SPAN = 4_000_000  # steps between the least sum and the largest
MAX_INTEGER = 10**9


def as_integers(value: Sequence[Integer] | Integers, what: str) -> tuple[int, ...]:
    """Integers of moderate size."""
    return tuple(as_integer(v, what, at_least=-MAX_INTEGER, at_most=MAX_INTEGER) for v in as_list(value, what))


class Query(Shelved):
    """A function of the dataset. Its *values*, ascending, are the inputs of an oblivious mechanism.

    Of a class of your own a problem keeps the `Table` that `index_of_dataset` says, which is what is proved
    (docs/release-noise.md has an example).
    """

    room: ClassVar[str] = "query"
    words: ClassVar[str] = "a function of them"  # what it is called in a report, with the keys of its table
    shelf: ClassVar[dict[str, type[Any]]] = {}
    audits_only: ClassVar[str] = ""  # the message about it in another problem than an audit of records, up to that

    @property
    def sums(self) -> AdditiveQuery | None:
        """Itself, where its values come from sums of what the letters add."""
        return None

    @property
    def together(self) -> tuple[AdditiveQuery, ...]:
        """The sums that are looked at together: one alone, as a rule."""
        return ()

    def modulus(self) -> int | None:
        """Such a sum is taken modulo this, or over the integers."""
        return None

    @abstractmethod
    def values(self, records: Records) -> Integers:
        """The listed values, ascending (some may be attained by no dataset)."""

    def vectors(self, records: Records) -> Integers:
        """The places of the values in the list of each query `together`, (values, queries)."""
        return np.arange(self.values(records).size)[:, None]

    def of_records(self, records: Records) -> Query:
        """The same query, where it must know whose it is; of a kind of one's own, which no other program knows, its table.

        Raises
        ------
        InputError
            If that has too many datasets, or its values are not those that it lists, ascending.
        """
        if self.kind in self.shelf:
            return self
        records.enumerable(f"query: {self.kind}, a kind of your own,")
        values = np.asarray(self.values(records))
        table = Table(values[np.asarray(self.index_of_dataset(records), dtype=np.int64)])
        table.check(records)
        if not np.array_equal(values, attained := table.values(records)):
            raise InputError(
                f"query: values of {type(self).__name__} must be those that datasets have, ascending: {brief(attained.tolist())}; got "
                f"{brief(values.tolist())}"
            )
        return table

    def check(self, records: Records) -> None:
        """Raise `InputError` if the query does not fit these records."""

    def check_values(self, records: Records) -> None:
        """Raise `InputError` if there are too many values to list them."""

    def value_names(self, records: Records) -> list[str]:
        """Names of the values in a report."""
        return [str(value) for value in self.values(records).tolist()]

    @abstractmethod
    def value(self, records: Records, letters: Sequence[int]) -> int:
        """f(x) of the dataset x with these letters, one a record; `InputError` if it is none."""

    @abstractmethod
    def index_of_dataset(self, records: Records) -> Integers:
        """Index among `values` of each dataset's value, in lexicographic order of the datasets; for few datasets."""


class AdditiveQuery(Query):
    """f(x) = g(sum of the contributions of the records), so counts of completions come from convolution.

    Attributes
    ----------
    hidden_by : str
        The property of a mechanism under which the total of some records makes no difference to what is seen of the others; empty
        where totals are not listed.
    adds_letters, adds_ones : bool
        Whether the value depends on how many records have each letter alone, or on how many have the letter 1.
    by_cell, in_tables : bool
        Whether the mechanism works on every cell, or on letters before they are counted; the former alone, and on tables each of which
        may have noise of its own.
    cells_moved : int
        Of these the number of cells that change where one record does.
    counts : bool
        Whether the sum is a number of records.
    cuts : bool
        Whether the sum is compared with a number, and no more is revealed of it.
    """

    hidden_by: ClassVar[str] = ""
    by_cell: ClassVar[bool] = False
    in_tables: ClassVar[bool] = False
    counts: ClassVar[bool] = False
    cuts: ClassVar[bool] = False

    @property
    def sums(self) -> AdditiveQuery:
        return self

    @property
    def together(self) -> tuple[AdditiveQuery, ...]:
        return (self,)

    @property
    def cells_moved(self) -> int:
        return 0

    def crossed(self, letters: int) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Numbers of values of the attributes that letters are combinations of, and the attributes of each table that counts cells."""
        return (letters,), ((0,),)

    def in_every_cell(self, records: Records, letters: Sequence[int]) -> list[int]:
        """The number of records in every cell, of a dataset with these letters."""
        found = Counter(letters)
        return [found[letter] for letter in range(max(records.alphabets))]

    def cell_names(self, letters: Sequence[str]) -> list[str]:
        """Names of the cells, in the order of `in_every_cell`, where letters have these."""
        return list(letters)

    @property
    def adds_letters(self) -> bool:
        return False

    @property
    def adds_ones(self) -> bool:
        return self.adds_letters

    def undecided(self, own: Records, records: Records) -> Iterator[tuple[int, AdditiveQuery]]:
        """Of a query that `cuts` the totals of the other records where those of a block decide, with what is left of the query."""
        raise NotImplementedError

    @abstractmethod
    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        """Contribution of each letter of a record to the sum."""

    def varies_by_record(self) -> bool:
        """True if `contribution` depends on more than the alphabet."""
        return False

    def of_block(self, first: int, records: Records) -> Self:
        """The same query of a block of consecutive records, of which `first` is the first, by itself."""
        return self

    def index_of_sum(self, sums: Integers, records: Records) -> Integers:
        """Index among `values` of the value at each attained sum, which is taken modulo `modulus` already."""
        return np.searchsorted(self.values(records), sums)

    def index_of_total(self, totals: Integers, records: Records) -> Integers:
        """Index among `values` of the value at each attained sum over the integers."""
        modulus = self.modulus()
        return self.index_of_sum(totals if modulus is None else totals % modulus, records)

    def index_of_dataset(self, records: Records) -> Integers:
        totals = np.zeros(1, dtype=np.int64)
        for record, size in enumerate(records.alphabets):
            totals = np.add.outer(totals, np.array(self.contribution(record, size))).ravel()
        return self.index_of_total(totals, records)

    def value(self, records: Records, letters: Sequence[int]) -> int:
        known: dict[tuple[int, int], tuple[int, ...]] = {}
        total = 0
        for record, (letter, size) in enumerate(zip(records.dataset(letters), records.alphabets, strict=True)):
            kind = (record if self.varies_by_record() else 0, size)
            if kind not in known:
                known[kind] = self.contribution(record, size)
            total += known[kind][letter]
        return int(self.values(records)[self.index_of_total(np.array([total]), records)[0]])


class TableQuery(Query):
    """f(x) listed for every dataset; for few datasets only."""

    def value(self, records: Records, letters: Sequence[int]) -> int:
        return int(self.values(records)[self.index_of_dataset(records)[records.index(letters)]])


def spacing(contributions: Iterable[tuple[int, ...]]) -> int:
    """The largest step that divides all differences of sums."""
    return math.gcd(*(added - letters[0] for letters in contributions for added in letters)) or 1


def attained_sums_of(parts: Iterable[tuple[int, tuple[int, ...]]]) -> Integers:
    """The sums that so many records with these contributions each can have, ascending.

    >>> attained_sums_of([(2, (0, 5)), (1, (1, 2))]).tolist()
    [1, 2, 6, 7, 11, 12]
    """
    attained, low = 1, 0  # bit j of `attained` is set when low + j * step is a sum of some records
    listed = [(times, sorted(set(added))) for times, added in parts]
    step = spacing(tuple(added) for _, added in listed)
    for times, added in listed:
        low += times * added[0]
        for _ in range(times):
            shifted = 0
            for value in added:
                shifted |= attained << (value - added[0]) // step
            attained = shifted
    bits = np.frombuffer(attained.to_bytes(attained.bit_length() // 8 + 1, "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(bits, bitorder="little")) * step + low


@declared
class Table(TableQuery):
    """f(x) = table[index of x], datasets in lexicographic order with record 0 slowest.

    Raises
    ------
    InputError
        If an entry is no integer, or there is not one entry for each of at most 65,536 datasets.

    >>> Table([0, 0, 0, 1]).values(Records(2, alphabet=2)).tolist()
    [0, 1]
    """

    kind: ClassVar[str] = "table"
    words: ClassVar[str] = "a function of them that is given as a table"
    table: Given[Sequence[Integer] | Integers, tuple[int, ...]] = Given(as_integers, key="values")

    def check(self, records: Records) -> None:
        datasets = records.enumerable("query: a table")
        if len(self.table) != datasets:
            raise InputError(
                f"query: values must list one value for each of the {datasets} datasets, got {len(self.table)}"
            )

    def values(self, records: Records) -> Integers:
        return np.unique(np.asarray(self.table, dtype=np.int64))

    def index_of_dataset(self, records: Records) -> Integers:
        return np.searchsorted(self.values(records), np.asarray(self.table, dtype=np.int64))


class Identity(TableQuery):
    """f(x) = the index of x in lexicographic order, so a mechanism on it is a full channel from datasets.

    >>> Identity().values(Records(2, alphabet=2)).tolist()
    [0, 1, 2, 3]
    """

    kind: ClassVar[str] = "identity"
    words: ClassVar[str] = "the dataset itself"

    def check(self, records: Records) -> None:
        records.enumerable("query: identity")

    def values(self, records: Records) -> Integers:
        return np.arange(records.datasets)

    def index_of_dataset(self, records: Records) -> Integers:
        return np.arange(records.datasets)
