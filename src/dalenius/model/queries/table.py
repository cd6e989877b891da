"""Queries as tables over the datasets: listed one by one, or the datasets themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import Integer
from dalenius.information.arrays import Integers
from dalenius.model.fields import Given, declared
from dalenius.model.queries.base import TableQuery, as_integers
from dalenius.model.records import Records


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

    def check(self, records: Records) -> None:
        records.enumerable("query: identity")

    def values(self, records: Records) -> Integers:
        return np.arange(records.datasets)

    def index_of_dataset(self, records: Records) -> Integers:
        return np.arange(records.datasets)
