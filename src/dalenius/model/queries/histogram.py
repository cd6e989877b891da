"""How many records have each letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from dalenius.errors import InputError
from dalenius.model.queries.base import Integers, Query
from dalenius.model.records import Records

__all__ = ["Histogram"]

LISTED = (
    "query: the values of a histogram are vectors, which are not listed: it is for audits against independent_blocks or "
    "product_priors, with noise on every cell"
)


@dataclass(frozen=True)
class Histogram(Query):
    """f(x) = (N_0, ..., N_{k-1}), N_c the number of records whose letter is c; the mechanism puts its noise on every cell.

    A contingency table is the histogram of records whose letters are the combinations of their attributes' letters.

    Raises
    ------
    InputError
        `check` raises it where the records have different alphabets; whatever needs the list of the values does.

    >>> import dalenius as dl
    >>> table = dl.MaximalLeakage(records=dl.Records(1_000_000, alphabet=100), query=dl.Histogram(),
    ...     mechanism=dl.discrete_laplace(0.5), adversary=dl.IndependentBlocks(2))
    >>> table.cells.count, table.cells.size, table.cells.steps.round(3).tolist()[0]
    (100, 2, [0.622, 0.149, 0.229])
    """

    kind: ClassVar[str] = "histogram"

    def check(self, records: Records) -> None:
        if len(set(records.alphabets)) > 1:
            raise InputError(
                f"query: a histogram needs records of one alphabet, got from {min(records.alphabets)} to "
                f"{max(records.alphabets)} letters"
            )

    def check_values(self, records: Records) -> NoReturn:
        raise InputError(LISTED)

    def values(self, records: Records) -> NoReturn:
        raise InputError(LISTED)

    def value(self, records: Records, letters: Sequence[int]) -> NoReturn:
        raise InputError(LISTED)

    def index_of_dataset(self, records: Records) -> Integers:
        raise InputError(LISTED)
