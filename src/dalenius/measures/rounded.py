"""Noise on the real line as a matrix: what comes out is rounded to a fine grid, and clamped far out, before it is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb, ctx, fmpq

from dalenius.information.arrays import Floats, Integers
from dalenius.model.mechanisms import Mechanism
from dalenius.model.mechanisms.base import ExactEntries, rational
from dalenius.model.mechanisms.real_noise import Gaussian, Laplace, RealNoise

__all__ = ["RoundedNoise"]

FAR = 10  # scales beyond the outermost values
MOST_CELLS, MOST_ENTRIES = 2**10, 2**15
PRECISION = 128


@dataclass(frozen=True)
class RoundedNoise(Mechanism):
    """A release with Gaussian or Laplace noise that is rounded: which of many short intervals it lies in, exactly.

    Rounding is post-processing, so that nothing here tells more than the release itself; of whoever guesses, or is told something,
    the measures are a little too low. No model file knows this kind.

    Parameters
    ----------
    noise : RealNoise

    >>> import numpy as np
    >>> RoundedNoise(Gaussian(1)).channel(np.arange(2)).sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """

    kind: ClassVar[str] = "rounded_noise"
    noise: RealNoise

    @property
    def step(self) -> Fraction:
        """How long an interval is at least, for values next to one another."""
        return 2 * FAR * self.noise.scale / MOST_CELLS

    def edges(self, values: Integers) -> list[Fraction]:
        """Between the intervals, ascending."""
        cells = min(MOST_CELLS, MOST_ENTRIES // values.size)
        low, high = (int(end) + sign * FAR * self.noise.scale for end, sign in ((values[0], -1), (values[-1], 1)))
        return [low + (high - low) * k / (cells - 2) for k in range(cells - 1)]

    def channel(self, values: Integers) -> Floats:
        with ctx.workprec(PRECISION):
            matrix: Floats = np.array(self.exact_channel(values), dtype=float)
        return matrix

    def exact_entries(self, values: Integers) -> ExactEntries:
        edges = self.edges(values)
        numbers = list[fmpq | arb]()
        for value in values.tolist():
            above = [self._above((edge - value) / self.noise.scale) for edge in edges]
            below = [self._above((value - edge) / self.noise.scale) for edge in edges]
            numbers.append(below[0])
            for k in range(len(edges) - 1):  # the smaller tails, so that nothing cancels
                left = edges[k] < value
                numbers.append(below[k + 1] - below[k] if left else above[k] - above[k + 1])
            numbers.append(above[-1])
        return ExactEntries(numbers, np.arange(len(numbers)).reshape(values.size, -1))

    def _above(self, point: Fraction) -> arb:
        """The probability that noise of scale 1 is above this point."""
        at = arb(rational(point))
        if isinstance(self.noise, Gaussian):
            return (at / arb(2).sqrt()).erfc() / 2
        assert isinstance(self.noise, Laplace)
        return (-at).exp() / 2 if point >= 0 else 1 - at.exp() / 2

    def output_labels(self, values: Integers) -> list[str]:
        return [f"above {float(edge):.6g}" for edge in [*self.edges(values)[:1], *self.edges(values)]]
