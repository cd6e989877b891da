"""Any matrix from the query's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.mechanism_classes.base import MechanismClass
from dalenius.model.queries import Query
from dalenius.model.records import Records

__all__ = ["Oblivious"]


@dataclass(frozen=True)
class Oblivious(MechanismClass):
    """The output depends on the data through the query's value alone; a row for every value."""

    kind: ClassVar[str] = "oblivious"

    def check(self, query: Query, records: Records, outputs: int) -> None:
        """Every query has such mechanisms, with any number of outputs."""
