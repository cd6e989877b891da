"""A distortion given entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import Numbers, Rows, as_list, as_nonnegative, over_common_denominator
from dalenius.model.distortions.base import MAX_ENTRIES, Distortion, Whole, as_outputs
from dalenius.model.queries.base import Integers

__all__ = ["DistortionMatrix"]

MAX_BITS = 2**30  # of all entries over their common denominator


@dataclass(frozen=True)
class DistortionMatrix(Distortion):
    """Any costs: ``rows[v][y]`` is the distortion of output y on the v-th value of the query, in any unit.

    Parameters
    ----------
    rows : matrix of numbers, as lists or as an array
        One row per query value, ascending; as many outputs as a row is long. Entries are at least 0 and exact (see
        `dalenius.exact.as_fraction`): 0.1 is 1/10, ``"1/3"`` is a third.
    outputs : list of numbers, optional
        o_0 < o_1 < ..., what the outputs stand for, as many as a row is long; left out: they stand for nothing.

    Raises
    ------
    InputError
        If an entry is negative or no number, rows are empty or differ in length, the outputs are not as many, or there are more
        than 2^22 entries or 2^30 bits of entries over their common denominator; `check` raises it where there is not one row a value.

    >>> import numpy as np
    >>> whole, denominator = DistortionMatrix([[0, 1, "1/2"], [4, 0, "1/3"]]).whole(np.arange(2))
    >>> whole.tolist(), denominator
    ([[0, 6, 3], [24, 0, 2]], 6)
    """

    kind: ClassVar[str] = "matrix"
    rows: tuple[tuple[Fraction, ...], ...]
    outputs: tuple[Fraction, ...] | None = None

    def __init__(self, rows: Rows, outputs: Numbers | None = None) -> None:
        listed = [as_list(row, f"distortion: rows[{v}]") for v, row in enumerate(as_list(rows, "distortion: rows"))]
        if not listed or not listed[0] or len({len(row) for row in listed}) != 1:
            raise InputError("distortion: rows must be a non-empty list of lists of one length of at least 1")
        if len(listed) * len(listed[0]) > MAX_ENTRIES:
            raise InputError(f"distortion: a matrix has at most {MAX_ENTRIES} entries")
        costs = [as_nonnegative(row, f"distortion: rows[{v}]", noun="a distortion") for v, row in enumerate(listed)]
        numbers = as_outputs(outputs)
        if numbers is not None and len(numbers) != len(costs[0]):
            raise InputError(
                f"distortion: outputs must list one number for each of the {len(costs[0])} columns of the rows, got {len(numbers)}"
            )
        object.__setattr__(self, "rows", tuple(costs))
        object.__setattr__(self, "outputs", numbers)
        _ = self._whole

    @cached_property
    def _whole(self) -> tuple[Whole, int]:
        shape = (len(self.rows), len(self.rows[0]))
        entries = [entry for row in self.rows for entry in row]
        numerators, common = over_common_denominator(
            entries, "distortion: rows", most_bits=max(MAX_BITS // len(entries), 1)
        )
        return np.array(numerators, dtype=object).reshape(shape), common

    def output_count(self, values: Integers) -> int:
        return len(self.rows[0])

    def numbers(self, values: Integers) -> tuple[Fraction, ...] | None:
        return self.outputs

    def check(self, values: Integers) -> None:
        if len(self.rows) != values.size:
            raise InputError(
                f"distortion: rows must list one row for each of the query's {values.size} values, got {len(self.rows)} rows"
            )

    def whole(self, values: Integers) -> tuple[Whole, int]:
        self.check(values)
        return self._whole
