"""Noise added modulo the number of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.model.mechanism_classes.base import Law, MechanismClass
from dalenius.model.mechanism_classes.tied import TiedEntries
from dalenius.model.queries import ModularSum, Parity, Query
from dalenius.model.records import Records

__all__ = ["Additive"]


@dataclass(frozen=True)
class Additive(MechanismClass):
    """Q(v,y) = q((y - v) mod V) for one law q of the noise: every row is the one before, moved along by one entry.

    >>> Additive().tied(3, 3).numbers.tolist()
    [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    """

    kind: ClassVar[str] = "additive"

    def check(self, query: Query, records: Records, outputs: int) -> None:
        if not isinstance(query, Parity | ModularSum):
            raise InputError(
                f"mechanism: class additive adds noise modulo V, so the query must be parity or modular_sum, got {query.kind}; "
                'use the class "oblivious"'
            )
        if outputs != (values := query.values(records).size):
            raise InputError(
                f"mechanism: class additive has as many outputs as values; expected {values} columns in the distortion, got {outputs}"
            )

    def tied(self, inputs: int, outputs: int) -> TiedEntries:
        return TiedEntries((np.arange(outputs) - np.arange(inputs)[:, None]) % outputs)

    def rows_of_variable(self, laws: Sequence[Law], inputs: int) -> list[Law]:
        """The one row q, from itself or from all V rows."""
        if len(laws) != 1:
            laws = super().rows_of_variable(laws, inputs)
            if list(laws) != self.tied(inputs, len(laws[0])).expand_rows(laws[:1]):
                raise InputError(
                    "mechanism: rows of the class additive must be row 0 moved along by one entry a row; give the one row q"
                )
        return list(laws[:1])

    def wanted_rows(self, inputs: int) -> str:
        return f"one row q, or {super().wanted_rows(inputs)}"
