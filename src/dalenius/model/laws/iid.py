"""Independent records of one law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import MAX_SUM_BITS, Numbers, as_law, over_common_denominator
from dalenius.model.laws.base import Law
from dalenius.model.records import Records

__all__ = ["Iid"]


@dataclass(frozen=True)
class Iid(Law):
    """p(x) = product over the records of P(x_i), with one law P of the letters for all records.

    P is *exactly* the probabilities divided by their exact sum; the sum may differ from 1 by at most 1e-9.

    Parameters
    ----------
    probabilities : list or array of numbers
        One for each letter; every record's alphabet has that many. Entries are exact (see `dalenius.exact.as_fraction`).

    Raises
    ------
    InputError
        If an entry is negative or no number, or they do not sum to 1; `check` raises it for an alphabet of another size.

    >>> Iid([0.3, 0.7]).weights(2)
    (3, 7)
    """

    kind: ClassVar[str] = "iid"
    probabilities: tuple[Fraction, ...]

    def __init__(self, probabilities: Numbers) -> None:
        object.__setattr__(self, "probabilities", as_law(probabilities, "law: probabilities"))

    @cached_property
    def _weights(self) -> tuple[int, ...]:
        numerators, _ = over_common_denominator(self.probabilities, "law: probabilities", most_bits=MAX_SUM_BITS)
        common = math.gcd(*numerators)
        return tuple(weight // common for weight in numerators)

    def weights(self, alphabet: int) -> tuple[int, ...]:
        return self._weights

    def check(self, records: Records) -> None:
        for record, size in enumerate(records.alphabets):
            if size != len(self.probabilities):
                raise InputError(
                    f"law: iid needs one probability for each letter of every record; record {record} has {size} letters, and "
                    f"{len(self.probabilities)} probabilities are listed"
                )
