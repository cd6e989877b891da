"""The other records, with the probability of what they can be: which channel input each letter of one record selects then."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Integers
from dalenius.model.laws import Law, dataset_weights, sum_weights
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.records import Records
from dalenius.model.sums import record_types

__all__ = ["Settings", "settings_of_others"]


@dataclass(frozen=True)
class Settings:
    """What the other records can be where all are independent, for records that nobody can tell apart.

    Attributes
    ----------
    record, times : int
        The first record of the kind, and how many are of it.
    inputs : (settings, letters)
        The channel input that each letter selects.
    weights : whole numbers, one a setting, all above 0
        Proportional to the probability of the setting.
    """

    record: int
    times: int
    inputs: Integers
    weights: tuple[int, ...]


def settings_of_others(query: Query, records: Records, law: Law) -> list[Settings]:
    """The settings of the others for every kind of record.

    >>> from dalenius.model.laws import Iid
    >>> from dalenius.model.queries import Count
    >>> [(s.inputs.tolist(), s.weights) for s in settings_of_others(Count(), Records(3, alphabet=2), Iid([0.25, 0.75]))]
    [([[0, 1], [1, 2], [2, 3]], (1, 6, 9))]
    """
    return list(_by_sum(query, records, law) if isinstance(query, AdditiveQuery) else _by_dataset(query, records, law))


def _by_sum(query: AdditiveQuery, records: Records, law: Law) -> Iterator[Settings]:
    types = record_types(query, records)
    for place, kind in enumerate(types):
        others = [dataclasses.replace(t, times=t.times - (j == place)) for j, t in enumerate(types)]
        sums, weights = sum_weights(query, others, law)
        index = query.index_of_total(np.add.outer(sums, np.array(kind.contribution)), records)
        yield Settings(kind.first, kind.times, index, tuple(weights))


def _by_dataset(query: Query, records: Records, law: Law) -> Iterator[Settings]:
    """Every record is a kind of its own; a setting weighs what all its datasets do."""
    index, weights = query.index_of_dataset(records), np.array(dataset_weights(records, law), dtype=object)
    for record in range(len(records)):
        datasets = records.datasets_by_letter(record)
        masses = weights[datasets].sum(axis=0)
        there = np.flatnonzero(masses != 0)
        yield Settings(record, 1, index[datasets].T[there], tuple(masses[there].tolist()))
