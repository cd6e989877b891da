"""How numbers are written into certificates: as decimal strings that are taken exactly."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["exact_fraction_above", "exact_text", "round_down", "round_up", "short_text", "short_texts"]

GRID = 46  # claims are multiples of 2^-46 (1.4e-14), so that a claim is one and the same number as a double and as a decimal


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


def exact_text(x: float) -> str:
    """All decimal digits of a double: the string and the double are the same number.

    >>> exact_text(0.375)
    '0.375'
    """
    return format(Decimal(x), "f")


def short_text(x: float) -> str:
    """The shortest decimal that Python prints for `x`; for hints and weights, which *are* that decimal.

    >>> short_text(0.1), short_text(1e-07), short_text(0.0)
    ('0.1', '1e-07', '0')
    """
    text = repr(float(x))
    return text.removesuffix(".0").replace("e+", "e") if x else "0"


def short_texts(values: Any) -> Any:
    """`short_text` through nested lists; a vector of zeros becomes None."""
    values = np.asarray(values, dtype=float)
    if values.ndim == 1:
        return [short_text(v) for v in values.tolist()] if values.any() else None
    return [short_texts(v) for v in values]
