"""A channel given entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Rows, as_law, as_list
from dalenius.information.arrays import Floats, Integers
from dalenius.model.mechanisms.base import MAX_ENTRIES, ExactEntries, Mechanism


@dataclass(frozen=True)
class Channel(Mechanism):
    """A row-stochastic matrix: ``rows[v][y]`` is the probability of output y on input v.

    The channel is *exactly* each row divided by its exact sum; a sum may differ from 1 by at most 1e-9.

    Parameters
    ----------
    rows : matrix of numbers, as lists or as an array
        One row per query value, ascending, or one per dataset, in lexicographic order with record 0 slowest. Entries are exact
        (see `dalenius.exact.as_fraction`): 0.1 is 1/10, ``"1/3"`` is a third.
    inputs : {"query", "dataset"}
        What the rows are indexed by.

    Raises
    ------
    InputError
        If an entry is negative or no number, rows differ in length, or a row does not sum to 1.

    >>> import numpy as np
    >>> Channel([[0.9, 0.1], ["1/3", "2/3"]]).channel(np.arange(2))[1].round(6).tolist()
    [0.333333, 0.666667]
    """

    kind: ClassVar[str] = "matrix"
    in_files: ClassVar[dict[str, object]] = {"inputs": Literal["query", "dataset"]}
    rows: tuple[tuple[Fraction, ...], ...]
    inputs: str = "query"

    def __init__(self, rows: Rows, inputs: str = "query") -> None:
        if inputs not in ("query", "dataset"):
            raise InputError(f'mechanism: inputs must be "query" or "dataset", got {brief(inputs)}')
        listed = as_list(rows, "mechanism: rows")
        laws = tuple(as_law(row, f"mechanism: rows[{v}]") for v, row in enumerate(listed))
        if not laws or len({len(row) for row in laws}) != 1:
            raise InputError("mechanism: rows must be a non-empty list of lists of equal length")
        if len(laws) * len(laws[0]) > MAX_ENTRIES:
            raise InputError(f"mechanism: a channel has at most {MAX_ENTRIES} entries")
        object.__setattr__(self, "rows", laws)
        object.__setattr__(self, "inputs", inputs)

    def indexed_by(self) -> str:
        return self.inputs

    def channel(self, values: Integers) -> Floats:
        if len(self.rows) != values.size:
            what = "query value" if self.inputs == "query" else "dataset"
            raise InputError(
                f"mechanism: expected one row for each of the {values.size} {what}s, got {len(self.rows)} rows"
            )
        return np.array([[float(entry) for entry in _normalised(row)] for row in self.rows])

    def exact_entries(self, values: Integers) -> ExactEntries:
        _ = self.channel(values)
        return ExactEntries.of_rows([_normalised(row) for row in self.rows])

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        rows = (_normalised(self.rows[x]) for x in inputs.tolist())
        first = next(rows)
        return first if all(row == first for row in rows) else None


def _normalised(row: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    total = sum(row, Fraction(0))
    return tuple(entry / total for entry in row)
