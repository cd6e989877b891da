"""The histogram query: the number of records with each letter."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import field
from typing import ClassVar, Self

import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Integers
from dalenius.model.fields import declared, keep
from dalenius.model.queries.base import MAX_SPAN, MAX_VALUES, AdditiveQuery
from dalenius.model.records import Records


@declared
class Histogram(AdditiveQuery):
    """f(x) = (N_0, ..., N_{k-1}), N_c the number of records whose letter is c; the mechanism puts its noise on every cell.

    A contingency table is the histogram of records whose letters are the combinations of their attributes' letters. Beside
    `randomized_histogram`, which randomises letters, the values are listed: the histograms of n records in lexicographic order.

    Raises
    ------
    InputError
        `check` raises it where the records have different alphabets; `check_values` where there are too many histograms.

    >>> import dalenius as dl
    >>> table = dl.WorstCaseLeakage(records=dl.Records(1_000_000, alphabet=100), query=dl.Histogram(),
    ...     mechanism=dl.discrete_laplace(0.5), adversary=dl.IndependentBlocks(2))
    >>> (cells,) = table.route.tables.kinds
    >>> cells.count, cells.size, cells.steps.round(3).tolist()[0]
    (100, 2, [0.622, 0.149, 0.229])
    >>> Histogram().of_records(dl.Records(2, alphabet=2)).value_names(dl.Records(2, alphabet=2))
    ['(0, 2)', '(1, 1)', '(2, 0)']
    """

    kind: ClassVar[str] = "histogram"
    words: ClassVar[str] = "how many of them have each value"
    audits_only: ClassVar[str] = (
        "query: a histogram is for audits: against independent_blocks or product_priors with noise on every cell, or with "
        "randomized_histogram; got"
    )
    by_cell: ClassVar[bool] = True
    records: Records | None = field(default=None, init=False, compare=False, repr=False)

    def of_records(self, records: Records) -> Self:
        """The same query, which knows how many records there are: how histograms are coded depends on it."""
        if self.records == records:
            return self
        made = copy.copy(self)
        keep(made, records=records)
        return made

    def of_block(self, first: int, records: Records) -> Self:
        return self.of_records(records)

    @property
    def cells_moved(self) -> int:
        """One down and one up."""
        return 2

    def check(self, records: Records) -> None:
        if len(set(records.alphabets)) > 1:
            raise InputError(
                f"query: a histogram needs records of one alphabet, got from {min(records.alphabets)} to "
                f"{max(records.alphabets)} letters"
            )

    def check_values(self, records: Records) -> None:
        count, letters = len(records), records.alphabets[0]
        listed = math.comb(count + letters - 1, letters - 1)
        if listed > MAX_VALUES:
            raise InputError(
                f"query: {count} records of {letters} letters have {listed} histograms; at most {MAX_VALUES}"
            )
        if (count + 1) ** (letters - 1) > MAX_SPAN:
            raise InputError(f"query: histograms of {count} records of {letters} letters have codes above {MAX_SPAN}")

    def values(self, records: Records) -> Integers:
        """Histograms by number."""
        return np.arange(math.comb(len(records) + records.alphabets[0] - 1, records.alphabets[0] - 1))

    def value_names(self, records: Records) -> list[str]:
        return [str(tuple(row)) for row in histograms(len(records), records.alphabets[0]).tolist()]

    def value(self, records: Records, letters: Sequence[int]) -> int:
        return super(Histogram, self.of_records(records)).value(records, letters)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        """A digit a letter, of which the last one needs none."""
        if self.records is None:
            raise InputError("query: a histogram is about some records; use of_records")
        base = len(self.records) + 1
        return (*(base ** (alphabet - 2 - letter) for letter in range(alphabet - 1)), 0)

    def index_of_sum(self, sums: Integers, records: Records) -> Integers:
        codes = histograms(len(records), records.alphabets[0]) @ np.array(self.contribution(0, records.alphabets[0]))
        return np.searchsorted(codes, sums)


def histograms(total: int, cells: int) -> Integers:
    """All vectors of so many nonnegative integers with this sum, in lexicographic order, (vectors, cells).

    >>> histograms(2, 2).tolist(), histograms(2, 1).tolist()
    ([[0, 2], [1, 1], [2, 0]], [[2]])
    """
    chosen = list(itertools.combinations(range(total + cells - 1), cells - 1))
    bars = np.array(chosen, dtype=np.int64).reshape(len(chosen), cells - 1)
    ends = np.full((len(bars), 1), total + cells - 1)
    return np.diff(np.hstack([np.full((len(bars), 1), -1), bars, ends]), axis=1) - 1
