"""Matrices of balls: products in whole numbers over one exponent a row or column, rounded once; and polynomials for counting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact
from functools import cached_property
from operator import add, mul

from .balls import NAN, Ball, rounded
from .vectors import Line, Vector, line


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
        columns = [(n, s + list(map(abs, n)), j) for n, s, j in other._columns]
        for m, most, i in self._rows:
            for n, off, j in columns:
                result.append(rounded(sum(map(mul, m, n)), sum(map(mul, most, off)), i + j))
        return Matrix(self.height, other.width, result)

    @cached_property
    def _finite(self) -> bool:
        return all(x.is_finite() for x in self._entries)

    @cached_property
    def _rows(self) -> list[Line]:
        """Middles of each row, its entries' sizes at most and their radii in one list, and the exponent."""
        lines = (line(self._entries[k : k + self.width]) for k in range(0, len(self._entries), self.width))
        return [(m, [*map(add, map(abs, m), r), *r], i) for m, r, i in lines]

    @cached_property
    def fixed(self) -> tuple[list[list[int]], Vector]:
        """The middles of every row over one exponent, and all as a vector."""
        whole = Vector.of(self._entries)
        return [whole.middles[k : k + self.width] for k in range(0, len(self._entries), self.width)], whole

    @cached_property
    def _columns(self) -> list[Line]:
        return [line(self._entries[k :: self.width]) for k in range(self.width)]


class Polynomial:
    """A polynomial by its coefficients in ascending order; the names are those of python-flint's `fmpz_poly`."""

    def __init__(self, coefficients: Sequence[int]) -> None:
        length = max((j + 1 for j, c in enumerate(coefficients) if c), default=0)
        self._coefficients = list(coefficients[:length])

    def coeffs(self) -> list[int]:
        """The coefficients up to the last that is not 0."""
        return list(self._coefficients)

    def degree(self) -> int:
        """The largest power; -1 of zero."""
        return len(self._coefficients) - 1

    def __mul__(self, other: Polynomial) -> Polynomial:
        """Both are evaluated at a power of 10 so large that the product's coefficients can be read off its digits.

        In decimals, whose products of very many digits are fast, and exact or refused. Coefficients are >= 0.
        """
        a, b = self._coefficients, other._coefficients
        if min(len(a), len(b)) < 2:
            return Polynomial([x * y for x in a for y in b])
        width = len(str(Decimal(max(a) * max(b) * len(a))))
        left = _packed(a, width)
        value = _EXACT.multiply(left, left if a is b else _packed(b, width))
        text = str(value).zfill(width * (len(a) + len(b) - 1))
        return Polynomial([int(Decimal(text[k : k + width])) for k in range(len(text) - width, -1, -width)])

    def __mod__(self, cycle: Polynomial) -> Polynomial:
        """The remainder by x^n - 1, which makes x^n one."""
        size = cycle.degree()
        return Polynomial([sum(self._coefficients[k::size]) for k in range(size)])

    def __pow__(self, times: int) -> Polynomial:
        """Coefficient by coefficient: for the power q of p, p_0 != 0, k p_0 q_k = sum_i>0 (i (times + 1) - k) p_i q_(k-i).

        Exact because this compares the coefficients of x^k in p x q' = times x p' q.
        """
        low = next(j for j, c in enumerate(self._coefficients) if c)  # p = x^low times what has p_0 != 0
        first, *others = self._coefficients[low:]
        steps = [(i, c) for i, c in enumerate(others, 1) if c]
        power = [first**times]
        for k in range(1, len(others) * times + 1):
            power.append(sum((i * (times + 1) - k) * c * power[k - i] for i, c in steps if i <= k) // (k * first))
        return Polynomial([0] * (low * times) + power)


_EXACT = Context(MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])


def _packed(coefficients: Sequence[int], width: int) -> Decimal:
    return Decimal("0" + "".join([str(Decimal(c)).zfill(width) for c in reversed(coefficients)]))
