"""Rows that are one law of noise, shifted by each of many values: their divergences from a law of the outputs, none written out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import TINY
from dalenius.information.entropies import x_log_x


@dataclass(frozen=True, eq=False)
class Shifts:
    """Noise on some values, clamped `beyond` the least and the greatest of them.

    Attributes
    ----------
    law : (2 D + 1,)
        Probabilities of noise from -D to D, D the farthest of an output from a value; the ends have all beyond them.
    values : ascending
    beyond : int
    """

    law: Floats
    values: Integers
    beyond: int

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return (self.law.size + 1) // 2 + self.beyond

    @cached_property
    def _places(self) -> Integers:
        """Of the values among the outputs."""
        return self.values - self.values[0] + self.beyond

    @cached_property
    def _tails(self) -> Floats:
        """Probabilities of noise of at least d, for d = 0, ..., D."""
        return np.cumsum(self.law[self.law.size // 2 :][::-1])[::-1]

    @cached_property
    def _negentropies(self) -> Floats:
        """The sum of R log R of each value's row."""
        sums = np.concatenate([[0.0], np.cumsum(x_log_x(self.law))])
        middle, last = self.law.size // 2, self.outputs - 1
        inside = sums[middle + last - self._places] - sums[middle + 1 - self._places]
        return inside + x_log_x(self._tails[self._places]) + x_log_x(self._tails[last - self._places])

    def rows(self, chosen: Integers) -> Floats:
        """The rows of these values, by index: (chosen, outputs)."""
        places = self._places[chosen]
        found = np.stack([self.law[(start := self.law.size // 2 - at) : start + self.outputs] for at in places])
        found[:, 0], found[:, -1] = self._tails[places], self._tails[self.outputs - 1 - places]
        return found

    def divergences(self, law: Floats) -> Floats:
        """D(row || law) of every value, in nats, by one correlation; up to rounding.

        >>> shifts = Shifts(np.array([0.25, 0.5, 0.25]), np.arange(2), 0)
        >>> shifts.divergences(np.array([0.5, 0.5])).round(12).tolist(), shifts.rows(np.arange(2)).tolist()
        ([0.130812035941, 0.130812035941], [[0.75, 0.25], [0.25, 0.75]])
        """
        logs = np.log(np.maximum(law, TINY))
        ends, logs[[0, -1]] = logs[[0, -1]].copy(), 0.0
        size = 1 << (logs.size + self.law.size).bit_length()
        costs = np.fft.irfft(np.fft.rfft(logs, size) * np.fft.rfft(self.law, size), size)
        costs = costs[self.law.size // 2 + self._places]
        costs += self._tails[self._places] * ends[0] + self._tails[self.outputs - 1 - self._places] * ends[1]
        return self._negentropies - costs
