"""Whether the sum of the letters reaches a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.exact import Integer, as_integer
from dalenius.model.queries.base import MAX_INTEGER, AdditiveQuery, Integers
from dalenius.model.records import Records

__all__ = ["Threshold"]


@dataclass(frozen=True)
class Threshold(AdditiveQuery):
    """f(x) = 1 if the sum of the letters is at least `at`, else 0.

    Raises
    ------
    InputError
        If `at` is no integer.

    >>> Threshold(2).values(Records(3, alphabet=2)).tolist()
    [0, 1]
    """

    kind: ClassVar[str] = "threshold"
    at: int

    def __init__(self, at: Integer) -> None:
        object.__setattr__(self, "at", as_integer(at, "query: at", at_least=-MAX_INTEGER, at_most=MAX_INTEGER))

    def values(self, records: Records) -> Integers:
        return np.arange(2)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(range(alphabet))

    def index_of_sum(self, sums: Integers, records: Records) -> Integers:
        return (sums >= self.at).astype(np.int64)
