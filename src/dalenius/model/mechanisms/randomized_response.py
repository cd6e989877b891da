"""k-ary randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.exact import as_integer
from dalenius.model.mechanisms.base import Floats, Mechanism, epsilon_of, symmetric_channel
from dalenius.model.queries.base import Integers

__all__ = ["RandomizedResponse", "randomized_response"]


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """Tells the value with probability e^epsilon/(e^epsilon + k - 1), each other value with 1/(e^epsilon + k - 1)."""

    kind: ClassVar[str] = "randomized_response"
    epsilon: Fraction
    k: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", epsilon_of(self.epsilon))
        if self.k is not None:
            object.__setattr__(self, "k", as_integer(self.k, "mechanism: k", at_least=2))

    def channel(self, values: Integers) -> Floats:
        weight = math.exp(-self.epsilon)
        total = 1.0 + weight * (values.size - 1)
        return symmetric_channel(values, self.k, 1.0 / total, weight / total)


def randomized_response(k: int | None = None, epsilon: float | Fraction | str = 1.0) -> RandomizedResponse:
    """k-ary randomised response on the query's value (Warner 1965; Kairouz, Oh, Viswanath 2014).

    Parameters
    ----------
    k : int or None
        Number of values and outputs; None takes it from the query.
    epsilon : number in [0, 1000]
        Privacy parameter, in nats.

    Raises
    ------
    InputError
        If `epsilon` is out of range or `k` is below 2.

    >>> import numpy as np
    >>> randomized_response(2, 0).channel(np.arange(2)).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return RandomizedResponse(epsilon, k)  # type: ignore[arg-type]
