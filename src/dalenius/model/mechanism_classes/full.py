"""Any matrix from the datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.mechanism_classes.base import MechanismClass
from dalenius.model.queries import Query
from dalenius.model.queries.base import Integers
from dalenius.model.records import Records

__all__ = ["Full"]


@dataclass(frozen=True)
class Full(MechanismClass):
    """The output depends on the whole data; a row for every dataset, which is charged for the value of the query that it has."""

    kind: ClassVar[str] = "full"
    inputs: ClassVar[str] = "dataset"

    def check(self, query: Query, records: Records, outputs: int) -> None:
        records.enumerable("mechanism: class full", 'Use the class "oblivious"')

    def value_of_input(self, query: Query, records: Records) -> Integers:
        return query.index_of_dataset(records)
