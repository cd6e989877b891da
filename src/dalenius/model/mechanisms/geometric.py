"""The truncated geometric mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dalenius.model.mechanisms.base import Floats, Mechanism, distances, epsilon_of, range_of
from dalenius.model.queries.base import Integers

__all__ = ["Geometric", "geometric"]


@dataclass(frozen=True)
class Geometric(Mechanism):
    """Two-sided geometric noise of ratio a = e^-epsilon, clamped to the range: the tails sit on its two ends."""

    kind: ClassVar[str] = "geometric"
    epsilon: Fraction
    range: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", epsilon_of(self.epsilon, positive=True))
        object.__setattr__(self, "range", range_of(self.range))

    def channel(self, values: Integers) -> Floats:
        epsilon = float(self.epsilon)
        tail = np.exp(-epsilon * distances(values, self.range)) / (1.0 + np.exp(-epsilon))
        inside = tail * -np.expm1(-epsilon)
        inside[:, [0, -1]] = tail[:, [0, -1]]
        return inside

    def output_labels(self, values: Integers) -> list[str]:
        lo, hi = self.range or (int(values[0]), int(values[-1]))
        return [str(y) for y in np.arange(lo, hi + 1)]


def geometric(range: int | tuple[int, int] | None = None, epsilon: float | Fraction | str = 1.0) -> Geometric:
    """The truncated geometric mechanism of Ghosh, Roughgarden and Sundararajan (2009) for counts.

    With a = e^-epsilon, output y of value v has probability a^|y-v| (1-a)/(1+a) inside the range and a^|y-v|/(1+a) at its
    two ends.

    Parameters
    ----------
    range : int, pair of int, or None
        Outputs lo, ..., hi; an integer means (0, hi); None takes the smallest and largest value of the query.
    epsilon : number in (0, 1000]
        Privacy parameter for sensitivity 1, in nats.

    Raises
    ------
    InputError
        If `epsilon` is out of range, or the range is empty.

    >>> import numpy as np
    >>> geometric(3, 0.5).channel(np.arange(4)).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return Geometric(epsilon, range)  # type: ignore[arg-type]
