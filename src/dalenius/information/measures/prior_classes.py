"""Classes of priors, by what suprema need of them: the least mean min_P sum_x P(x) k(x) of any numbers k, and a law that has it.

Each class is written for doubles and for exact numbers (`fmpq`): a supremum over it is then proved by exact laws of the class, from
below, and by `below`, from above. What an engine needs of a class, the class says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from dalenius.errors import InputError
from dalenius.information.arrays import Floats, Integers
from dalenius.information.measures.numbers import Numbers, as_numbers, doubles, is_exact

Law: TypeAlias = ArrayLike | Sequence[Fraction]
ROUNDING = 1e-12  # of the sum of a law in doubles
SHARP = 1e-15  # relative tolerance of multipliers
WIDEST = 1e12  # of a multiplier


@dataclass(frozen=True, eq=False)
class Stated:
    """A class of laws as a program states it: low <= rows (P, more) <= high, more numbers from 0 to 1 beside the law.

    Attributes
    ----------
    rows, low, high : (rows, inputs and more), (rows,), (rows,)
    limit : tuple or None
        A function, "log" for p log p or "square", weights w and c (inputs), and a number that sum_x w f(P) + c P is at most.
    start : (inputs and more,)
        A law of the class, with these numbers.
    """

    rows: Floats
    low: Floats
    high: Floats
    start: Floats
    limit: tuple[Literal["log", "square"], Floats, Floats, float] | None = None


class PriorClass(ABC):
    """A closed convex set of laws on the inputs."""

    @abstractmethod
    def least_mean(self, numbers: ArrayLike) -> Any:
        """min over the priors P of the class of sum_x P(x) k(x), in doubles."""

    @abstractmethod
    def exact_law(self, numbers: Numbers) -> Numbers:
        """A law of the class, exactly, whose mean of these rationals is the least, or close to it."""

    @abstractmethod
    def below(self, numbers: Numbers) -> Any:
        """An exact number or a ball that is not above the least mean of these rationals."""

    @abstractmethod
    def stated(self, inputs: int) -> Stated:
        """The class in doubles, beside the law's own rows: P >= 0 with the sum 1."""

    @abstractmethod
    def support(self, inputs: int) -> NDArray[np.bool_]:
        """The inputs to which some law of the class gives a probability above 0."""

    def settled(self, law: Numbers) -> Numbers:
        """A law of the class, exactly, in numbers that are not longer than need be: this one, or one next to it."""
        return law

    def multipliers(self, numbers: Numbers) -> tuple[float, ...]:
        """Multipliers that prove that the largest mean of -k is no larger, as a certificate has them (`m`)."""
        return ()

    def alike(self, letters: int) -> list[Hashable]:
        """A key for every letter, equal where the class says the same of both: only where laws with both exchanged are in it, too."""
        return list(range(letters))

    def nearest(self, point: Floats, first: Integers, sizes: Integers) -> Floats:
        """The law with the least sum of squares to a point, in one number for each group of letters that are alike.

        Parameters
        ----------
        point : (groups,)
        first, sizes : (groups,)
            A letter of each group, and how many it has.
        """
        raise NotImplementedError(f"{type(self).__name__} knows no nearest law: its laws are found as mixtures")

    def coarser(self, groups: int) -> PriorClass | None:
        """A class inside this one whose laws have one probability for each of so many groups of letters; None where none is known.

        What is claimed of a law of it rests on nothing here: a checker decides whether the law is in the class.
        """
        return None


class Polyhedron(PriorClass):
    """A class of which a vertex with the least mean is known in closed form, for numbers that can be sorted."""

    @abstractmethod
    def least_law(self, numbers: Numbers) -> Numbers:
        """The vertex, in the kind of numbers that the class and `numbers` are of."""

    def least_mean(self, numbers: ArrayLike) -> Any:
        k = as_numbers(numbers)
        return (self.least_law(k) * k).sum()

    def exact_law(self, numbers: Numbers) -> Numbers:
        return self.least_law(numbers)

    def below(self, numbers: Numbers) -> Any:
        return (self.least_law(numbers) * numbers).sum()

    def support(self, inputs: int) -> NDArray[np.bool_]:
        return np.ones(inputs, dtype=bool)


