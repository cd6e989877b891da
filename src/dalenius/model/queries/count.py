"""Number of records whose letter is in a set."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.model.queries.base import MAX_VALUES, AdditiveQuery, Integers
from dalenius.model.records import MAX_ALPHABET, Records

__all__ = ["Count"]


@dataclass(frozen=True)
class Count(AdditiveQuery):
    """f(x) = number of records whose letter is in `letters` (by default the letter 1: a bit count).

    Raises
    ------
    InputError
        If the letters are empty or repeated, or one lies in no record's alphabet.

    >>> Count().values(Records(3, alphabet=2)).tolist()
    [0, 1, 2, 3]
    """

    kind: ClassVar[str] = "count"
    letters: tuple[int, ...] = (1,)

    def __init__(self, letters: Collection[Integer] | Integers = (1,)) -> None:
        what = "query: letters"
        counted = sorted(as_integer(a, what, at_least=0, at_most=MAX_ALPHABET - 1) for a in as_list(letters, what))
        if not counted or len(set(counted)) < len(counted):
            raise InputError(f"query: letters must be a non-empty list of distinct letters, got {brief(counted)}")
        object.__setattr__(self, "letters", tuple(counted))

    def check(self, records: Records) -> None:
        if max(self.letters) >= max(records.alphabets):
            raise InputError(
                f"query: letter {max(self.letters)} is in no record's alphabet (the largest has letters 0 to "
                f"{max(records.alphabets) - 1})"
            )

    def check_values(self, records: Records) -> None:
        if len(records) >= MAX_VALUES:
            raise InputError(
                f"query: a count over {len(records)} records has more than {MAX_VALUES} values; as many as that are known against "
                "independent_blocks (of size 1: independent records), or with geometric or discrete_laplace noise against "
                "product_priors and entropy_at_least"
            )

    def of_block(self, first: int, records: Records) -> Count:
        """Without the letters that no record of the block has; one that has none of them counts nothing, and is no question."""
        return Count([letter for letter in self.letters if letter < max(records.alphabets)])

    def values(self, records: Records) -> Integers:
        return np.arange(len(records) + 1)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(int(letter in self.letters) for letter in range(alphabet))
