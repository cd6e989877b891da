"""Many numbers at once: `Listed`, balls of either arithmetic one by one, and `Vector`, the same names in whole numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add, mul, sub
from typing import Any, TypeAlias

from . import elementary
from .balls import FAR, GUARD, NAN, RADIUS_BITS, Ball, Number, precision, rounded

_MODERATE = 1 << 12  # exponents of exponentials that are summed as they are

Line: TypeAlias = tuple[list[int], list[int], int]


def line(balls: Sequence[Ball]) -> Line:
    """Middles and radii over one exponent; of numbers far below the largest the last bits are dropped."""
    exponents = [x.exponent for x in balls]
    exponent = min(exponents, default=0)
    if max(exponents, default=0) - exponent <= FAR:
        return (
            [x.middle << x.exponent - exponent for x in balls],
            [x.radius << x.exponent - exponent for x in balls],
            exponent,
        )
    held = [x for x in balls if not x.is_zero()]
    top = max((abs(x.middle) + x.radius).bit_length() + x.exponent for x in held)
    exponent = max(min(x.exponent for x in held), top - 2 * precision() - 1024)
    middles, radii = [], []
    for x in balls:
        shift = x.exponent - exponent
        if shift >= 0:
            middles.append(x.middle << shift)
            radii.append(x.radius << shift)
        else:
            middles.append(x.middle >> -shift)
            radii.append(0 if x.is_zero() else (x.radius >> -shift) + 2)
    return middles, radii, exponent


def larger(left: Any, right: Any) -> Any:
    """A ball around the larger one, which is one of them where that is certain."""
    return left if left >= right else right if right >= left else left.max(right)


def log_sum_exp(values: Sequence[Any]) -> Any:
    """Log of the sum of exponentials; any finite shift is valid, a near-maximal one avoids overflow where that is far from 0."""
    if len(values) == 1:
        return values[0]
    shift = max(values).mid()
    if -_MODERATE <= shift <= _MODERATE:
        return sum(value.exp() for value in values).log()
    return shift + sum((value - shift).exp() for value in values).log()


class Listed:
    """Balls one by one: what a vector means."""

    def __init__(self, balls: Iterable[Any]) -> None:
        self._balls = list(balls)

    @classmethod
    def of(cls, balls: Iterable[Any]) -> Listed:
        """Balls as a vector."""
        return cls(balls)

    @staticmethod
    def summed(balls: Iterable[Any]) -> Any:
        """The sum of balls."""
        return sum(balls)

    @staticmethod
    def largest(balls: Iterable[Any]) -> Any:
        """A ball around the maximum of finite ones."""
        return reduce(larger, balls)

    def entries(self) -> list[Any]:
        """The balls."""
        return self._balls

    def at(self, places: Iterable[int]) -> Listed:
        """The entries at these places."""
        return Listed([self._balls[k] for k in places])

    def __add__(self, other: Listed) -> Listed:
        return self._combined(add, other)

    def __mul__(self, other: Listed) -> Listed:
        """Entry by entry."""
        return self._combined(mul, other)

    def _combined(self, how: Callable[[Any, Any], Any], other: Listed) -> Listed:
        return Listed(_paired(how, self._balls, other._balls))

    def scaled(self, factor: Any) -> Listed:
        """The entries times a ball."""
        return Listed([x * factor for x in self._balls])

    def through(self, matrix: Any) -> Listed:
        """The sums of every row of a matrix with these entries."""
        return Listed((matrix * type(matrix)(len(self._balls), 1, self._balls)).entries())

    def max(self, other: Listed) -> Listed:
        """The larger ones, entry by entry."""
        return self._combined(larger, other)

    def sum(self) -> Any:
        """A ball around the sum."""
        return sum(self._balls)

    def log_sum_exp(self) -> Any:
        """Log of the sum of exponentials."""
        return log_sum_exp(self._balls)


class Vector:
    """Numbers within one radius of their middles, over one exponent; nothing is known of them if the radius is negative.

    All are known about as closely as the largest is, which is enough for what is added up or exponentiated.
    """

    def __init__(self, middles: list[int], radius: int, exponent: int) -> None:
        """Dropping bits moves the middles by less than one new unit and shortens the radius by less than another one."""
        size = max(map(int.bit_length, middles), default=0)
        cut = max(size - precision() - GUARD, radius.bit_length() - RADIUS_BITS)
        if cut > 0:
            middles = [m >> cut for m in middles]
            radius = (radius >> cut) + 2 if radius >= 0 else -1
        self.middles = middles
        self._radius = radius
        self._exponent = exponent + max(cut, 0)
        self._most = 1 << max(size - max(cut, 0), 0) if size else 0  # of the middles, in absolute value

    @classmethod
    def of(cls, balls: Iterable[Ball]) -> Vector:
        """Balls as a vector."""
        held = list(balls)
        if min([x.radius for x in held], default=0) < 0:
            return cls([0] * len(held), -1, 0)
        middles, radii, exponent = line(held)
        return cls(middles, max(radii, default=0), exponent)

    @staticmethod
    def summed(balls: Iterable[Number]) -> Ball:
        """The sum of balls and exact numbers, rounded once."""
        held = list(map(Ball, balls))
        if min([x.radius for x in held], default=0) < 0:
            return NAN
        middles, radii, exponent = line(held)
        return rounded(sum(middles), sum(radii), exponent)

    @staticmethod
    def largest(balls: Sequence[Ball]) -> Ball:
        """A ball around the maximum of finite ones: from the largest lower end to the largest upper one."""
        middles, radii, exponent = line(balls)
        low, high = max(map(sub, middles, radii)), max(map(add, middles, radii))
        return rounded(low + high, high - low, exponent - 1)

    def entries(self) -> list[Ball]:
        """The numbers, as balls."""
        return [rounded(m, self._radius, self._exponent) if self._radius >= 0 else NAN for m in self.middles]

    def at(self, places: Iterable[int]) -> Vector:
        """The entries at these places."""
        return Vector([self.middles[k] for k in places], self._radius, self._exponent)

    def __add__(self, other: Vector) -> Vector:
        return self._combined(add, other)

    def max(self, other: Vector) -> Vector:
        """The larger ones, entry by entry. Bound because |max(x, y) - max(m, n)| <= max(|x - m|, |y - n|)."""
        return self._combined(max, other)

    def _combined(self, how: Callable[[int, int], int], other: Vector) -> Vector:
        """Entry by entry, where what is off adds up at most; of a vector far below the other the last bits are dropped."""
        top = max(v._most.bit_length() + v._exponent for v in (self, other))
        exponent = max(min(self._exponent, other._exponent), top - 2 * precision())
        (m, r), (n, s) = self._over(exponent), other._over(exponent)
        return Vector(_paired(how, m, n), r + s if r >= 0 <= s else -1, exponent)

    def _over(self, exponent: int) -> tuple[list[int], int]:
        """Middles and radius over another exponent."""
        shift = self._exponent - exponent
        if shift == 0 or self._radius < 0:
            return self.middles, self._radius
        if shift > 0:
            return [m << shift for m in self.middles], self._radius << shift
        return [m >> -shift for m in self.middles], (self._radius >> -shift) + 2

    def __mul__(self, other: Vector) -> Vector:
        """Entry by entry."""
        return self._times(other, _paired(mul, self.middles, other.middles), 1)

    def scaled(self, factor: Ball) -> Vector:
        """The entries times a ball."""
        one = Vector.of([factor])
        return self._times(one, [m * one.middles[0] for m in self.middles], 1)

    def through(self, matrix: Any) -> Vector:
        """The sums of every row of a matrix with these entries."""
        rows, whole = matrix.fixed
        return self._times(whole, [sum(_paired(mul, row, self.middles)) for row in rows], len(self.middles))

    def _times(self, other: Vector, middles: list[int], count: int) -> Vector:
        """Sums of so many products. Bound because |x y - m n| <= |m| |y - n| + |x - m| (|n| + |y - n|)."""
        r, s = self._radius, other._radius
        radius = count * (s * self._most + r * (other._most + s)) if r >= 0 <= s else -1
        return Vector(middles, radius, self._exponent + other._exponent)

    def sum(self) -> Ball:
        """A ball around the sum."""
        return (
            rounded(sum(self.middles), len(self.middles) * self._radius, self._exponent) if self._radius >= 0 else NAN
        )

    def log_sum_exp(self) -> Ball:
        """Log of the sum of exponentials: in fixed point, rounded once, where the radius is at most 1 and nothing too large.

        Bound because |e^x - e^m| <= 2 d e^m for d = |x - m| <= 1.
        """
        r, exponent = self._radius, self._exponent
        if (
            len(self.middles) == 1
            or r < 0
            or r.bit_length() + exponent > 0
            or self._most.bit_length() + exponent > elementary.SMALL
        ):
            return log_sum_exp(self.entries())
        bits = precision() + GUARD
        total, off, shift = elementary.exponentials(self.middles, exponent, bits)
        if r:
            off -= -2 * r * (total + off) >> -exponent
        return rounded(total, off, shift - bits).log()


def _paired(how: Callable[[Any, Any], Any], one: list[Any], other: list[Any]) -> list[Any]:
    """Entry by entry, of as many."""
    if len(one) != len(other):
        raise ValueError(f"{len(one)} entries beside {len(other)}")
    return list(map(how, one, other))