class Ranges(Polyhedron):
    """A class that says between which ends each probability is."""

    @abstractmethod
    def ranges(self, letters: int) -> tuple[Numbers, Numbers]:
        """The ends, a number for each letter."""

    def stated(self, inputs: int) -> Stated:
        low, high = map(doubles, self.ranges(inputs))
        return Stated(
            np.eye(inputs), low, high, low + (high - low) * (1.0 - low.sum()) / max((high - low).sum(), SHARP)
        )

    def alike(self, letters: int) -> list[Hashable]:
        return list(zip(*self.ranges(letters), strict=True))

    def nearest(self, point: Floats, first: Integers, sizes: Integers) -> Floats:
        low, high = (doubles(ends[first]) for ends in self.ranges(int(sizes.sum())))
        if not sizes @ low < 1.0 < sizes @ high:  # a single law, but for rounding
            return low if sizes @ low >= 1.0 else high
        return normal(lambda shift: np.clip(point - shift, low, high), point, sizes)

    def settled(self, law: Numbers) -> Numbers:
        """*In the class because* it is on the way from a law of the class towards this one, as far as the class goes."""
        low, high = self.ranges(len(law))
        room = (high - low).sum()
        inside = low + (high - low) * ((1 - low.sum()) / room if room else 0)
        step = np.array(
            [fmpq(0) if a == b else x for a, b, x in zip(low, high, law - inside, strict=True)], dtype=object
        )
        loose = int(np.argmax(doubles(high - low)))
        step[loose] -= step.sum()
        length = fmpq(1)
        for x in np.flatnonzero(step != 0):
            end = high[x] if step[x] > 0 else low[x]
            length = min(length, (end - inside[x]) / step[x])
        return inside + length * step


@dataclass(frozen=True)
class AllPriors(Ranges):
    """Every law: the least mean is min k.

    >>> float(AllPriors().least_mean([0.5, 0.25]))
    0.25
    """

    def least_law(self, numbers: Numbers) -> Numbers:
        return unit(numbers, 1)

    def ranges(self, letters: int) -> tuple[Numbers, Numbers]:
        return np.full(letters, fmpq(0)), np.full(letters, fmpq(1))

    def coarser(self, groups: int) -> AllPriors:
        return self


@dataclass(frozen=True)
class PriorFloor(Ranges):
    """P(x) >= c for every x: the least mean is c sum k + (1 - n c) min k.

    >>> round(float(PriorFloor(0.1).least_mean([0.5, 0.25])), 12)
    0.275
    """

    floor: Any

    def least_law(self, numbers: Numbers) -> Numbers:
        rest = 1 - numbers.size * self.floor
        if rest < (0 if isinstance(self.floor, fmpq) else -ROUNDING):
            raise InputError(
                f"priors: {numbers.size} probabilities of at least {self.floor} each sum to more than 1; lower the floor"
            )
        return self.floor + unit(numbers, rest)

    def ranges(self, letters: int) -> tuple[Numbers, Numbers]:
        return np.full(letters, self.floor), np.full(letters, fmpq(1))

    def coarser(self, groups: int) -> PriorFloor:
        return self


