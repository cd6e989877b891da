"""Numbers as certificates have them, what is claimed of a whole curve, and the two ends of an interval, each with what proves it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dalenius.evidence.lower import LowerLine, Matrix, Number, Vector, WitnessLine
from dalenius.evidence.upper import UpperLine
from dalenius.information.arrays import Floats

FINEST = (
    150  # doubles below 2^-97 of a unit are rounded to multiples of 2^-150 of it, so that their digits can be written
)
SMALL = 2.0**-10  # leakages below it are rounded relative to their size
GRID = 46  # claims are multiples of 2^-46 (1.4e-14) units, so that a claim is one and the same number as a double and as a decimal


def round_up(x: float) -> float:
    """The smallest multiple of 2^-46 that is at least `x`."""
    return math.ldexp(math.ceil(math.ldexp(x, GRID)), -GRID)


def round_down(x: float) -> float:
    """The largest multiple of 2^-46 that is at most `x`."""
    return math.ldexp(math.floor(math.ldexp(x, GRID)), -GRID)


def exact_fraction_above(x: Fraction) -> float:
    """The smallest double that is at least x.

    >>> exact_fraction_above(Fraction(1, 10)) == 0.1, exact_fraction_above(Fraction(3, 10)) > 0.3
    (True, True)
    """
    return math.nextafter(float(x), math.inf) if Fraction(float(x)) < x else float(x)


def double_above(x: Fraction, unit: float = 1.0) -> float:
    """A double that is at least x, which is at least 0; one whose digits can be written where x is small beside `unit`, a power of 2.

    >>> double_above(Fraction(1, 3)) >= Fraction(1, 3), double_above(Fraction(1, 10**400)) == 2.0**-150
    (True, True)
    """
    step, above = unit * 2.0**-FINEST, exact_fraction_above(x)
    return above if above >= step * 2.0**53 else math.ceil(x / Fraction(step)) * step


def double_below(x: Fraction, unit: float = 1.0) -> float:
    """A double that is at most x, which is at least 0; as `double_above`.

    >>> double_below(Fraction(1, 3)) <= Fraction(1, 3), double_below(Fraction(1, 10**400))
    (True, 0.0)
    """
    step, below = unit * 2.0**-FINEST, 0.0 - exact_fraction_above(-x)
    return below if below >= step * 2.0**53 else math.floor(x / Fraction(step)) * step


def unit_of(value: float) -> float:
    """The power of 2 that a leakage is rounded in: 1, and for one below 2^-10 the least that is above it, as far as digits go.

    >>> unit_of(0.3), unit_of(0.0), unit_of(2e-10) == 2.0**-32
    (1.0, 1.0, True)
    """
    return 1.0 if value <= 0.0 or value >= SMALL else math.ldexp(1.0, max(math.frexp(value)[1], -FINEST))


def short_text(x: float) -> str:
    """The shortest decimal that Python prints for `x`; for hints and weights, which *are* that decimal.

    >>> short_text(0.1), short_text(1e-07), short_text(0.0)
    ('0.1', '1e-07', '0')
    """
    text = repr(float(x))
    return text.removesuffix(".0").replace("e+", "e") if x else "0"


def vector_text(values: Floats) -> Vector:
    """`short_text` of every entry.

    >>> vector_text(np.array([0.5, 0.0]))
    ('0.5', '0')
    """
    return tuple(short_text(value) for value in np.asarray(values, dtype=float).tolist())


def slope_text(values: Floats) -> Vector | None:
    """The same of slopes; None where all of them are 0."""
    return vector_text(values) if values.any() else None


def matrix_text(matrix: Floats) -> Matrix:
    """`short_text` of every entry of a matrix."""
    return tuple(vector_text(row) for row in np.asarray(matrix, dtype=float))


Pair = tuple[Number, Number]


@dataclass(frozen=True)
class CurveStep:
    """A witness for another entropy bound than the model's: it is told at least `low` nats, at every bound up to `entropy`."""

    entropy: str
    low: Number
    witness: WitnessLine


# outward roundings of what was computed in doubles, tried one after the other
MARGINS = (1e-13, 3e-12, 1e-10, 3e-9, 1e-7)
ROUNDING = 1e-10  # a larger margin is not rounding any more: something is wrong with the evidence


QUICK, CERTAIN = 2, 3  # candidates: the best end whose proof is short; one that needs no search


def step(margin: float, roundoff: float = 0.0) -> int:
    """The number of the candidate that an end is with this relative margin: 0 as long as rounding explains it, then 1.

    Parameters
    ----------
    roundoff : float
        What doubles may be wrong by where the end is a difference of larger numbers.

    >>> step(1e-12), step(3e-6), step(3e-6, roundoff=1e-5)
    (0, 1, 0)
    """
    return int(margin > max(ROUNDING, roundoff))


@dataclass(frozen=True, kw_only=True)
class _End(ABC):
    """One end as found.

    Attributes
    ----------
    value : float, Fraction or None
        Before rounding; a fraction is exact. None: nothing is feasible, or, of an upper end alone, nothing is known.
    margin : float
        What a double is moved outward by, in units, before it is rounded.
    unit : float
        A power of 2 of the size of the largest value there may be, which values are rounded in.
    exact : bool
        A fraction is claimed as it is, and not as a double beside it.
    candidate : int
        Ends of one candidate differ by rounding only; one of a higher number is a retreat.
    doubtful : bool
        The search itself could not tell whether this end will be proved.
    """

    value: float | Fraction | None
    margin: float = 0.0
    unit: float = 1.0
    exact: bool = False
    candidate: int = 0
    doubtful: bool = False

    @property
    @abstractmethod
    def rounded(self) -> float | None:
        """The value as a double, rounded outward."""

    @property
    def claim(self) -> float | Fraction | None:
        """Claimed ends."""
        return self.value if self.exact else self.rounded


@dataclass(frozen=True, kw_only=True)
class Lower(_End):
    """A lower end, at least 0, with the lines that prove it, and witnesses for other entropy bounds."""

    lines: tuple[LowerLine, ...]
    below: tuple[CurveStep, ...] = ()

    @property
    def rounded(self) -> float | None:
        """The value as a double, rounded downward."""
        if self.value is None:
            return None
        if isinstance(self.value, Fraction):
            return double_below(self.value, self.unit)
        return max(round_down(self.value / self.unit - self.margin), 0.0) * self.unit


@dataclass(frozen=True, kw_only=True)
class Upper(_End):
    """An upper end, at least 0, with the lines that prove it and, of a design, the mechanism that attains it.

    What the same lines prove at other entropy bounds are the lines `above`, as (c, m); the witnesses `below` of a lower end are
    claimed beside some only. `terms` are the ends of the terms of a design's objective, as a certificate has them.
    """

    lines: tuple[UpperLine, ...]
    above: tuple[Pair, ...] = ()
    mechanism: Matrix | None = None
    terms: Vector | None = None

    @property
    def rounded(self) -> float | None:
        """The value as a double, rounded upward."""
        if self.value is None:
            return None
        if isinstance(self.value, Fraction):
            return double_above(self.value, self.unit)
        return max(round_up(self.value / self.unit + self.margin), 0.0) * self.unit
