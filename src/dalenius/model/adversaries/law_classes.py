"""Independent records, each of a law of a class: any law, above a floor, in a box, a mixture, or in a ball."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import Numbers, Rows, as_laws, as_nonnegative, exact_sum
from dalenius.information.balls import rational
from dalenius.information.measures import (
    AllPriors,
    ChiSquareBall,
    KLBall,
    PriorBall,
    PriorBox,
    PriorClass,
    PriorFloor,
    PriorPolytope,
)
from dalenius.information.measures.numbers import rationals
from dalenius.model.adversaries.base import Adversary, BallPriors, LawClass, divided
from dalenius.model.fields import Exact, Given, declared, number
from dalenius.model.records import Records


class ProductPriors(Adversary):
    """Every prior under which the records are independent: P(x) = P_0(x_0) P_1(x_1) ... P_{n-1}(x_{n-1}), with any P_i.

    This is the adversary of differential privacy, who may know all records but one. For epsilon-differentially private mechanisms on
    binary records L <= log 2 - h(1/(1 + e^epsilon)), with equality for randomised response.

    Notes
    -----
    I(X_i; Y) is convex in the law of every other record, so the worst others are known: L is the largest Shannon capacity of the rows
    that the letters of record i select, over the records i and the settings of the others (docs/theory.md).

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.ProductPriors())
    >>> dl.loads(dl.dumps(problem)).adversary
    ProductPriors()
    """

    kind: ClassVar[str] = "product_priors"

    @property
    def record_laws(self) -> PriorClass:
        return AllPriors()

    def in_words(self) -> str:
        return "to whom the records are independent"

    def check(self, records: Records) -> None:
        """Every set of records has product priors."""


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
