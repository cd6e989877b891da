"""The squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.distortions.base import ErrorDistortion, Whole, differences
from dalenius.model.queries.base import Integers

__all__ = ["Squared"]


@dataclass(frozen=True, init=False)
class Squared(ErrorDistortion):
    """d(v, y) = (v - o_y)^2, in squared units of the query's values.

    Parameters
    ----------
    outputs : list of numbers, optional
        o_0 < o_1 < ..., what the outputs stand for, exact; left out: the query's values.

    Raises
    ------
    InputError
        If the outputs are no ascending numbers.

    >>> import numpy as np
    >>> Squared().whole(np.array([0, 5, 7]))[0].tolist()
    [[0, 25, 49], [25, 0, 4], [49, 4, 0]]
    """

    kind: ClassVar[str] = "squared"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        whole, common = differences(values, self.outputs)
        return whole**2, common**2
