"""A mean of values between public bounds, over a public number of people: a sum of whole steps, divided once the noise is added."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_fraction, as_integer, fraction_text
from dalenius.model.fields import Exact, Given, Whole, declared, number, whole
from dalenius.model.in_words import as_part
from dalenius.model.mechanisms import Mechanism, ScaledNoise
from dalenius.model.queries import Sum
from dalenius.model.records import MAX_ALPHABET, MAX_RECORDS, Records

if TYPE_CHECKING:
    from dalenius.model.problem import Problem


@declared
class Mean:
    """The mean of values from `low` to `high`, each rounded to a grid before anything else is done with it.

    A mean is a sum over a public number of people, so that it reveals what the sum does: `records`, `query` and `noise` are those of a
    sum, whose letter a stands for the value low + a step. Rounding moves the mean by at most half a step.
    What is proved is about the rounded value; of a person who is independent of the others, about the value itself, too.

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

    room: ClassVar[str] = "mean"
    people: Whole = Given(whole(at_least=1, at_most=MAX_RECORDS))
    low: Exact = Given(number())
    high: Exact = Given(number())
    step: Exact = Given(number(above=0), default=1)

    def __post_init__(self) -> None:
        steps = (self.high - self.low) / self.step
        if not 0 < steps < MAX_ALPHABET or steps.denominator != 1:
            wider = self.step * 10 ** len(str(steps // MAX_ALPHABET))
            fits = steps >= MAX_ALPHABET and (self.high - self.low) % wider == 0
            larger = f"; give a larger step, such as {fraction_text(wider)}" if fits else ""
            raise InputError(
                f"mean: expected low < high, a whole number of steps apart, fewer than {MAX_ALPHABET}; got {fraction_text(self.low)} "
                f"and {fraction_text(self.high)} in steps of {fraction_text(self.step)}{larger}"
            )

    @cached_property
    def records(self) -> Records:
        """The people, whose letters are named by their values."""
        steps = int((self.high - self.low) / self.step)
        names = [fraction_text(self.low + a * self.step) for a in range(steps + 1)]
        return Records(self.people, alphabet=len(names), letters=names)

    @property
    def query(self) -> Sum:
        """The sum of the letters."""
        return Sum()

    def noise(self, of_mean: ScaledNoise | str) -> ScaledNoise:
        """Noise of the sum of the letters, where the mean is to have this noise.

        A scale is one of the mean, in the unit of the values. An epsilon is that of one person, who moves the mean by
        (high - low) / people at most, as in `dalenius table`. It may be given in a line, as everywhere.

        Raises
        ------
        InputError
            If it is no noise with a scale.

        >>> from dalenius.model.mechanisms import discrete_laplace
        >>> Mean(1000, 0, 120).noise(discrete_laplace(0.5)).spread
        Fraction(240, 1)
        """
        of_mean = as_part(Mechanism, of_mean, "mean: noise")
        if not isinstance(of_mean, ScaledNoise):
            known = "noise with a scale or an epsilon, such as discrete_laplace(0.5)"
            raise InputError(f"mean: noise: expected {known}, got {brief(of_mean)}")
        scale = of_mean.spread_of((self.high - self.low) / self.people)
        return of_mean.spreading(scale / self.unit)

    @classmethod
    def behind(cls, problem: Problem) -> Mean | None:
        """The mean that a question about a sum is about, by its title and its letters' names; None where it is about another sum.

        >>> from dalenius.model import IndependentBlocks, WorstCaseLeakage
        >>> from dalenius.model.mechanisms import discrete_laplace
        >>> ages = Mean(1000, 0, 120)
        >>> asked = WorstCaseLeakage(records=ages.records, query=ages.query, mechanism=ages.noise(discrete_laplace(1)),
        ...     adversary=IndependentBlocks(1), title=ages.title)
        >>> Mean.behind(asked) == ages
        True
        """
        names = problem.records.letters
        if problem.query != Sum() or len(names) < 2 or min(problem.records.alphabets) < len(names):
            return None
        try:
            low, following = (as_fraction(name, "mean: a value") for name in names[:2])
            mean = cls(len(problem.records), low, names[-1], following - low)
        except InputError:
            return None
        return mean if (mean.title, mean.records.letters) == (problem.title, names) else None

    @property
    def title(self) -> str:
        """Of a question about the sum, what it stands for."""
        values = self.records.letters
        return f"the mean of {self.people} values from {values[0]} to {values[-1]}, as a sum"

    @property
    def unit(self) -> Fraction:
        """Share of the mean that a step of the sum is: a release of the sum that is wrong by so many is wrong by as many of these."""
        return self.step / self.people

    def letters(self, values: Iterable[Number]) -> tuple[int, ...]:
        """The letters nearest to some people's values; `InputError` if one is beyond the bounds, and no message repeats it."""
        found = [as_fraction(value, "mean: a value") for value in values]
        if beyond := sum(not self.low <= value <= self.high for value in found):
            raise InputError(
                f"mean: {beyond} of {len(found)} values are beyond the bounds; clamp them first, or widen the bounds"
            )
        return tuple(map(round, ((value - self.low) / self.step for value in found)))

    def value(self, output: Integer) -> Fraction:
        """The mean that a released sum of letters stands for."""
        return self.low + self.step * Fraction(as_integer(output, "mean: output"), self.people)
