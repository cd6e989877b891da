"""What a record decides once the others are known: which channel input each of its letters selects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.errors import DaleniusError
from dalenius.model.counting import index_of_sum, other_sums, record_types
from dalenius.model.queries import AdditiveQuery, Query, TableQuery
from dalenius.model.queries.base import Integers
from dalenius.model.records import Records

__all__ = ["MAX_NUMBERS", "Selections", "inputs_of_datasets", "selections"]

MAX_NUMBERS = 2**22  # in the selections of a record; the checker's own limit


@dataclass(frozen=True)
class Selections:
    """The selections of one kind of record.

    Attributes
    ----------
    record, times : int
        The first record of the kind, and how many records have these very selections.
    inputs : (selections, letters)
        The channel input of the dataset (a, z) for each letter a: one row for all settings z of the other records that give the
        same row, in lexicographic order.
    """

    record: int
    times: int
    inputs: Integers

    @property
    def letters(self) -> int:
        return int(self.inputs.shape[1])


def selections(query: Query, records: Records) -> list[Selections]:
    """The selections of every kind of record; records with one letter leak nothing and are left out.

    Raises
    ------
    DaleniusError
        If a record has more selections than the checker looks at.

    >>> from dalenius.model.queries import Count
    >>> [(s.times, s.inputs.tolist()) for s in selections(Count(), Records(3, alphabet=2))]
    [(3, [[0, 1], [1, 2], [2, 3]])]
    """
    return _by_sum(query, records) if isinstance(query, AdditiveQuery) else _by_dataset(query, records)


def inputs_of_datasets(query: Query, records: Records) -> Integers:
    """The index of every dataset's value among the query's values, in lexicographic order of the datasets; for few datasets.

    >>> from dalenius.model.queries import Count
    >>> inputs_of_datasets(Count(), Records(2, alphabet=3)).tolist()
    [0, 1, 0, 1, 2, 1, 0, 1, 0]
    """
    if not isinstance(query, AdditiveQuery):
        assert isinstance(query, TableQuery)
        return query.index_of_dataset(records)
    sums = np.zeros(1, dtype=np.int64)
    for record, size in enumerate(records.alphabets):
        sums = np.add.outer(sums, np.array(query.contribution(record, size))).ravel()
    return index_of_sum(query, records, sums)


def _by_sum(query: AdditiveQuery, records: Records) -> list[Selections]:
    """Selections from the sums that the other records can have; no dataset is listed."""
    types = record_types(query, records)
    result = []
    for kind, others in zip(types, other_sums(query, types), strict=True):
        if len(kind.contribution) == 1:
            continue
        added = np.array(kind.contribution)
        distinct = np.empty((0, added.size), dtype=np.int64)
        for part in np.array_split(others, -(-others.size * added.size // MAX_NUMBERS)):
            index = index_of_sum(query, records, np.add.outer(part, added))
            distinct = _distinct(np.concatenate([distinct, index]), kind.first)
        result.append(Selections(kind.first, kind.times, distinct))
    return result


def _by_dataset(query: Query, records: Records) -> list[Selections]:
    """Selections from the list of all datasets; records with equal lists are of one kind."""
    table = inputs_of_datasets(query, records)
    kinds: dict[tuple[int, bytes], Selections] = {}
    stride = table.size
    for record, letters in enumerate(records.alphabets):
        stride //= letters
        if letters == 1:
            continue
        index = table.reshape(-1, letters, stride).swapaxes(1, 2).reshape(-1, letters)
        distinct = _distinct(index, record)
        first = kinds.get(key := (letters, distinct.tobytes()))
        kinds[key] = Selections(first.record, first.times + 1, distinct) if first else Selections(record, 1, distinct)
    return list(kinds.values())


def _distinct(rows: Integers, record: int) -> Integers:
    distinct = np.unique(rows, axis=0)
    if distinct.size > MAX_NUMBERS:
        raise DaleniusError(
            f"nothing can be proved about this model: the selections of record {record} hold more than {MAX_NUMBERS} numbers "
            "(docs/certificate-format.md), give the adversary an entropy bound instead, or coarsen the query"
        )
    return distinct
