"""A mean of values between public bounds, over a public number of people: a sum of whole steps, divided once the noise is added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer, fraction_text
from dalenius.model.mechanisms.noise import ScaledNoise
from dalenius.model.queries import Sum
from dalenius.model.records import MAX_ALPHABET, MAX_RECORDS, Records


@dataclass(frozen=True)
class Mean:
    """The mean of values from `low` to `high`, each rounded to a grid before anything else is done with it.

    A mean is a sum over a public number of people, so that it reveals what the sum does: `records`, `query` and `noise` are those of a
    sum, whose letter a stands for the value low + a step. Rounding loses no privacy, and moves the mean by at most half a step.

    Parameters
    ----------
    people : int
    low, high : number
        Public bounds of the values.
    step : number
        Of the grid, which has both bounds.

    Raises
    ------
    InputError
        If there are no people, the bounds are reversed, or no such steps lead from one to the other.

    >>> ages = Mean(1000, 0, 120)
    >>> ages.records.alphabets[0], ages.letters([30.2, 120]), ages.value(45_500)
    (121, (30, 120), Fraction(91, 2))
    >>> from dalenius.model.mechanisms import discrete_laplace
    >>> ages.noise(discrete_laplace(scale="0.02")).spread
    Fraction(20, 1)
    """

    people: Integer
    low: Number
    high: Number
    step: Number = 1

    def __post_init__(self) -> None:
        as_integer(self.people, "mean: people", at_least=1, at_most=MAX_RECORDS)
        if self._low >= self._high:
            raise InputError(
                f"mean: expected low < high, got {fraction_text(self._low)} and {fraction_text(self._high)}"
            )
        if self._step <= 0 or self._steps.denominator != 1 or self._steps >= MAX_ALPHABET:
            raise InputError(
                f"mean: expected a step that leads from low to high in whole steps, fewer than {MAX_ALPHABET}; got "
                f"{fraction_text(self._step)}, from {fraction_text(self._low)} to {fraction_text(self._high)}"
            )

    @property
    def _low(self) -> Fraction:
        return as_fraction(self.low, "mean: low")

    @property
    def _high(self) -> Fraction:
        return as_fraction(self.high, "mean: high")

    @property
    def _step(self) -> Fraction:
        return as_fraction(self.step, "mean: step")

    @property
    def _steps(self) -> Fraction:
        return (self._high - self._low) / self._step

    @cached_property
    def records(self) -> Records:
        """The people, whose letters are named by their values."""
        names = [fraction_text(self._low + a * self._step) for a in range(int(self._steps) + 1)]
        return Records(self.people, alphabet=len(names), letters=names)

    @property
    def query(self) -> Sum:
        """The sum of the letters."""
        return Sum()

    def noise(self, of_mean: ScaledNoise) -> ScaledNoise:
        """Noise of the sum of the letters, where the mean is to have this noise."""
        return of_mean.spreading(of_mean.spread * int(self.people) / self._step)

    def letters(self, values: Iterable[Number]) -> tuple[int, ...]:
        """The letters nearest to some people's values; `InputError` if one is beyond the bounds, and no message repeats it."""
        found = [as_fraction(value, "mean: a value") for value in values]
        if beyond := sum(not self._low <= value <= self._high for value in found):
            raise InputError(
                f"mean: {beyond} of {len(found)} values are beyond the bounds; clamp them first, or widen the bounds"
            )
        return tuple(round((value - self._low) / self._step) for value in found)

    def value(self, output: Integer) -> Fraction:
        """The mean that a released sum of letters stands for."""
        return self._low + self._step * Fraction(as_integer(output, "mean: output"), int(self.people))
