"""Parity of the sum of the letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.model.queries.base import AdditiveQuery, Integers
from dalenius.model.records import Records

__all__ = ["Parity"]


@dataclass(frozen=True)
class Parity(AdditiveQuery):
    """f(x) = sum of the letters modulo 2; the query of the source paper's experiments.

    >>> Parity().values(Records(4, alphabet=2)).tolist()
    [0, 1]
    """

    kind: ClassVar[str] = "parity"

    def values(self, records: Records) -> Integers:
        return np.arange(2)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(range(alphabet))

    def modulus(self) -> int:
        return 2
