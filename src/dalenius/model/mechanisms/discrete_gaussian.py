"""Discrete Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb, ctx

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_fraction
from dalenius.model.mechanisms.base import (
    ExactEntries,
    Floats,
    Mechanism,
    distances,
    range_of,
    rational,
    strictly_called,
)
from dalenius.model.queries.base import Integers

__all__ = ["DiscreteGaussian", "discrete_gaussian"]

LEAST, MOST = Fraction(1, 100), 10**6
FAR = 39.0  # scales beyond which a probability is no double any more
REACH = 10  # scales by which values are widened


@dataclass(frozen=True)
class DiscreteGaussian(Mechanism):
    """Discrete Gaussian noise on an integer (Canonne, Kamath and Steinke 2020), clamped to a range, or not at all.

    g(k) = e^(-k^2/(2 scale^2)) / Z, Z = sum over all integers k of e^(-k^2/(2 scale^2)). Output y of value v has probability g(y - v)
    inside the range, and at its ends that of all that is clamped there.

    Parameters
    ----------
    scale : number in [1/100, 10^6]
        sigma, about the standard deviation.
    range : int or pair of int, optional
        Outputs lo, ..., hi; an integer means (0, hi). Left out, nothing cuts the noise off: an audit clamps it `reach` beyond the
        query's values (a household's own), and what that hides, 2 `tail` log of the number of letters at most, is added to the
        upper end.

    Raises
    ------
    InputError
        If `scale` is out of range, or the range is empty; `channel` raises it where there is no range: `clamped` has one.

    >>> import numpy as np
    >>> discrete_gaussian(scale=1, range=2).channel(np.arange(3)).round(3).tolist()
    [[0.699, 0.242, 0.059], [0.301, 0.399, 0.301], [0.059, 0.242, 0.699]]
    """

    kind: ClassVar[str] = "discrete_gaussian"
    scale: Fraction
    range: tuple[int, int] | None = None

    @strictly_called
    def __init__(self, *, scale: Number, range: Integer | Sequence[Integer] | None = None) -> None:
        number = as_fraction(scale, "mechanism: scale")
        if not LEAST <= number <= MOST:
            raise InputError(f"mechanism: scale must be from {LEAST} to {MOST}, got {brief(scale)}")
        object.__setattr__(self, "scale", number)
        object.__setattr__(self, "range", range_of(range))

    @property
    def reach(self) -> int:
        """How far noise goes beyond which it has hardly any probability: the least integer that is at least 10 scale + 1."""
        return math.ceil(REACH * self.scale + 1)

    @property
    def tail(self) -> float:
        """At least the probability that noise is `reach` or more, R: e^(-R^2/(2 scale^2)) / (1 - e^(-(2R+1)/(2 scale^2))).

        Bound because g(k) <= e^(-k^2/(2 scale^2)), and from one k >= R to the next that falls at least by the factor in the divisor.
        """
        reach = self.reach
        fall = float((2 * reach + 1) / (2 * self.scale**2))
        return math.exp(-float(reach**2 / (2 * self.scale**2))) / -math.expm1(-fall)

    def hidden(self, letters: int) -> float:
        """At most the nats about a record of so many letters that `clamped` noise does not tell: 2 tail log(letters).

        Bound because the clamped output says what was clamped unless it is an end of the range (docs/theory.md, independent blocks).
        """
        return 2.0 * self.tail * math.log(letters)

    def clamped(self, values: Integers) -> DiscreteGaussian:
        """The same noise, clamped `reach` beyond the least and the greatest of these values; itself where it has a range.

        >>> import numpy as np
        >>> discrete_gaussian(scale=2).clamped(np.arange(4)).range
        (-21, 24)
        """
        if self.range is not None:
            return self
        return DiscreteGaussian(scale=self.scale, range=(int(values[0]) - self.reach, int(values[-1]) + self.reach))

    def channel(self, values: Integers) -> Floats:
        steps = distances(values, self._span)
        sigma = float(self.scale)
        there = np.arange(int(steps.max()) + math.ceil(FAR * sigma) + 2)
        weights = np.exp(-0.5 * (there / sigma) ** 2)
        tails = np.cumsum(weights[::-1])[::-1]
        inside = weights[steps]
        inside[:, [0, -1]] = tails[steps[:, [0, -1]]]
        return inside / (2.0 * tails[0] - 1.0)

    def exact_entries(self, values: Integers) -> ExactEntries:
        steps = distances(values, self._span)
        last = int(steps.max())
        weights, tails = self._balls(last)
        total = 2 * tails[0] - 1
        at_an_end = np.isin(np.arange(steps.shape[1]), (0, steps.shape[1] - 1))
        numbers = [x / total for pair in zip(weights, tails, strict=True) for x in pair]
        return ExactEntries(numbers, 2 * steps + at_an_end)

    def _balls(self, last: int) -> tuple[list[arb], list[arb]]:
        """e^(-k^2/(2 scale^2)) for k = 0, ..., last, and the sums of these from k on, to infinity."""
        rate = arb(rational(-1 / (2 * self.scale**2)))
        enough = math.isqrt(int(2 * self.scale**2 * (ctx.prec + 16))) + 2
        end = max(last + 1, enough)
        terms = [(rate * k**2).exp() for k in range(end + 1)]
        left = terms[end] / (
            1 - (rate * (2 * end + 1)).exp()
        )  # at most: every further term falls by this factor or more
        tail = left / 2 + arb(0, left / 2)
        tails = []
        for k in reversed(range(end)):
            tail += terms[k]
            tails.append(tail)
        return terms[: last + 1], tails[::-1][: last + 1]

    @property
    def _span(self) -> tuple[int, int]:
        if self.range is None:
            raise InputError(
                "mechanism: discrete_gaussian without a range is known in audits of records, released by itself and of no Markov "
                "chain; give range=(lo, hi), to which what is released is clamped"
            )
        return self.range

    def output_labels(self, values: Integers) -> list[str]:
        lo, hi = self._span
        return [str(y) for y in range(lo, hi + 1)]


discrete_gaussian = DiscreteGaussian
