"""What a class of mechanisms is: what its rows belong to, and which of their entries are one number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.model.mechanism_classes.tied import TiedEntries
from dalenius.model.queries import Query
from dalenius.model.queries.base import Integers
from dalenius.model.records import Records

__all__ = ["MechanismClass"]

Law = tuple[Fraction, ...]


@dataclass(frozen=True)
class MechanismClass(ABC):
    """The mechanisms among which a design looks for the best one. A model file names the class by its `kind`.

    Attributes
    ----------
    kind : str
    inputs : {"query", "dataset"}
        What the rows of a mechanism belong to: the query's values, or the datasets' indices.
    """

    kind: ClassVar[str]
    inputs: ClassVar[str] = "query"

    @abstractmethod
    def check(self, query: Query, records: Records, outputs: int) -> None:
        """Raise `InputError` if there are no mechanisms of this class for the query, with so many outputs."""

    def value_of_input(self, query: Query, records: Records) -> Integers:
        """The index among the query's values of what each input is charged for: (inputs,)."""
        return np.arange(query.values(records).size)

    def tied(self, inputs: int, outputs: int) -> TiedEntries:
        """Which entries of a matrix of this size are one variable; by default each is its own."""
        return TiedEntries.free(inputs, outputs)

    def rows_of_variable(self, laws: Sequence[Law], inputs: int) -> list[Law]:
        """The rows that stand for the mechanism that these rows describe: by default all of them, one for each input.

        Raises
        ------
        InputError
            If they are not as many as they should be, or no mechanism of the class has them.
        """
        if len(laws) != inputs:
            raise InputError(f"mechanism: expected {self.wanted_rows(inputs)}, got {len(laws)} rows")
        return list(laws)

    def wanted_rows(self, inputs: int) -> str:
        """Which rows describe a mechanism, in words."""
        return f"one row for each of the {inputs} inputs"
