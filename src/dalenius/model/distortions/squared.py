"""The squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.distortions.base import Distortion, Whole, differences
from dalenius.model.queries.base import Integers

__all__ = ["Squared"]


@dataclass(frozen=True)
class Squared(Distortion):
    """d(v, y) = (v - v_y)^2, in squared units of the query's values; the outputs are the values v_0 < v_1 < ...

    >>> import numpy as np
    >>> Squared().whole(np.array([0, 5, 7]))[0].tolist()
    [[0, 25, 49], [25, 0, 4], [49, 4, 0]]
    """

    kind: ClassVar[str] = "squared"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        return differences(values) ** 2, 1
