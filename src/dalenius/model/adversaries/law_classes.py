"""Independent records, each of a law of a class: any law, above a floor, in a box, a mixture, or in a ball."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import Number, Numbers, Rows, as_law, as_list, as_nonnegative, exact_sum
from dalenius.information.measures import (
    ChiSquareBall,
    KLBall,
    PriorBall,
    PriorBox,
    PriorClass,
    PriorFloor,
    PriorPolytope,
)
from dalenius.model.adversaries.base import Adversary, BallPriors, LawClass, divided, exact, exactly, nonnegative
from dalenius.model.records import Records


@dataclass(frozen=True)
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

    def in_words(self) -> str:
        return "to whom the records are independent"

    def check(self, records: Records) -> None:
        """Every set of records has product priors."""


@dataclass(frozen=True)
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
    floor: Fraction

    def __init__(self, floor: Number) -> None:
        object.__setattr__(self, "floor", nonnegative(floor, "floor"))

    @property
    def letters(self) -> None:
        return None

    @property
    def priors(self) -> PriorClass:
        return PriorFloor(exact(self.floor))

    def fits(self, letters: int) -> bool:
        return letters * self.floor <= 1

    def check(self, records: Records) -> None:
        most = max(size for size, _ in records.runs)
        if not self.fits(most):
            raise InputError(
                f"adversary: {most} letters cannot all have a probability of at least {self.floor}; lower floor"
            )

    _words = "the laws above a floor"


@dataclass(frozen=True)
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
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    def __init__(self, low: Numbers, high: Numbers) -> None:
        ends = as_nonnegative(low, "adversary: low"), as_nonnegative(high, "adversary: high")
        if not ends[0] or len(ends[0]) != len(ends[1]):
            raise InputError(
                f"adversary: low and high must have a number for each letter, got {len(ends[0])} and {len(ends[1])}"
            )
        for a, (least, most) in enumerate(zip(*ends, strict=True)):
            if least > most:
                raise InputError(f"adversary: low[{a}] is {least}, above high[{a}], {most}")
        if exact_sum(ends[0], "adversary: low") > 1 or exact_sum(ends[1], "adversary: high") < 1:
            raise InputError("adversary: no law lies in the box; low must sum to at most 1, and high to at least 1")
        object.__setattr__(self, "low", ends[0])
        object.__setattr__(self, "high", ends[1])

    @property
    def letters(self) -> int:
        return len(self.low)

    @cached_property
    def priors(self) -> PriorClass:
        return PriorBox(exactly(self.low), exactly(self.high))

    _words = "a box"


MAX_NUMBERS = 2**22


@dataclass(frozen=True)
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
    vertices: tuple[tuple[Fraction, ...], ...]

    def __init__(self, vertices: Rows) -> None:
        listed = as_list(vertices, "adversary: vertices")
        laws = tuple(as_law(law, f"adversary: vertices[{j}]") for j, law in enumerate(listed))
        if not laws or len({len(law) for law in laws}) > 1:
            raise InputError(
                "adversary: vertices must be at least one law, all with as many letters; list each vertex as one law"
            )
        if sum(map(len, laws)) > MAX_NUMBERS:
            raise InputError(f"adversary: at most {MAX_NUMBERS} numbers, got {len(laws)} vertices of {len(laws[0])}")
        object.__setattr__(self, "vertices", laws)

    @property
    def letters(self) -> int:
        return len(self.vertices[0])

    @cached_property
    def priors(self) -> PriorClass:
        return PriorPolytope(np.array([divided(law) for law in self.vertices]))

    _words = "a polytope"


@dataclass(frozen=True, init=False)
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


@dataclass(frozen=True, init=False)
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


@dataclass(frozen=True, init=False)
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
