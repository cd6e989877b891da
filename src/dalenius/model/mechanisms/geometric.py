"""The truncated geometric mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb

from dalenius.exact import Integer, Number
from dalenius.model.mechanisms.base import (
    Calibrated,
    ExactEntries,
    Floats,
    distances,
    epsilon_of,
    exp_ball,
    range_of,
    rational,
    strictly_called,
)
from dalenius.model.queries.base import Integers

__all__ = ["Geometric", "geometric"]


@dataclass(frozen=True)
class Geometric(Calibrated):
    """The truncated geometric mechanism of Ghosh, Roughgarden and Sundararajan (2009) for counts.

    Two-sided geometric noise of ratio a = e^-epsilon, clamped to the range: output y of value v has probability
    a^|y-v| (1-a)/(1+a) inside the range and a^|y-v|/(1+a) at its two ends.

    Parameters
    ----------
    epsilon : number in (0, 1000]
        Privacy parameter for sensitivity 1, in nats.
    range : int or pair of int, optional
        Outputs lo, ..., hi; an integer means (0, hi); left out, they are the smallest and largest value of the query.

    Raises
    ------
    InputError
        If `epsilon` is out of range, the range is empty, or it is not given by name.

    >>> import numpy as np
    >>> geometric(0.5, range=3).channel(np.arange(4)).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    kind: ClassVar[str] = "geometric"
    in_files: ClassVar[dict[str, object]] = {"range": int | tuple[int, int]}
    range: tuple[int, int] | None = None

    @strictly_called
    def __init__(self, epsilon: Number, *, range: Integer | Sequence[Integer] | None = None) -> None:
        object.__setattr__(self, "epsilon", epsilon_of(epsilon, positive=True))
        object.__setattr__(self, "range", range_of(range))

    def channel(self, values: Integers) -> Floats:
        epsilon = float(self.epsilon)
        tail = np.exp(-epsilon * distances(values, self.range)) / (1.0 + np.exp(-epsilon))
        inside = tail * -np.expm1(-epsilon)
        inside[:, [0, -1]] = tail[:, [0, -1]]
        return inside

    def exact_entries(self, values: Integers) -> ExactEntries:
        steps, ratio = distances(values, self.range), exp_ball(-self.epsilon)
        tails = [exp_ball(-self.epsilon * step) / (1 + ratio) for step in range(int(steps.max()) + 1)]
        inside = -arb(-rational(self.epsilon)).expm1()
        at_an_end = np.isin(np.arange(steps.shape[1]), (0, steps.shape[1] - 1))
        return ExactEntries([number for tail in tails for number in (tail * inside, tail)], 2 * steps + at_an_end)

    def output_labels(self, values: Integers) -> list[str]:
        lo, hi = self.range or (int(values[0]), int(values[-1]))
        return [str(y) for y in np.arange(lo, hi + 1)]


geometric = Geometric
