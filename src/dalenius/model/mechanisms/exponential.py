"""The exponential mechanism for a numeric value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import as_fraction, brief
from dalenius.model.mechanisms.base import Floats, Mechanism, distances, epsilon_of, range_of
from dalenius.model.queries.base import Integers

__all__ = ["Exponential", "exponential"]

MAX_RATE = 10**12


@dataclass(frozen=True)
class Exponential(Mechanism):
    """Output y with probability proportional to exp(-epsilon |y - v| / (2 sensitivity)) over the range."""

    kind: ClassVar[str] = "exponential"
    epsilon: Fraction
    range: tuple[int, int] | None = None
    sensitivity: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", epsilon_of(self.epsilon))
        object.__setattr__(self, "range", range_of(self.range))
        sensitivity = as_fraction(self.sensitivity, "mechanism: sensitivity")
        if sensitivity <= 0:
            raise InputError(f"mechanism: sensitivity must be above 0, got {brief(self.sensitivity)}")
        if self.epsilon > MAX_RATE * sensitivity:
            raise InputError(
                f"mechanism: epsilon / sensitivity must be at most {MAX_RATE}, got {brief(self.sensitivity)} as sensitivity"
            )
        object.__setattr__(self, "sensitivity", sensitivity)

    def channel(self, values: Integers) -> Floats:
        weights = np.exp(-float(self.epsilon / (2 * self.sensitivity)) * distances(values, self.range))
        return weights / weights.sum(axis=1, keepdims=True)


def exponential(
    range: int | tuple[int, int] | None = None,
    epsilon: float | Fraction | str = 1.0,
    sensitivity: float | Fraction | str = 1,
) -> Exponential:
    """The exponential mechanism (McSherry, Talwar 2007) with the score -|y - v|.

    For a binary value it is the binary symmetric channel with flip probability 1/(1 + e^(epsilon/2)) (source paper, 7.2).

    Parameters
    ----------
    range : int, pair of int, or None
        Outputs lo, ..., hi; an integer means (0, hi); None takes the smallest and largest value of the query.
    epsilon : number in [0, 1000]
        Privacy parameter, in nats.
    sensitivity : number above 0
        Largest change of the query's value when one record changes.

    Raises
    ------
    InputError
        If a parameter is out of range.

    >>> import numpy as np
    >>> bool(np.isclose(exponential(1, 1.0).channel(np.arange(2))[0, 1], 1 / (1 + np.exp(0.5))))
    True
    """
    return Exponential(epsilon, range, sensitivity)  # type: ignore[arg-type]
