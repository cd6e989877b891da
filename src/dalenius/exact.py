"""Exact numbers at the door: what the user writes is a rational, and that rational is what gets proved."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dalenius.errors import InputError

__all__ = ["as_fraction", "as_integer", "fraction_text"]

_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?", re.ASCII)
_RATIO = re.compile(r"-?[0-9]+/[0-9]+", re.ASCII)
MAX_DIGITS = 400
MAX_EXPONENT = 400


def as_fraction(value: Any, what: str) -> Fraction:
    """The exact rational that `value` states.

    A `float` means the decimal that Python prints for it (0.2 is 1/5, as in a model file), never the binary double beside it.

    Parameters
    ----------
    value : int, float, str, fractions.Fraction or decimal.Decimal
        The number. Strings are decimals (``"0.25"``, ``"1e-3"``) or fractions (``"1/3"``).
    what : str
        What the number is, for the error message.

    Raises
    ------
    InputError
        If `value` is not a finite number in one of these forms.

    >>> as_fraction(0.2, "flip"), as_fraction("1/3", "flip")
    (Fraction(1, 5), Fraction(1, 3))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise InputError(f"{what}: expected a number, got {value!r}")
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise InputError(f"{what}: expected a finite number, got {value}")
    text = value if isinstance(value, str) else repr(value) if isinstance(value, float) else str(value)
    if not isinstance(value, str | float | Decimal) or len(text) > MAX_DIGITS:
        raise InputError(f"{what}: expected a number of at most {MAX_DIGITS} characters, got {_short(value)}")
    return _parse(text, what)


def _parse(text: str, what: str) -> Fraction:
    if _RATIO.fullmatch(text):
        numerator, denominator = text.split("/")
        if int(denominator) == 0:
            raise InputError(f"{what}: the denominator of {_short(text)} is zero")
        return Fraction(int(numerator), int(denominator))
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise InputError(f'{what}: expected a number such as 0.25 or "1/3", got {_short(text)}')
    if match[2] and abs(int(match[2][1:])) > MAX_EXPONENT:
        raise InputError(f"{what}: the exponent of {_short(text)} is beyond {MAX_EXPONENT}")
    return Fraction(text)


def as_integer(value: Any, what: str, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """An integer within limits; booleans and floats are refused.

    >>> as_integer(3, "count", at_least=1)
    3
    """
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{what}: expected an integer, got {_short(value)}")
    if at_least is not None and value < at_least:
        raise InputError(f"{what}: expected an integer of at least {at_least}, got {_short(value)}")
    if at_most is not None and value > at_most:
        raise InputError(f"{what}: expected an integer of at most {at_most}, got {_short(value)}")
    return value


def fraction_text(value: Fraction) -> str:
    """The shortest exact spelling: a finite decimal where there is a short one, else ``p/q``.

    >>> fraction_text(Fraction(1, 5)), fraction_text(Fraction(1, 3)), fraction_text(Fraction(2))
    ('0.2', '1/3', '2')
    """
    for digits in range(31):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            return format(Decimal(f"{scaled.numerator}e-{digits}"), "f")
    return f"{value.numerator}/{value.denominator}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
