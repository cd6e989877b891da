"""How numbers are written into certificates: as decimal strings that are taken exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dalenius.evidence.lines import Matrix, Vector
from dalenius.information.arrays import Floats

__all__ = [
    "double_above",
    "double_below",
    "exact_fraction_above",
    "matrix_text",
    "round_down",
    "round_up",
    "short_text",
    "slope_text",
    "unit_of",
    "vector_text",
]

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
