"""The absolute error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.distortions.base import ErrorDistortion, Whole, differences
from dalenius.model.queries.base import Integers

__all__ = ["Absolute"]


@dataclass(frozen=True, init=False)
class Absolute(ErrorDistortion):
    """d(v, y) = |v - o_y|, in units of the query's values.

    Parameters
    ----------
    outputs : list of numbers, optional
        o_0 < o_1 < ..., what the outputs stand for, exact; left out: the query's values.

    Raises
    ------
    InputError
        If the outputs are no ascending numbers.

    >>> import numpy as np
    >>> Absolute().whole(np.array([0, 5, 7]))[0].tolist()
    [[0, 5, 7], [5, 0, 2], [7, 2, 0]]
    >>> Absolute(outputs=[-1, 0.5]).whole(np.array([0, 1]))
    (array([[2, 1],
           [4, 1]], dtype=object), 2)
    """

    kind: ClassVar[str] = "absolute"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        whole, common = differences(values, self.outputs)
        return abs(whole), common
