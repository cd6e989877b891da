"""What a law of the true data is: independent records, each letter with its probability."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from dalenius.model.records import Records
from dalenius.model.shelf import Shelved

__all__ = ["Law"]


@dataclass(frozen=True)
class Law(Shelved):
    """How the data is distributed that the release is to describe well: p(x) = product over the records of P(x_i)."""

    @abstractmethod
    def weights(self, alphabet: int) -> tuple[int, ...]:
        """Whole numbers proportional to the probabilities of the letters of a record with this alphabet."""

    def check(self, records: Records) -> None:
        """Raise `InputError` if the law does not fit these records."""
