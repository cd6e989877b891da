"""What sanitizers are learned from, and held against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Samples"]


@dataclass(frozen=True)
class Samples:
    """Draws of the data, and of what is secret and what is useful about each.

    Attributes
    ----------
    data : array of doubles, m x d
    secret, label : arrays of m integers
        From 0 on.
    """

    data: NDArray[np.float64]
    secret: NDArray[np.int64]
    label: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: NDArray[np.int64] | slice) -> Samples:
        """Some of them."""
        return Samples(self.data[rows], self.secret[rows], self.label[rows])
