"""Exact numbers from text, and the few ball operations every bound is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flint import arb, fmpq

_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|(?:\.([0-9]+))?(?:e(-?[0-9]+))?)")
_MAX_CHARS = 400
_MAX_EXPONENT = 400
_MAX_HEIGHT = 1 << 16


class CheckError(Exception):
    """A check that ended without a proof; the text is the one-line reason."""


class UnreadableError(CheckError):
    """The model is outside the rules."""


class RejectedError(CheckError):
    """The certificate is outside the rules or proves less than it claims."""


class UndecidedError(CheckError):
    """A comparison stayed open at this precision."""


class LimitError(UndecidedError):
    """A resource limit was reached; more precision does not help."""


def limit(condition: bool, what: str) -> None:
    """Raise LimitError unless the condition holds."""
    if not condition:
        raise LimitError(f"limit: {what}")


def rational(text: str) -> fmpq:
    """The exact value of a decimal or fraction; ValueError for any other text."""
    match = _NUMBER.fullmatch(text) if len(text) <= _MAX_CHARS else None
    if match is None:
        raise ValueError(f"not a number of at most {_MAX_CHARS} characters: {text[:40]!a}")
    whole, denominator, fraction, exponent = match.groups()
    if denominator is not None:
        if not int(denominator):
            raise ValueError(f"the denominator of {text[:40]!a} is zero")
        return fmpq(int(whole), int(denominator))
    shift = int(exponent or 0)
    if abs(shift) > _MAX_EXPONENT:
        raise ValueError(f"the exponent of {text[:40]!a} is beyond {_MAX_EXPONENT}")
    digits = int(whole + fraction) if fraction else int(whole)
    shift -= len(fraction or "")
    return fmpq(digits * 10**shift) if shift >= 0 else fmpq(digits, 10**-shift)


def total(values: Iterable[fmpq]) -> fmpq:
    """The exact sum, refused when its size explodes (many unlike denominators)."""
    result = fmpq(0)
    for value in values:
        result += value
        limit(result.height_bits() <= _MAX_HEIGHT, f"a sum of rationals needs more than {_MAX_HEIGHT} bits")
    return result


def at_most(small: arb, large: arb, what: str) -> None:
    """Return only if small <= large is certain; NaN and overlap are undecided, never accepted."""
    if (small <= large) is True:
        return
    if (small > large) is True:
        raise RejectedError(f"{what} fails: {small.str(25, radius=False)} > {large.str(25, radius=False)}")
    raise UndecidedError(f"{what} is open: {small.str(25)} and {large.str(25)}")


def largest(values: Sequence[arb]) -> arb:
    """A ball around the maximum (NaN if any is not finite)."""
    result = values[0]
    for value in values[1:]:
        result = result.max(value)
    return result if all(value.is_finite() for value in values) else arb("nan")


def xlogx(value: arb) -> arb:
    """x log x for a number x >= 0 in the ball, 0 log 0 = 0.

    Bound because x log x is decreasing on [0, 1/e]: a ball that touches zero is mapped to [m log m, 0].
    """
    if value.is_zero():
        return value
    if value.is_finite() and not (value > 0):
        top = value.upper()
        if (top < arb(1) / 4) is True and (top > 0) is True:
            return (top * top.log()).union(arb(0))
    return value * value.log()


def log_sum_exp(values: Sequence[arb]) -> arb:
    """Log of the sum of exponentials; any finite shift is valid, a near-maximal one avoids overflow."""
    if len(values) == 1:
        return values[0]
    shift = largest(values).mid()
    result = arb(0)
    for value in values:
        result += (value - shift).exp()
    return shift + result.log()


def enclosure(low: arb, high: arb) -> tuple[fmpq, fmpq]:
    """Rationals l <= low and h >= high, clamped to [0, 1], of at most some thousand bits."""
    return _dyadic(low.lower(), False), _dyadic(high.upper(), True)


def _dyadic(value: arb, up: bool) -> fmpq:
    if not value.is_finite() or value >= 1:
        return fmpq(1 if up or value >= 1 else 0)
    if value <= 0:
        return fmpq(0)
    mantissa, exponent = value.man_exp()
    if exponent >= 0 or exponent < -8192:
        return fmpq(1, 1 << 4096) if up else fmpq(0)
    return fmpq(mantissa, 1 << -int(exponent))
