"""How many of n answers are yes, each of them randomised before it is counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb, arb_poly, fmpq, fmpq_poly

from dalenius.errors import InputError
from dalenius.exact import Number
from dalenius.model.mechanisms.base import (
    MAX_ENTRIES,
    ExactEntries,
    Floats,
    Mechanism,
    epsilon_or_flip,
    exp_ball,
    rational,
    strictly_called,
)
from dalenius.model.queries.base import Integers

__all__ = ["RandomizedCount", "randomized_count"]


@dataclass(frozen=True)
class RandomizedCount(Mechanism):
    """Every bit is kept with probability 1 - flip and turned round otherwise (Warner 1965), then the ones are counted.

    Of v ones among n bits there are y with the probability of B(v, 1 - flip) + B(n - v, flip) = y, two independent binomial numbers;
    the query must be a count of all n bits.

    Parameters
    ----------
    epsilon : number in [0, 1000], optional
        Privacy of one answer: flip = 1/(1 + e^epsilon).
    flip : number in [0, 1], optional
        Instead of `epsilon`; exact.

    Raises
    ------
    InputError
        If neither or both are given, or one is out of range; `channel` raises it where the query's values are not 0, 1, ..., n.

    >>> import numpy as np
    >>> randomized_count(flip=0.25).channel(np.arange(3))[0].tolist()
    [0.5625, 0.375, 0.0625]
    """

    kind: ClassVar[str] = "randomized_count"
    epsilon: Fraction | None = None
    flip: Fraction | None = None

    @strictly_called
    def __init__(self, epsilon: Number | None = None, *, flip: Number | None = None) -> None:
        for name, value in zip(("epsilon", "flip"), epsilon_or_flip(self.kind, epsilon, flip), strict=True):
            object.__setattr__(self, name, value)

    def channel(self, values: Integers) -> Floats:
        n = _last(values)
        if self.flip is not None:
            change, keep = float(self.flip), float(1 - self.flip)
        else:
            assert self.epsilon is not None
            keep = 1.0 / (1.0 + math.exp(-self.epsilon))
            change = 1.0 / (1.0 + math.exp(self.epsilon)) if self.epsilon < 700 else math.exp(-self.epsilon)
        ones, zeros = (_powers(first, second, n) for first, second in ((change, keep), (keep, change)))
        return np.stack([np.convolve(ones[v], zeros[n - v]) for v in range(n + 1)])

    def exact_entries(self, values: Integers) -> ExactEntries:
        n, change = _last(values), self._change
        ones, zeros = _linear(change, 1 - change), _linear(1 - change, change)
        rows = [ones**v * zeros ** (n - v) for v in range(n // 2 + 1)]
        place = np.arange((n // 2 + 1) * (n + 1)).reshape(-1, n + 1)
        index = np.concatenate([place, place[: (n + 1) // 2][::-1, ::-1]])  # of v ones and of v zeros
        return ExactEntries([row[y] for row in rows for y in range(n + 1)], index)

    @property
    def _change(self) -> fmpq | arb:
        if self.flip is not None:
            return rational(self.flip)
        assert self.epsilon is not None
        return 1 / (1 + exp_ball(self.epsilon))

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        """Where an answer says nothing the count is that of fair coins."""
        if self.epsilon == 0 or self.flip == Fraction(1, 2):
            return tuple(Fraction(math.comb(outputs - 1, y), 2 ** (outputs - 1)) for y in range(outputs))
        return None


randomized_count = RandomizedCount


def _last(values: Integers) -> int:
    """n, of the values 0, 1, ..., n."""
    if values.size < 2 or not np.array_equal(values, np.arange(values.size)):
        raise InputError(
            f"mechanism: randomized_count needs a count with the values 0, 1, ..., n; got {values.size} value(s) from {values[0]} to "
            f"{values[-1]}"
        )
    if values.size**2 > MAX_ENTRIES:
        raise InputError(f"mechanism: the channel would have more than {MAX_ENTRIES} entries; count fewer records")
    return int(values[-1])


def _linear(first: fmpq | arb, second: fmpq | arb) -> fmpq_poly | arb_poly:
    """first + second z."""
    if isinstance(first, fmpq) and isinstance(second, fmpq):
        return fmpq_poly([first, second])
    return arb_poly([first, second])


def _powers(first: float, second: float, most: int) -> list[Floats]:
    """The coefficients of (first + second z)^v for v = 0, ..., most: sums of positive numbers, as exact as doubles are."""
    found = [np.ones(1)]
    for _ in range(most):
        found.append(np.convolve(found[-1], [first, second]))
    return found
