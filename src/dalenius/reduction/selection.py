"""What a record decides once the others are known: which channel input each of its letters selects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.errors import DaleniusError
from dalenius.information.arrays import Floats, Integers
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.records import Records
from dalenius.model.sums import other_sums, record_types

__all__ = ["MAX_NUMBERS", "Selections", "selections"]

MAX_NUMBERS = 2**22  # in the selections of a record; the checker's own limit


@dataclass(frozen=True)
class Selections:
    """The selections of one kind of record: I(X_i; Y) is largest at a setting of the others, where it is a capacity of their rows.

    Attributes
    ----------
    record, times : int
        The first record of the kind, and how many records have these very selections.
    inputs : (selections, letters)
        The channel input of the dataset (a, z) for each letter a: one row for all settings z of the other records that give the
        same row, in lexicographic order.
    input_count : int
        How many inputs the channel has.
    """

    record: int
    times: int
    inputs: Integers
    input_count: int

    @property
    def letters(self) -> int:
        return int(self.inputs.shape[1])

    def apply(self, channel: Floats) -> Floats:
        """The rows that each selection selects: (selections, letters, outputs)."""
        return np.asarray(channel[self.inputs])

    def lift(self, selection: int, law: Floats) -> Floats:
        """A law of the letters, the others being known, as masses on (letter, channel input)."""
        masses = np.zeros((self.letters, self.input_count))
        masses[np.arange(self.letters), self.inputs[selection]] = law
        return masses


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


def _by_sum(query: AdditiveQuery, records: Records) -> list[Selections]:
    """Selections from the sums that the other records can have; no dataset is listed."""
    types, values = record_types(query, records), query.values(records).size
    result = []
    for kind, others in zip(types, other_sums(query, types), strict=True):
        if len(kind.contribution) == 1:
            continue
        added = np.array(kind.contribution)
        distinct = np.empty((0, added.size), dtype=np.int64)
        for part in np.array_split(others, -(-others.size * added.size // MAX_NUMBERS)):
            index = query.index_of_total(np.add.outer(part, added), records)
            distinct = _distinct(np.concatenate([distinct, index]), kind.first)
        result.append(Selections(kind.first, kind.times, distinct, values))
    return result


def _by_dataset(query: Query, records: Records) -> list[Selections]:
    """Selections from the list of all datasets; records with equal lists are of one kind."""
    index, values = query.index_of_dataset(records), query.values(records).size
    kinds: dict[tuple[int, bytes], Selections] = {}
    for record, letters in enumerate(records.alphabets):
        if letters == 1:
            continue
        distinct = _distinct(index[records.datasets_by_letter(record).T], record)
        first = kinds.get(key := (letters, distinct.tobytes()))
        record, times = (first.record, first.times + 1) if first else (record, 1)
        kinds[key] = Selections(record, times, distinct, values)
    return list(kinds.values())


def _distinct(rows: Integers, record: int) -> Integers:
    distinct = np.unique(rows, axis=0)
    if distinct.size > MAX_NUMBERS:
        raise DaleniusError(
            f"nothing can be proved about this model: the selections of record {record} hold more than {MAX_NUMBERS} numbers "
            "(docs/certificate-format.md), give the adversary an entropy bound instead, or coarsen the query"
        )
    return distinct
