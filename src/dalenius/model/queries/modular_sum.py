"""Sum of the letters modulo m."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.exact import Integer, as_integer
from dalenius.model.queries.base import MAX_VALUES, AdditiveQuery, Integers
from dalenius.model.records import Records

__all__ = ["ModularSum"]


@dataclass(frozen=True)
class ModularSum(AdditiveQuery):
    """f(x) = sum of the letters modulo m; every residue is listed as a value.

    Raises
    ------
    InputError
        If the modulus is no integer from 2 to 65,536.

    >>> ModularSum(3).values(Records(3, alphabet=3)).tolist()
    [0, 1, 2]
    """

    kind: ClassVar[str] = "modular_sum"
    keys: ClassVar[dict[str, str]] = {"m": "modulus"}
    m: int

    def __init__(self, m: Integer) -> None:
        object.__setattr__(self, "m", as_integer(m, "query: modulus", at_least=2, at_most=MAX_VALUES))

    def values(self, records: Records) -> Integers:
        return np.arange(self.m)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(letter % self.m for letter in range(alphabet))

    def modulus(self) -> int:
        return self.m
