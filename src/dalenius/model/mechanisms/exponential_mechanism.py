"""The exponential mechanism for a numeric value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb, fmpq

from dalenius.errors import InputError, brief
from dalenius.information.arrays import Floats, Integers
from dalenius.model.fields import Exact, Given, declared, number
from dalenius.model.mechanisms.base import (
    Calibrated,
    ExactEntries,
    Mechanism,
    Span,
    as_range,
    distances,
    exp_ball,
)

MAX_RATE = 10**12


@declared
class Exponential(Calibrated):
    """The exponential mechanism (McSherry, Talwar 2007) with the score -|y - v|.

    Output y has a probability proportional to exp(-epsilon |y - v| / (2 sensitivity)) over the range. For a binary value it is the
    binary symmetric channel with flip probability 1/(1 + e^(epsilon/2)) (source paper, 7.2).

    Parameters
    ----------
    epsilon : number in [0, 1000]
        Privacy parameter, in nats.
    range : int or pair of int, optional
        Outputs lo, ..., hi; an integer means (0, hi); left out, they are the smallest and largest value of the query.
    sensitivity : number above 0
        Largest change of the query's value when one record changes.

    Raises
    ------
    InputError
        If a parameter is out of range, or one but epsilon is not given by name.

    >>> import numpy as np
    >>> bool(np.isclose(exponential(1.0, range=1).channel(np.arange(2))[0, 1], 1 / (1 + np.exp(0.5))))
    True
    """

    kind: ClassVar[str] = "exponential"
    ranged: ClassVar[bool] = True
    words: ClassVar[str] = "the exponential mechanism"
    range: Span = Given(as_range, default=None, kw_only=True, in_files=int | tuple[int, int])
    sensitivity: Exact = Given(number(above=0), default=1, kw_only=True)

    def __post_init__(self) -> None:
        if self.epsilon > MAX_RATE * self.sensitivity:
            raise InputError(
                f"mechanism: epsilon / sensitivity must be at most {MAX_RATE}, got {brief(self.sensitivity)} as sensitivity"
            )

    @property
    def on_a_bit(self) -> bool:
        return self.range is None

    def at_total(self, total: int, values: Integers, ends: tuple[int, int]) -> Mechanism:
        """Outputs beyond the values are merged."""
        low, high = self.range or ends
        if not low <= total + values[0] <= total + values[-1] <= high:
            raise InputError(
                f"mechanism: values from {total + values[0]} to {total + values[-1]} are listed of a block, outside the range "
                f"{[low, high]}; widen it"
            )
        return MergedExponential(self.epsilon / (2 * self.sensitivity), (low - total, high - total))

    def channel(self, values: Integers) -> Floats:
        weights = np.exp(-float(self.epsilon / (2 * self.sensitivity)) * distances(values, self.range))
        return weights / weights.sum(axis=1, keepdims=True)

    def exact_entries(self, values: Integers) -> ExactEntries:
        steps, rate = distances(values, self.range), self.epsilon / (2 * self.sensitivity)
        powers = [exp_ball(-rate * step) for step in range(int(steps.max()) + 1)]
        nearer_end = np.minimum(steps[:, 0], steps[:, -1])  # two inputs as far from an end have one sum of weights
        ends, kind = np.unique(nearer_end, return_inverse=True)
        weights = [[powers[abs(y - end)] for y in range(steps.shape[1])] for end in ends.tolist()]
        numbers = [power / sum(row) for row in weights for power in powers]
        return ExactEntries(numbers, kind[:, None] * len(powers) + steps)


@dataclass(frozen=True)
class MergedExponential(Mechanism):
    """The exponential mechanism on a range, where all outputs up to the least of the values are one, and all from the greatest on.

    Merging them loses nothing: on the values v the columns y <= v_0 are e^(rate y) times one column, and so are those from the last
    value on (docs/certificate-format.md, independent blocks). No range is listed, however long it is.

    Attributes
    ----------
    rate : Fraction
        epsilon / (2 sensitivity).
    range : pair of int
        With all values in it.

    >>> import numpy as np
    >>> whole, values = exponential(1, range=(-1, 3)).channel(np.arange(2)), np.arange(2)
    >>> merged = MergedExponential(Fraction(1, 2), (-1, 3)).channel(values)
    >>> bool(np.allclose(merged, np.stack([whole[:, :2].sum(axis=1), whole[:, 2:].sum(axis=1)], axis=1)))
    True
    """

    kind: ClassVar[str] = "exponential"
    rate: Fraction
    range: tuple[int, int]

    def channel(self, values: Integers) -> Floats:
        steps, rate = distances(values, None), float(self.rate)
        weights = np.exp(-rate * steps)
        weights[:, 0] *= _sums(rate, values[0] - self.range[0])
        weights[:, -1] *= _sums(rate, self.range[1] - values[-1])
        return weights / weights.sum(axis=1, keepdims=True)

    def exact_entries(self, values: Integers) -> ExactEntries:
        steps = distances(values, None)
        powers = [exp_ball(-self.rate * step) for step in range(int(steps.max()) + 1)]
        first, last = (self._sum(int(d)) for d in (values[0] - self.range[0], self.range[1] - values[-1]))
        rows = [[powers[d] for d in row] for row in steps.tolist()]
        rows = [[row[0] * first, *row[1:-1], row[-1] * last] for row in rows]
        numbers = [weight / sum(row) for row in rows for weight in row]
        return ExactEntries(numbers, np.arange(steps.size).reshape(steps.shape))

    def _sum(self, last: int) -> fmpq | arb:
        """The sum of e^(-rate d) for d = 0, ..., last."""
        if not self.rate:
            return fmpq(last + 1)
        return (1 - exp_ball(-self.rate * (last + 1))) / (1 - exp_ball(-self.rate))


def _sums(rate: float, last: int) -> float:
    return math.expm1(-rate * (int(last) + 1)) / math.expm1(-rate) if rate else float(last + 1)


exponential = Exponential