@dataclass(frozen=True, eq=False)
class PriorPolytope(Polyhedron):
    """All laws between listed ones, the vertices, (vertices, inputs).

    >>> round(float(PriorPolytope([[0.5, 0.5], [0.9, 0.1]]).least_mean([0.5, 0.25])), 12)
    0.375
    """

    vertices: ArrayLike

    def least_law(self, numbers: Numbers) -> Numbers:
        laws = as_numbers(self.vertices)
        return laws[np.argmin((laws * numbers).sum(axis=1))]

    def stated(self, inputs: int) -> Stated:
        """With a weight for each vertex."""
        laws, nothing = doubles(as_numbers(self.vertices)), np.zeros(inputs)
        even = np.full(len(laws), 1.0 / len(laws))
        return Stated(np.hstack([np.eye(inputs), -laws.T]), nothing, nothing, np.append(even @ laws, even))

    def support(self, inputs: int) -> NDArray[np.bool_]:
        return np.asarray((as_numbers(self.vertices) > 0).any(axis=0), dtype=bool)

    def alike(self, letters: int) -> list[Hashable]:
        return [tuple(column) for column in as_numbers(self.vertices).T]


@dataclass(frozen=True, eq=False)
class PriorBox(Ranges):
    """low(x) <= P(x) <= high(x): what is free beyond `low` goes to the smallest numbers first.

    >>> round(float(PriorBox([0.4, 0.2], [0.8, 0.6]).least_mean([0.5, 0.25])), 12)
    0.35
    """

    low: Law
    high: Law

    def least_law(self, numbers: Numbers) -> Numbers:
        low, high = as_numbers(self.low), as_numbers(self.high)
        free, law, rounding = 1 - low.sum(), low.copy(), 0 if is_exact(low) else ROUNDING
        if free < -rounding or high.sum() < 1 - rounding or (low > high).any():
            raise InputError(
                "priors: no law lies in this box; the lower ends must sum to at most 1, the upper to at least 1"
            )
        for x in np.argsort(numbers, kind="stable"):
            law[x] += min(max(free, 0), high[x] - low[x])
            free -= law[x] - low[x]
        return law

    def support(self, inputs: int) -> NDArray[np.bool_]:
        low, high = as_numbers(self.low), as_numbers(self.high)
        return np.asarray((high if low.sum() < 1 else low) > 0, dtype=bool)

    def ranges(self, letters: int) -> tuple[Numbers, Numbers]:
        return as_numbers(self.low), as_numbers(self.high)

    def coarser(self, groups: int) -> PriorBox:
        low, high = self.ranges(0)
        of = groups_of(doubles(low + high), groups)
        return PriorBox(each_of(of, low, max), each_of(of, high, min))


def unit(numbers: Numbers, mass: Any) -> Numbers:
    """All of a mass on the smallest number."""
    law = np.full(numbers.shape, fmpq(0), dtype=object) if is_exact(numbers) else np.zeros(numbers.shape)
    law[np.argmin(numbers)] = mass
    return law


def normal(law: Callable[[float], Floats], point: Floats, sizes: Integers) -> Floats:
    """The law whose sum is 1, of laws that fall with a shift."""

    def excess(shift: float) -> float:
        return float(sizes @ law(shift)) - 1.0

    low, high = float(point.min()) - 1.0, float(point.max())
    while excess(low) < 0.0:
        low -= high - low + 1.0
    while excess(high) > 0.0:
        high += high - low + 1.0
    return law(float(scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=4 * SHARP, maxiter=200)))


def root(excess: Callable[[float], float]) -> float:
    """The multiplier, above 0, at which a falling number is 0."""
    high = 1e-6
    while excess(high) > 0.0 and high < WIDEST:
        high *= 8.0
    low = 0.0 if high == 1e-6 else high / 8.0
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=4 * SHARP))


def groups_of(values: Floats, groups: int) -> Integers:
    """The group of each letter: as many values as there are steps between the least and the largest one, of equal width."""
    low, high = float(np.min(values)), float(np.max(values))
    steps = np.floor((values - low) / max(high - low, 1e-300) * groups)
    return np.asarray(np.minimum(steps, groups - 1), dtype=np.int64)


def each_of(of: Integers, values: Numbers, told: Callable[[list[Any]], Any]) -> Numbers:
    """For every letter what its group's values come to."""
    found = np.empty(len(values), dtype=object)
    for g in set(of.tolist()):
        members = np.flatnonzero(of == g)
        found[members] = told([values[a] for a in members])
    return found
