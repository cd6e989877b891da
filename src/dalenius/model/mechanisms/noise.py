"""Noise that is added to whole numbers: two-sided geometric or discrete Gaussian, or Laplace noise on one bit."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import ClassVar, Self

import numpy as np
from flint import arb, ctx

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.information.noise_formulas import scale_by_ratios
from dalenius.model.fields import Exact, ExactOrNone, Given, declared, number
from dalenius.model.mechanisms.base import (
    MAX_EPSILON,
    ByKind,
    Calibrated,
    ExactEntries,
    Span,
    above_zero,
    as_range,
    distances,
    exp_ball,
    need_one,
    symmetric_channel,
    symmetric_entries,
)
from dalenius.model.mechanisms.sampling import Random, discrete_gaussian_noise, discrete_laplace_noise

LEAST, MOST = Fraction(1, 100), 10**6
FAR = 39.0  # scales beyond which a probability is no double any more
REACH = 10  # scales by which values are widened
SIGMAS = 18  # over so many scales the law is summed, at the least


class AddedNoise(ByKind):
    """Noise that is added to the query's value."""

    @property
    def shifts(self) -> bool:
        return True


class ScaledNoise(AddedNoise):
    """The same of some scale.

    Where what it reveals `falls` with the scale, noise of a larger one is noise of a smaller one to which more is added.
    """

    adds: ClassVar[bool] = True
    falls: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def of_scale(cls, scale: Number) -> Self:
        """The noise of this scale, with no range."""

    @property
    @abstractmethod
    def spread(self) -> Fraction:
        """Its scale."""

    def spread_of(self, moved: Fraction) -> Fraction:
        """Its scale on a number that one person moves by so much: an epsilon is the person's, and a scale is what it is."""
        return self.spread

    @property
    @abstractmethod
    def mean_error(self) -> float:
        """Largest mean distance of the release from the value, in doubles: E |noise|, before anything clamps it."""

    def law(self, span: int) -> tuple[Floats, int]:
        return self.alone().channel(np.array([-span, 0, span]))[1], 0

    def spreading(self, scale: Number) -> Self:
        """The same noise of another scale."""
        return self.of_scale(scale)

    def spreads(self, span: int) -> tuple[Fraction, Fraction]:
        """The least and the largest scale where values are so far apart."""
        return Fraction(1, MAX_EPSILON), Fraction(MOST)

    def enough(self, nats: float, span: int) -> list[tuple[float, str]]:
        """Scales that are enough where what is known leaves the value in an interval of this length, each with its theorem."""
        return [(scale_by_ratios(nats, span), "likelihood ratios alone")]


@declared
class Geometric(ScaledNoise):
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
    words: ClassVar[str] = "truncated geometric noise"
    epsilon: Exact = Given(above_zero)
    range: Span = Given(as_range, default=None, kw_only=True, in_files=int | tuple[int, int])

    @classmethod
    def of_scale(cls, scale: Number) -> Self:
        return cls(1 / as_fraction(scale, "scale"))

    @property
    def two_sided(self) -> Fraction:
        return self.epsilon

    @property
    def epsilon_per_step(self) -> Fraction:
        return self.epsilon

    @property
    def mean_error(self) -> float:
        """1 / sinh(epsilon): the sum over k of |k| a^|k| (1-a)/(1+a) is 2a / (1-a^2)."""
        return 1.0 / math.sinh(min(float(self.epsilon), 700.0))

    @property
    def on_a_bit(self) -> bool:
        return self.range is None

    def alone(self) -> DiscreteLaplace:
        """Of outputs beyond the values that are left only the side matters."""
        return DiscreteLaplace(self.epsilon)

    @property
    def spread(self) -> Fraction:
        return 1 / self.epsilon

    def spread_of(self, moved: Fraction) -> Fraction:
        return moved / self.epsilon

    def spreading(self, scale: Number) -> Self:
        return replace(self, epsilon=1 / as_fraction(scale, "scale"))

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

    @property
    def sampler(self) -> Callable[[Random | None], int]:
        return partial(discrete_laplace_noise, self.spread)

    def clamping(self, least: int, largest: int) -> tuple[int, int]:
        return self.span(np.array([least, largest]))

    def output_labels(self, values: Integers) -> list[str]:
        lo, hi = self.span(values)
        return [str(y) for y in range(lo, hi + 1)]


geometric = Geometric


class LaplaceThreshold(Calibrated):
    """The Laplace mechanism on a query with values 0 and 1, rounded to the nearer value (source paper, section 7.2).

    Noise of scale 1/epsilon crosses the threshold 1/2 with probability e^(-epsilon/2)/2: a binary symmetric channel.

    Parameters
    ----------
    epsilon : number in [0, 1000]
        Privacy parameter for sensitivity 1, in nats.

    Raises
    ------
    InputError
        If `epsilon` is out of range.

    >>> import numpy as np
    >>> bool(np.isclose(laplace_threshold(1.0).channel(np.arange(2))[0, 1], np.exp(-0.5) / 2))
    True
    """

    kind: ClassVar[str] = "laplace_threshold"
    words: ClassVar[str] = "Laplace noise, cut to a yes or a no"
    on_a_bit: ClassVar[bool] = True

    def channel(self, values: Integers) -> Floats:
        if values.tolist() != [0, 1]:
            raise InputError(
                f"mechanism: laplace_threshold needs a query with the two values 0 and 1 (parity, threshold), got "
                f"{values.size} value(s) from {values[0]} to {values[-1]}"
            )
        flip = math.exp(-self.epsilon / 2) / 2
        return symmetric_channel(values, 2, 1.0 - flip, flip)

    def exact_entries(self, values: Integers) -> ExactEntries:
        _ = self.channel(values)
        flip = exp_ball(-self.epsilon / 2) / 2
        return symmetric_entries(values, 2, 1 - flip, flip)


