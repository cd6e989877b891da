"""Numbers as a model file or a certificate writes them: fractions, and decimals of 200 digits where they are none."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

DIGITS = Context(prec=200, Emax=MAX_EMAX, Emin=MIN_EMIN)
SLACK = Decimal("1e-170")  # what sums of 200 digits lose
Number = Fraction | Decimal


class TooLargeError(Exception):
    """A model that is not for enumeration."""


def read(written: Any) -> Fraction:
    """An integer, a decimal, or a text of either or of p/q: exactly what is written."""
    return Fraction(written)


def dec(number: Any) -> Decimal:
    """A number with 200 digits."""
    return Decimal(number.numerator) / number.denominator if isinstance(number, Fraction | int) else Decimal(number)


def law(written: Any) -> list[Fraction]:
    """A list divided by its exact sum."""
    numbers = [read(one) for one in written]
    return [number / sum(numbers) for number in numbers]


def amount(written: Any, size: int = 1) -> Decimal:
    """Nats: of a bare number, or of `"<number> nats|bits|max"`; `max` is a share of log size."""
    number, unit = (*str(written).split(" "), "nats")[:2] if isinstance(written, str) else (written, "nats")
    of = {"nats": Decimal(1), "bits": Decimal(2).ln(), "max": dec(size).ln()}[unit]
    return dec(read(number)) * of


def power(epsilon: Any) -> Number:
    """e^epsilon, which `"log q"` makes exactly q, and 0 exactly 1."""
    if isinstance(epsilon, str) and epsilon.startswith("log "):
        return read(epsilon[4:])
    return amount(epsilon).exp() if amount(epsilon) else Fraction(1)


def decimals(rows: Any) -> np.ndarray:
    """An array of decimals."""
    found = np.array([[dec(entry) for entry in row] for row in rows], dtype=object)
    return found.reshape(len(rows), -1)


def times(p: Number, q: Number) -> Number:
    """A product that is a fraction where both are."""
    return p * q if type(p) is type(q) else dec(p) * dec(q)


def plus(p: Number, q: Number) -> Number:
    return p + q if type(p) is type(q) else dec(p) + dec(q)


def at_most(p: Number, q: Number) -> bool:
    """Exactly where both are fractions."""
    return p <= q if isinstance(p, Fraction) and isinstance(q, Fraction) else dec(p) <= dec(q) + SLACK
