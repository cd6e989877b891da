"""k-ary randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dalenius.exact import Integer, Number, as_integer
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

__all__ = ["RandomizedResponse", "randomized_response"]


@dataclass(frozen=True)
class RandomizedResponse(Calibrated):
    """k-ary randomised response on the query's value (Warner 1965; Kairouz, Oh, Viswanath 2014).

    It tells the value with probability e^epsilon/(e^epsilon + k - 1), each other value with 1/(e^epsilon + k - 1).

    Parameters
    ----------
    epsilon : number in [0, 1000]
        Privacy parameter, in nats.
    k : int, optional
        Number of values and outputs; left out, it is the query's.

    Raises
    ------
    InputError
        If `epsilon` is out of range, `k` is below 2, or `k` is not given by name.

    >>> import numpy as np
    >>> randomized_response(0, k=2).channel(np.arange(2)).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    kind: ClassVar[str] = "randomized_response"
    k: int | None = None

    @strictly_called
    def __init__(self, epsilon: Number, *, k: Integer | None = None) -> None:
        object.__setattr__(self, "epsilon", epsilon_of(epsilon))
        object.__setattr__(self, "k", None if k is None else as_integer(k, "mechanism: k", at_least=2))

    def channel(self, values: Integers) -> Floats:
        weight = math.exp(-self.epsilon)
        total = 1.0 + weight * (values.size - 1)
        return symmetric_channel(values, self.k, 1.0 / total, weight / total)

    def exact_entries(self, values: Integers) -> ExactEntries:
        weight = exp_ball(-self.epsilon)
        total = 1 + weight * (values.size - 1)
        return symmetric_entries(values, self.k, 1 / total, weight / total)


randomized_response = RandomizedResponse
