"""What a distortion is: the cost of releasing output y where the query's value is v."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.model.queries.base import Integers
from dalenius.model.shelf import Shelved

__all__ = ["MAX_ENTRIES", "Distortion", "Whole", "differences"]

Whole = NDArray[np.object_]  # Python integers of any size
MAX_ENTRIES = 2**22


@dataclass(frozen=True)
class Distortion(Shelved):
    """A matrix d(v, y) >= 0 from the query's values to outputs; outputs are the values themselves unless `outputs` says otherwise."""

    @abstractmethod
    def whole(self, values: Integers) -> tuple[Whole, int]:
        """The exact matrix, (values, outputs), as whole numbers over one denominator: d(v, y) = whole[v, y] / denominator."""

    def outputs(self, values: Integers) -> int:
        """How many outputs there are."""
        return int(values.size)

    def labels(self, values: Integers) -> list[int]:
        """What the outputs are called: by default the query's values."""
        return values.tolist()

    def check(self, values: Integers) -> None:
        """Raise `InputError` if the distortion does not fit these values, or its matrix is too large."""
        outputs = self.outputs(values)
        if values.size * outputs > MAX_ENTRIES:
            raise InputError(
                f"distortion: a matrix has at most {MAX_ENTRIES} entries; {values.size} values and {outputs} outputs make "
                f"{values.size * outputs}. Coarsen the query"
            )


def differences(values: Integers) -> Whole:
    """v - v_y for every value v and every output y, exactly.

    >>> import numpy as np
    >>> differences(np.array([0, 3])).tolist()
    [[0, -3], [3, 0]]
    """
    return np.subtract.outer(values, values).astype(object)
