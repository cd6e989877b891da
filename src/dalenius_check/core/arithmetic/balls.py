"""Balls: numbers known up to a radius, in integers alone, every operation rounded outward.

Names and meanings are those of python-flint's `arb` and `arb_mat`, as far as the checker needs them. What may be infinite or no
number at all, a quotient by a ball around 0 say, is a ball of which nothing is known, and with which no comparison holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from . import elementary

Number: TypeAlias = "Ball | Fraction | int"
Text: TypeAlias = str
_PRECISION = ContextVar("precision", default=128)
RADIUS_BITS = 30
GUARD = 20
FAR = 256  # exponents may be so far apart with nothing dropped
_LARGEST = 1 << 70  # of exponents, in absolute value; exp makes them as large as 2^64


@contextmanager
def workprec(bits: int) -> Iterator[None]:
    """A block in which middles have at most so many bits."""
    token = _PRECISION.set(bits)
    try:
        yield
    finally:
        _PRECISION.reset(token)


def precision() -> int:
    """The bits of middles in this block."""
    return _PRECISION.get()


class Ball:
    """The numbers from (middle - radius) 2^exponent to (middle + radius) 2^exponent; nothing is known if radius < 0."""

    __slots__ = ("exponent", "middle", "radius")
    exponent: int
    middle: int
    radius: int

    def __new__(cls, value: Number | Text = 0) -> Ball:
        """A ball around an exact number; for "nan" one of which nothing is known."""
        if isinstance(value, Ball):
            return value
        if isinstance(value, str):
            return _ball(0, -1, 0)
        if value.denominator == 1:
            return rounded(value.numerator, 0, 0)
        return _quotient(value.numerator, value.denominator, 0, 0)

    def is_finite(self) -> bool:
        """True if anything is known."""
        return self.radius >= 0

    def is_zero(self) -> bool:
        """True if this is exactly 0."""
        return self.middle == self.radius == 0

    def mid(self) -> Ball:
        """The middle."""
        return _ball(self.middle, min(self.radius, 0), self.exponent)

    def lower(self) -> Ball:
        """An exact number that is not above any of the ball."""
        cut = max(0, (self.middle - self.radius).bit_length() - precision())
        return _ball((self.middle - self.radius) >> cut, min(self.radius, 0), self.exponent + cut)

    def upper(self) -> Ball:
        """An exact number that is not below any of the ball."""
        return -(-self).lower()

    def __neg__(self) -> Ball:
        return _ball(-self.middle, self.radius, self.exponent)

    def __add__(self, other: Number) -> Ball:
        other = other if isinstance(other, Ball) else Ball(other)
        if self.radius < 0 or other.radius < 0:
            return NAN
        m, r, n, s, exponent = _aligned(self, other)
        return rounded(m + n, r + s, exponent)

    def __sub__(self, other: Number) -> Ball:
        return self + -Ball(other)

    def __mul__(self, other: Number) -> Ball:
        """Bound because |x y - m n| <= |x - m| |n| + |m| |y - n| + |x - m| |y - n|."""
        other = other if isinstance(other, Ball) else Ball(other)
        if self.radius < 0 or other.radius < 0:
            return NAN
        radius = abs(self.middle) * other.radius + self.radius * (abs(other.middle) + other.radius)
        return rounded(self.middle * other.middle, radius, self.exponent + other.exponent)

    def __truediv__(self, other: Number) -> Ball:
        """Bound because |x/y - m/n| <= (|x - m| |n| + |m| |y - n|) / (|n| |y|), and |y| is at least |n| less its radius."""
        other = Ball(other)
        least = abs(other.middle) - other.radius
        if self.radius < 0 or other.radius < 0 or least <= 0:
            return NAN
        off = self.radius * abs(other.middle) + abs(self.middle) * other.radius
        return _quotient(self.middle, other.middle, self.exponent - other.exponent, off, abs(other.middle) * least)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Number) -> Ball:
        return -self + other

    def __rtruediv__(self, other: Number) -> Ball:
        return Ball(other) / self

    def __le__(self, other: Number) -> bool:
        """True if this holds for all numbers in both balls; so for the other comparisons."""
        other = other if isinstance(other, Ball) else Ball(other)
        if self.radius < 0 or other.radius < 0:
            return False
        return _ordered(self.middle + self.radius, self.exponent, other.middle - other.radius, other.exponent)

    def __lt__(self, other: Number) -> bool:
        other = other if isinstance(other, Ball) else Ball(other)
        if self.radius < 0 or other.radius < 0:
            return False
        return not _ordered(other.middle - other.radius, other.exponent, self.middle + self.radius, self.exponent)

    def __ge__(self, other: Number) -> bool:
        return Ball(other) <= self

    def __gt__(self, other: Number) -> bool:
        return Ball(other) < self

    def union(self, other: Ball) -> Ball:
        """A ball around both."""
        if self.radius < 0 or other.radius < 0:
            return NAN
        m, r, n, s, exponent = _aligned(self, other)
        low = min(m - r, n - s)
        high = max(m + r, n + s)
        return rounded(low + high, high - low, exponent - 1)

    def max(self, other: Ball) -> Ball:
        """A ball around the larger one: around both, where it is open which one that is."""
        if self <= other:
            return other
        return self if other <= self else self.union(other)

    def log(self) -> Ball:
        """Bound because log is increasing, and |log x - log m| <= |x - m| / (m - radius)."""
        if not 0 <= self.radius < self.middle:
            return NAN
        if 2 * self.radius > self.middle:
            return self.lower().log().union(self.upper().log())
        value, off, bits = _log(self.middle, self.exponent, precision() + GUARD)
        return rounded(value, off - (-self.radius << bits) // (self.middle - self.radius), -bits)

    def exp(self) -> Ball:
        """Bound because exp is increasing, and |e^x - e^m| <= e^m (e^d - 1) <= 2 d e^m for d = |x - m| <= 1."""
        if self.radius < 0:
            return NAN
        if self.radius and self.radius.bit_length() + self.exponent > 0:
            return self.lower().exp().union(self.upper().exp())
        if self.middle.bit_length() + self.exponent > elementary.SMALL:
            return _ball(1, 1, -1 << 60) if self.middle < 0 else NAN  # at most exp(1 - 2^64)
        bits = precision() + GUARD
        value, off, shift = elementary.exponential(self.middle, self.exponent, bits)
        if self.radius:
            off -= -2 * self.radius * (value + off) >> -self.exponent
        return rounded(value, off, shift - bits)

    def expm1(self) -> Ball:
        """exp(x) - 1, near 0 with more bits for exp. Bound because |e^x - 1 - x| <= x^2 for |x| <= 1."""
        bits = precision()
        small = -(abs(self.middle) + self.radius).bit_length() - self.exponent
        if small > bits:
            return self + self * self * _ball(0, 1, 0)
        with workprec(bits + max(0, small) + 2):
            result = self.exp() - 1
        return rounded(result.middle, result.radius, result.exponent)

    def floor(self) -> Ball:
        """The whole part of an exact number."""
        return NAN if self.radius else rounded(self.middle >> -self.exponent, 0, 0) if self.exponent < 0 else self

    def ceil(self) -> Ball:
        """The least whole number that is not below an exact one."""
        return -(-self).floor()

    def unique_fmpz(self) -> int | None:
        """The whole number that this is exactly, if it is and has not too many digits."""
        return self.middle << self.exponent if self.radius == 0 and 0 <= self.exponent < 1 << 16 else None

    def fmpq(self) -> Fraction:
        """The exact number that this is."""
        if self.radius:
            raise ValueError("the ball is not exact")
        return self.middle * Fraction(2) ** self.exponent

    def str(self, digits: int, radius: bool = True) -> Text:
        """Approximately, for people."""
        if self.radius < 0:
            return "nan"
        texts = Context(digits + 9, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
        unit = texts.power(2, self.exponent)
        texts.prec = digits
        text = str(texts.multiply(Decimal(self.middle), unit))
        texts.prec = 3
        return f"{text} +/- {texts.multiply(Decimal(self.radius), unit)}" if radius else text


def _ball(middle: int, radius: int, exponent: int) -> Ball:
    """A ball as it is; 0 has the exponent 0."""
    ball = object.__new__(Ball)
    ball.middle = middle
    ball.radius = radius
    ball.exponent = exponent if middle or radius else 0
    return ball


NAN = _ball(0, -1, 0)
_log = lru_cache(maxsize=1 << 15)(elementary.log)


def rounded(middle: int, radius: int, exponent: int) -> Ball:
    """A ball around this one, of few digits.

    Bound because dropping bits moves the middle by less than one new unit and shortens the radius by less than another one.
    """
    cut = max(middle.bit_length() - _PRECISION.get(), radius.bit_length() - RADIUS_BITS)
    if cut > 0:
        exact = radius == 0 and middle & ((1 << cut) - 1) == 0
        middle = middle >> cut
        radius = 0 if exact else (radius >> cut) + 2
        exponent = exponent + cut
    if exponent > _LARGEST:
        return NAN
    if exponent < -_LARGEST:  # |middle| + radius < 2^size
        size = (abs(middle) + radius).bit_length()
        return _ball(0, int(size > 0), max(exponent + size, -_LARGEST))
    return _ball(middle, radius, exponent)


def _quotient(m: int, n: int, exponent: int, off: int, unit: int = 1) -> Ball:
    """A ball around m/n 2^exponent, with a radius of at least off/unit 2^exponent."""
    shift = max(0, precision() + 2 + n.bit_length() - m.bit_length())
    whole, rest = divmod(m << shift, n)
    radius = (off << shift) // unit + 1 if off else 0
    return rounded(whole, radius + (rest != 0), exponent - shift)


def _aligned(a: Ball, b: Ball) -> tuple[int, int, int, int, int]:
    """Middles and radii, in either order, over one exponent; of a number far below the other the last bits are dropped."""
    if a.exponent < b.exponent:
        a, b = b, a
    m, r, exponent = b.middle, b.radius, b.exponent
    shift = a.exponent - exponent
    if shift > FAR:
        if a.is_zero():
            return 0, 0, m, r, exponent
        if b.is_zero():
            return a.middle, a.radius, 0, 0, a.exponent
        cut = shift - 2 * precision() - 64
        if cut > 0:
            m = m >> cut
            r = (r >> cut) + 2
            exponent = exponent + cut
            shift = shift - cut
    return a.middle << shift, a.radius << shift, m, r, exponent


def _ordered(m: int, i: int, n: int, j: int) -> bool:
    """True if m 2^i <= n 2^j, exactly: by signs, by the places of the first bits, then as whole numbers."""
    if m <= 0 <= n or n <= 0 <= m:
        return m <= 0 <= n
    first, second = m.bit_length() + i, n.bit_length() + j
    if first != second:
        return (first < second) == (m > 0)
    return m << i - j <= n if i >= j else m <= n << j - i