laplace_threshold = LaplaceThreshold


@declared
class DiscreteLaplace(ScaledNoise):
    """Discrete Laplace noise (two-sided geometric noise) on an integer: output y of value v has probability a^|y-v| (1-a)/(1+a).

    a = e^-epsilon, or e^(-1/scale); y is any integer.

    Parameters
    ----------
    epsilon : number in (0, 1000], optional
        Privacy parameter for sensitivity 1, in nats.
    scale : number, optional
        1/epsilon; instead of `epsilon`.

    Raises
    ------
    InputError
        If neither or both are given, one is out of range, or it is not given by name.

    Notes
    -----
    Of an output up to the least value, and of one from the largest value on, only the side matters: its column is a multiple of that
    value's own. Merging them loses nothing, and what is left is `Geometric` on the range of the values: the channel that is worked
    with, whose first output means "at most the least value" and its last one "at least the largest" (docs/certificate-format.md).

    >>> import numpy as np
    >>> bool(np.array_equal(discrete_laplace(scale=2).channel(np.arange(3)), Geometric(0.5).channel(np.arange(3))))
    True
    """

    kind: ClassVar[str] = "discrete_laplace"
    words: ClassVar[str] = "discrete Laplace noise"
    on_a_bit: ClassVar[bool] = True
    epsilon: ExactOrNone = Given(above_zero, default=None)
    scale: ExactOrNone = Given(number(at_least=Fraction(1, MAX_EPSILON)), default=None, kw_only=True)

    def __post_init__(self) -> None:
        need_one(self, "epsilon", "scale")

    @property
    def two_sided(self) -> Fraction:
        return 1 / self.spread

    @property
    def spread(self) -> Fraction:
        if self.epsilon is not None:
            return 1 / self.epsilon
        assert self.scale is not None
        return self.scale

    def spread_of(self, moved: Fraction) -> Fraction:
        return self.spread if self.epsilon is None else moved / self.epsilon

    @classmethod
    def of_scale(cls, scale: Number) -> Self:
        return cls(scale=scale)

    @property
    def epsilon_per_step(self) -> Fraction:
        return self.two_sided

    @property
    def mean_error(self) -> float:
        return self.merged.mean_error

    @property
    def merged(self) -> Geometric:
        """The same where outputs that only the side tells apart are one."""
        return Geometric(self.two_sided)

    def channel(self, values: Integers) -> Floats:
        return self.merged.channel(values) if values.size > 1 else np.ones((1, 1))

    def exact_entries(self, values: Integers) -> ExactEntries:
        return self.merged.exact_entries(values) if values.size > 1 else ExactEntries.of_rows([[Fraction(1)]])

    @property
    def sampler(self) -> Callable[[Random | None], int]:
        return partial(discrete_laplace_noise, self.spread)

    def output_labels(self, values: Integers) -> list[str]:
        if values.size == 1:
            return ["any"]
        inside = self.merged.output_labels(values)[1:-1]
        return [f"at most {values[0]}", *inside, f"at least {values[-1]}"]


discrete_laplace = DiscreteLaplace


@declared
class DiscreteGaussian(ScaledNoise):
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
    words: ClassVar[str] = "discrete Gaussian noise"
    falls: ClassVar[bool] = False
    scale: Exact = Given(number(at_least=LEAST, at_most=MOST), kw_only=True)
    range: Span = Given(as_range, default=None, kw_only=True)

    @property
    def shifts(self) -> bool:
        return self.range is None

    @classmethod
    def of_scale(cls, scale: Number) -> Self:
        return cls(scale=scale)

    @property
    def spread(self) -> Fraction:
        return self.scale

    def spreading(self, scale: Number) -> Self:
        return replace(self, scale=scale)

    def spreads(self, span: int) -> tuple[Fraction, Fraction]:
        return LEAST, Fraction(MOST)

    def enough(self, nats: float, span: int) -> list[tuple[float, str]]:
        return []

    @property
    def mean_error(self) -> float:
        there = np.arange(1, self.reach + 1)
        weights = np.exp(-0.5 * (there / float(self.scale)) ** 2)
        return float(2.0 * (there @ weights) / (2.0 * weights.sum() + 1.0))

    def law(self, span: int) -> tuple[Floats, int]:
        far = span + self.reach
        return replace(self, range=(-far, far)).channel(np.zeros(1, dtype=np.int64))[0], self.reach

    def terms(self, outputs: float) -> float:
        return max(outputs, SIGMAS * float(self.scale))

    @property
    def reach(self) -> int:
        """Distance beyond which noise has hardly any probability: the least integer that is at least 10 scale + 1."""
        return math.ceil(REACH * self.scale + 1)

    @property
    def tail(self) -> float:
        """At least the probability that noise is `reach` or more, R: e^(-R^2/(2 scale^2)) / (1 - e^(-(2R+1)/(2 scale^2))).

        0 where there is a range, as nothing else cuts it off.

        Bound because g(k) <= e^(-k^2/(2 scale^2)), and from one k >= R to the next that falls at least by the factor in the divisor.
        """
        if self.range is not None:
            return 0.0
        reach = self.reach
        fall = float((2 * reach + 1) / (2 * self.scale**2))
        return math.exp(-float(reach**2 / (2 * self.scale**2))) / -math.expm1(-fall)

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

    @property
    def sampler(self) -> Callable[[Random | None], int]:
        return partial(discrete_gaussian_noise, self.scale)

    def clamping(self, least: int, largest: int) -> tuple[int, int] | None:
        return self.range

    def output_labels(self, values: Integers) -> list[str]:
        lo, hi = self._span
        return [str(y) for y in range(lo, hi + 1)]


discrete_gaussian = DiscreteGaussian
