"""Matrices of balls: products in whole numbers over one exponent a row or column, rounded once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import mul
from typing import TypeAlias

from .balls import NAN, Ball, precision, rounded

Line: TypeAlias = tuple[list[int], list[int], int]


class Matrix:
    """Rows of balls: of lists, or of this shape, from its entries row by row or zero."""

    def __init__(self, rows: int | Sequence[Sequence[Ball]], columns: int = 0, entries: Iterable[Ball] = ()) -> None:
        if not isinstance(rows, int):
            self.height = len(rows)
            self.width = len(rows[0])
            self._entries = [x for row in rows for x in row]
        else:
            self.height = rows
            self.width = columns
            self._entries = list(entries) or [Ball()] * (rows * columns)

    def entries(self) -> list[Ball]:
        """The entries, row by row."""
        return list(self._entries)

    def __add__(self, other: Matrix) -> Matrix:
        sums = (x + y for x, y in zip(self._entries, other._entries, strict=True))
        return Matrix(self.height, self.width, sums)

    def __mul__(self, other: Matrix | Ball) -> Matrix:
        """Bound because |sum x y - sum m n| <= sum (|m| + r) s + sum r |n| for |x - m| <= r and |y - n| <= s."""
        if isinstance(other, Ball):
            return Matrix(self.height, self.width, (x * other for x in self._entries))
        if not (self._finite and other._finite):
            return Matrix(self.height, other.width, [NAN] * (self.height * other.width))
        result = []
        columns = [(n, s, list(map(abs, n)), j) for n, s, j in other._columns]
        for m, r, i in self._rows:
            most = [abs(x) + y for x, y in zip(m, r, strict=True)]
            for n, s, size, j in columns:
                radius = sum(map(mul, most, s)) + sum(map(mul, r, size))
                result.append(rounded(sum(map(mul, m, n)), radius, i + j))
        return Matrix(self.height, other.width, result)

    @cached_property
    def _finite(self) -> bool:
        return all(x.is_finite() for x in self._entries)

    @cached_property
    def _rows(self) -> list[Line]:
        return [_line(self._entries[k : k + self.width]) for k in range(0, len(self._entries), self.width)]

    @cached_property
    def _columns(self) -> list[Line]:
        return [_line(self._entries[k :: self.width]) for k in range(self.width)]


def _line(balls: Sequence[Ball]) -> Line:
    """Middles and radii over one exponent; of numbers far below the largest the last bits are dropped."""
    held = [x for x in balls if not x.is_zero()]
    if not held:
        return [0] * len(balls), [0] * len(balls), 0
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
