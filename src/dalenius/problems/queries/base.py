"""What a query is, and the two ways to be one: a sum over the records, or a table over the datasets."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.problems.records import Records
from dalenius.problems.shelf import Shelved

__all__ = ["MAX_VALUES", "AdditiveQuery", "Integers", "Query", "TableQuery", "spacing"]

Integers = NDArray[np.int64]
MAX_VALUES = 65_536
MAX_INTEGER = 10**9


@dataclass(frozen=True)
class Query(Shelved):
    """A function of the dataset. Its *values*, ascending, are the inputs of an oblivious mechanism."""

    @abstractmethod
    def values(self, records: Records) -> Integers:
        """The listed values, ascending (some may be attained by no dataset)."""

    def check(self, records: Records) -> None:
        """Raise `InputError` if the query does not fit these records."""


class AdditiveQuery(Query):
    """f(x) = g(sum of the contributions of the records), so counts of completions come from convolution."""

    @abstractmethod
    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        """What each letter of a record adds to the sum."""

    def varies_by_record(self) -> bool:
        """Whether `contribution` depends on more than the alphabet."""
        return False

    def modulus(self) -> int | None:
        """The sum is taken modulo this, or over the integers."""
        return None

    def index_of_sum(self, sums: Integers, records: Records) -> Integers:
        """Index among `values` of the value at each attained sum."""
        return np.searchsorted(self.values(records), sums)


class TableQuery(Query):
    """f(x) listed for every dataset; for few datasets only."""

    @abstractmethod
    def index_of_dataset(self, records: Records) -> Integers:
        """Index among `values` of each dataset, in lexicographic order."""


def spacing(contributions: Iterable[tuple[int, ...]]) -> int:
    """The largest step that divides all differences of sums."""
    return math.gcd(*(added - letters[0] for letters in contributions for added in letters)) or 1
