"""Independent records, each of a law of a class: above a floor, in a box, a mixture, or in a ball."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import Numbers, Rows, as_law, as_laws, as_nonnegative, exact_sum
from dalenius.information.balls import rational
from dalenius.information.measures import (
    ChiSquareBall,
    KLBall,
    PriorBall,
    PriorBox,
    PriorClass,
    PriorFloor,
    PriorPolytope,
)
from dalenius.information.measures.numbers import rationals
from dalenius.model.adversaries.base import Adversary
from dalenius.model.fields import Exact, Given, declared, number
from dalenius.model.records import Records


class LawClass(Adversary):
    """Every prior under which the records are independent and the one that is asked about has a law of a closed convex class.

    Of one record these are the laws of the class. I(X_i; Y) is concave in that law and convex in the laws of the others, so that the
    worst others are known, and what is left is one concave maximisation for each selection of rows (docs/theory.md).
    """

    audit: ClassVar[str] = "law_class"
    no_program: ClassVar[str] = (
        "closed steps meet both ends over a class of laws; it is written as .nl where there is a matrix, and by dalenius.atoms"
    )

    @property
    def record_laws(self) -> PriorClass:
        return self.priors

    def laws(self, records: Records) -> PriorClass:
        return self.priors

    @property
    @abstractmethod
    def letters(self) -> int | None:
        """Number of letters of its laws; None for any number."""

    @property
    @abstractmethod
    def priors(self) -> PriorClass:
        """The same class in exact numbers (`fmpq`), as `dalenius.information.measures` has it."""

    def fits(self, letters: int) -> bool:
        """True if it has laws on so many letters."""
        return self.letters in (None, letters)

    def check(self, records: Records) -> None:
        if self.letters is not None and any(size != self.letters for size, _ in records.runs):
            raise InputError(
                f"adversary: {self.kind} has laws on {self.letters} letters, and every record needs as many; got the alphabets "
                f"{brief(list(records.alphabets))}"
            )

    def check_laws(self, records: Records) -> None:
        if not self.fits(datasets := records.datasets):
            raise InputError(
                f"adversary: about secrets {self.kind} has laws of the whole dataset, a number for each of the {datasets} "
                f"datasets; {'lower floor' if self.letters is None else f'its laws have {self.letters}'}"
            )

    def in_words(self) -> str:
        return f"who holds any law of {self._words} for the record, the others being independent of it"

    def of_dataset_in_words(self) -> str:
        return f"who holds any law of {self._words} for the dataset"

    _words: ClassVar[str] = "a class"


@declared
class BallPriors(LawClass):
    """Laws near one, the center."""

    center: Given[Numbers, tuple[Fraction, ...]] = Given(as_law)
    radius: Exact = Given(number(at_least=0))
    ball: ClassVar[type[PriorBall | KLBall | ChiSquareBall]]

    @property
    def letters(self) -> int:
        return len(self.center)

    @cached_property
    def priors(self) -> PriorClass:
        return self.ball(divided(self.center), rational(self.radius))


def divided(law: Sequence[Fraction]) -> NDArray[Any]:
    """A law, divided by its exact sum.

    >>> divided([Fraction(1), Fraction(3)]).tolist()
    [1/4, 3/4]
    """
    weights = rationals(law)
    return weights / weights.sum()


@declared
class FloorPriors(LawClass):
    """Laws of which no letter is rarer than `floor`: p(a) >= floor for every letter a.

    Parameters
    ----------
    floor : number
        At least 0, and at most 1 over the number of letters.

    Raises
    ------
    InputError
        If `floor` is negative or no number; `check` raises it where it is too large for the records.

    >>> FloorPriors(0.1)
    FloorPriors(floor=Fraction(1, 10))
    """

    kind: ClassVar[str] = "floor_priors"
    floor: Exact = Given(number(at_least=0))

    @property
    def letters(self) -> None:
        return None

    @property
    def priors(self) -> PriorClass:
        return PriorFloor(rational(self.floor))

    def fits(self, letters: int) -> bool:
        return letters * self.floor <= 1

    def check(self, records: Records) -> None:
        most = max(size for size, _ in records.runs)
        if not self.fits(most):
            raise InputError(
                f"adversary: {most} letters cannot all have a probability of at least {self.floor}; lower floor"
            )

    _words = "the laws above a floor"


@declared
class BoxPriors(LawClass):
    """Laws between two ends: low(a) <= p(a) <= high(a) for every letter a.

    Parameters
    ----------
    low, high : sequences of numbers, one a letter
        Nonnegative; `low` sums to at most 1, `high` to at least 1.

    Raises
    ------
    InputError
        If the lists differ in length, an end is negative or no number, or no law lies between them.

    >>> BoxPriors([0.2, 0.3], [0.7, 0.8]).letters
    2
    """

    kind: ClassVar[str] = "box_priors"
    low: Given[Numbers, tuple[Fraction, ...]] = Given(as_nonnegative)
    high: Given[Numbers, tuple[Fraction, ...]] = Given(as_nonnegative)

    def __post_init__(self) -> None:
        if not self.low or len(self.low) != len(self.high):
            raise InputError(
                f"adversary: low and high must have a number for each letter, got {len(self.low)} and {len(self.high)}"
            )
        for a, (least, most) in enumerate(zip(self.low, self.high, strict=True)):
            if least > most:
                raise InputError(f"adversary: low[{a}] is {least}, above high[{a}], {most}")
        if exact_sum(self.low, "adversary: low") > 1 or exact_sum(self.high, "adversary: high") < 1:
            raise InputError("adversary: no law lies in the box; low must sum to at most 1, and high to at least 1")

    @property
    def letters(self) -> int:
        return len(self.low)

    @cached_property
    def priors(self) -> PriorClass:
        return PriorBox(rationals(self.low), rationals(self.high))

    _words = "a box"


MAX_NUMBERS = 2**22


def _as_vertices(value: Rows, what: str) -> tuple[tuple[Fraction, ...], ...]:
    laws = as_laws(value, what)
    if not laws or len({len(law) for law in laws}) > 1:
        raise InputError(f"{what} must be at least one law, all with as many letters; list each vertex as one law")
    if sum(map(len, laws)) > MAX_NUMBERS:
        raise InputError(f"adversary: at most {MAX_NUMBERS} numbers, got {len(laws)} vertices of {len(laws[0])}")
    return laws


@declared
class PolytopePriors(LawClass):
    """All mixtures of the listed laws, the vertices.

    Parameters
    ----------
    vertices : sequence of laws
        Each is divided by its exact sum, which may differ from 1 by at most 1e-9.

    Raises
    ------
    InputError
        If there is no vertex, they differ in length, or one of them is no law.

    >>> PolytopePriors([[0.5, 0.5], [0.9, 0.1]]).letters
    2
    """

    kind: ClassVar[str] = "polytope_priors"
    vertices: Given[Rows, tuple[tuple[Fraction, ...], ...]] = Given(_as_vertices)

    @property
    def letters(self) -> int:
        return len(self.vertices[0])

    @cached_property
    def priors(self) -> PriorClass:
        return PriorPolytope(np.array([divided(law) for law in self.vertices]))

    _words = "a polytope"


class L1BallPriors(BallPriors):
    """Laws p with sum_a |p(a) - q(a)| <= radius, q the center: twice the total variation distance.

    Parameters
    ----------
    center : sequence of numbers
        A law, divided by its exact sum, which may differ from 1 by at most 1e-9.
    radius : number
        From 0, the center alone, to 2, all laws.

    Raises
    ------
    InputError
        If `center` is no law or `radius` is negative or no number.

    >>> L1BallPriors([0.5, 0.5], 0.2).radius
    Fraction(1, 5)
    """

    kind: ClassVar[str] = "l1_ball_priors"
    ball = PriorBall
    _words = "an L1 ball"


class KLBallPriors(BallPriors):
    """Laws p with D(p || q) = sum_a p(a) log( p(a)/q(a) ) <= radius, q the center.

    Parameters
    ----------
    center : sequence of numbers
        A law, divided by its exact sum, which may differ from 1 by at most 1e-9.
    radius : number
        In nats.

    Raises
    ------
    InputError
        If `center` is no law or `radius` is negative or no number.

    >>> KLBallPriors([0.5, 0.5], "1/50").letters
    2
    """

    kind: ClassVar[str] = "kl_ball_priors"
    ball = KLBall
    _words = "a KL ball"


class ChiSquareBallPriors(BallPriors):
    """Laws p with sum_a (p(a) - q(a))^2 / q(a) <= radius, q the center.

    Parameters
    ----------
    center : sequence of numbers
        A law, divided by its exact sum, which may differ from 1 by at most 1e-9.
    radius : number

    Raises
    ------
    InputError
        If `center` is no law or `radius` is negative or no number.

    >>> ChiSquareBallPriors([0.5, 0.5], 0.04).radius
    Fraction(1, 25)
    """

    kind: ClassVar[str] = "chi_square_ball_priors"
    ball = ChiSquareBall
    _words = "a chi-square ball"
