"""Whether the output is the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.model.distortions.base import Distortion, Whole
from dalenius.model.queries.base import Integers

__all__ = ["Hamming"]


@dataclass(frozen=True)
class Hamming(Distortion):
    """d(v, y) = 0 if y is the index of v, else 1: the expected distortion is the probability of an error.

    >>> import numpy as np
    >>> Hamming().whole(np.array([0, 5]))[0].tolist()
    [[0, 1], [1, 0]]
    """

    kind: ClassVar[str] = "hamming"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        return 1 - np.eye(values.size, dtype=np.int64).astype(object), 1
