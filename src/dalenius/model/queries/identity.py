"""The dataset itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.model.queries.base import Integers, TableQuery
from dalenius.model.records import Records

__all__ = ["Identity"]


@dataclass(frozen=True)
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
