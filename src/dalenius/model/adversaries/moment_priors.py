"""Laws with a moment in an interval, such as a mean that is known to a tenth."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import Numbers, as_fractions
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.information.measures.numbers import Numbers as Exactly
from dalenius.information.measures.numbers import as_numbers, doubles, rationals
from dalenius.information.measures.prior_classes import Law, Polyhedron, Stated, normal, root, unit
from dalenius.model.adversaries.law_classes import LawClass
from dalenius.model.fields import Exact, Given, declared, number

ROUNDING = 1e-13  # of the mean of a law in doubles


@dataclass(frozen=True, eq=False)
class PriorMoment(Polyhedron):
    """low <= sum_x P(x) f(x) <= high: a vertex is one input, or two around an end of the interval.

    >>> round(float(PriorMoment([0, 1, 2], 0.5, 1.5).least_mean([0.1, 0.4, 0.2])), 12)
    0.125
    """

    values: Law
    low: Any
    high: Any

    def least_law(self, numbers: Exactly) -> Exactly:
        return self._least(numbers)[0]

    def _least(self, numbers: Exactly) -> tuple[Exactly, Any]:
        """The vertex, and the slope of the line through its two points (f, k), which are below no other point."""
        f, a = as_numbers(self.values), int(np.argmin(numbers))
        end, law = min(max(f[a], self.low), self.high), unit(numbers, 1)
        if end == f[a]:
            return law, 0
        side, law[a] = (1 if f[a] < end else -1), 0
        away = side * (f - end)
        before, after = np.flatnonzero(away < 0), np.flatnonzero(away >= 0)
        for _ in f:
            b = after[np.argmin((numbers[after] - numbers[a]) / (away[after] - away[a]))]
            steepest = before[np.argmax((numbers[b] - numbers[before]) / (away[b] - away[before]))]
            if steepest == a:
                break
            a = steepest
        law[a], law[b] = away[b] / (away[b] - away[a]), away[a] / (away[a] - away[b])
        return law, side * (numbers[b] - numbers[a]) / (away[b] - away[a])

    def multipliers(self, numbers: Exactly) -> tuple[float, ...]:
        slope = self._least(numbers)[1]
        return (-float(doubles(as_numbers([slope]))[0]),) if slope else ()

    def support(self, inputs: int) -> NDArray[np.bool_]:
        f = as_numbers(self.values)
        return np.asarray(
            ((f >= self.low) | (f.max() > self.low)) & ((f <= self.high) | (f.min() < self.high)), dtype=bool
        )

    def stated(self, inputs: int) -> Stated:
        f, low, high = (doubles(as_numbers(part)) for part in (self.values, [self.low], [self.high]))
        return Stated(f[None], low, high, doubles(self.least_law(rationals(np.zeros(inputs)))))

    def alike(self, letters: int) -> list[Hashable]:
        return list(as_numbers(self.values))

    def nearest(self, point: Floats, first: Integers, sizes: Integers) -> Floats:
        """With a multiplier of the moment, which is written from 0 to 1."""
        values = as_numbers(self.values)
        bottom, top = values.min(), values.max()
        ends = np.array([max(self.low, bottom), min(self.high, top)], dtype=object)
        f, (low, high) = (doubles((x - bottom) / ((top - bottom) or 1)) for x in (values[first], ends))

        def law(weight: float) -> Floats:
            return normal(lambda shift: np.maximum(point - weight * f - shift, 0.0), point - weight * f, sizes)

        mean = float(sizes @ (f * law(0.0)))
        end = min(max(mean, low), high)
        side = 1.0 if mean > end else -1.0

        def excess(weight: float) -> float:
            return side * (float(sizes @ (f * law(side * weight))) - end) - ROUNDING

        return law(side * root(excess) if excess(0.0) > 0.0 else 0.0)

    def settled(self, law: Exactly) -> Exactly:
        """*In the class because* of what is beyond an end a share goes to the input furthest on the other side."""
        f = as_numbers(self.values)
        mean = (law * f).sum()
        end = min(max(mean, self.low), self.high)
        if mean == end:
            return law
        other = int(np.argmin(f) if mean > end else np.argmax(f))
        beyond = law * ((f - end) * (mean - end) > 0)
        taken = beyond * ((mean - end) / (beyond * (f - f[other])).sum())
        moved = law - taken
        moved[other] += taken.sum()
        return moved


@declared
class MomentPriors(LawClass):
    """Laws under which a number of the letter has a mean in an interval: low <= sum_a p(a) f(a) <= high.

    Parameters
    ----------
    values : sequence of numbers
        f, one a letter; of any sign.
    low, high : numbers
        Equal for a moment that is known.

    Raises
    ------
    InputError
        If an argument is no number, or no law has such a mean.

    >>> MomentPriors([0, 1, 2], 0.9, "11/10").letters
    3
    """

    kind: ClassVar[str] = "moment_priors"
    values: Given[Numbers, tuple[Fraction, ...]] = Given(as_fractions)
    low: Exact = Given(number())
    high: Exact = Given(number())

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError("adversary: values must have a number for each letter, got none")
        least, most = min(self.values), max(self.values)
        if max(least, self.low) > min(most, self.high):
            raise InputError(
                f"adversary: no law has a mean from low to high, {self.low} to {self.high}; the values are from {least} to {most}"
            )

    @property
    def letters(self) -> int:
        return len(self.values)

    @cached_property
    def priors(self) -> PriorMoment:
        return PriorMoment(rationals(self.values), rational(self.low), rational(self.high))

    _words = "the laws with a moment in an interval"
