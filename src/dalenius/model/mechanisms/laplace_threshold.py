"""Laplace noise on a binary value, thresholded at one half."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import Number
from dalenius.model.mechanisms.base import (
    Calibrated,
    ExactEntries,
    Floats,
    epsilon_of,
    exp_ball,
    strictly_called,
    symmetric_channel,
    symmetric_entries,
)
from dalenius.model.queries.base import Integers

__all__ = ["LaplaceThreshold", "laplace_threshold"]


@dataclass(frozen=True)
class LaplaceThreshold(Calibrated):
    """The Laplace mechanism on a query with values 0 and 1, rounded to the nearer value (source paper, section 7.2).

    Noise of scale 1/epsilon crosses the threshold 1/2 with probability e^(-epsilon/2)/2: a binary symmetric channel.

    Parameters
    ----------
    epsilon : number in [0, 1000]
        Privacy parameter for sensitivity 1, in nats.

    Raises
    ------
    InputError
        If `epsilon` is out of range.

    >>> import numpy as np
    >>> bool(np.isclose(laplace_threshold(1.0).channel(np.arange(2))[0, 1], np.exp(-0.5) / 2))
    True
    """

    kind: ClassVar[str] = "laplace_threshold"

    @strictly_called
    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", epsilon_of(epsilon))

    def channel(self, values: Integers) -> Floats:
        if values.tolist() != [0, 1]:
            raise InputError(
                f"mechanism: laplace_threshold needs a query with the two values 0 and 1 (parity, threshold), got "
                f"{values.size} value(s) from {values[0]} to {values[-1]}"
            )
        flip = math.exp(-self.epsilon / 2) / 2
        return symmetric_channel(values, 2, 1.0 - flip, flip)

    def exact_entries(self, values: Integers) -> ExactEntries:
        _ = self.channel(values)
        flip = exp_ball(-self.epsilon / 2) / 2
        return symmetric_entries(values, 2, 1 - flip, flip)


laplace_threshold = LaplaceThreshold
