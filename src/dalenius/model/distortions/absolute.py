"""The absolute error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.distortions.base import Distortion, Whole, differences
from dalenius.model.queries.base import Integers

__all__ = ["Absolute"]


@dataclass(frozen=True)
class Absolute(Distortion):
    """d(v, y) = |v - v_y|, in units of the query's values; the outputs are the values v_0 < v_1 < ...

    >>> import numpy as np
    >>> Absolute().whole(np.array([0, 5, 7]))[0].tolist()
    [[0, 5, 7], [5, 0, 2], [7, 2, 0]]
    """

    kind: ClassVar[str] = "absolute"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        return abs(differences(values)), 1
