"""Logarithms and exponentials of exact numbers, in integers alone.

A number v in *fixed point* is an integer close to v 2^bits; errors are counted in its units, 2^-bits. Every rounding is a floor, by
less than one unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import factorial

SMALL = 64  # what is exponentiated is less than 2^SMALL
_GUARD = SMALL + 16
_STEPS = 8  # tables at multiples of 2^-8, 2^-16 and 2^-24


def log_ratio(p: int, q: int, bits: int) -> tuple[int, int]:
    """log(p/q) for 1/2 <= p/q <= 2, in fixed point, and what it is off by at most.

    log(p/q) = 2 atanh z at z = (p - q)/(p + q), atanh z = z + z^3/3 + z^5/5 + ..., and |z| <= 1/3.

    Bound because |z| is too small by less than 1 unit, z^2 by less than 2/3 + 1, hence, if a power is by e, the next one by less
    than e/9 + 5/9 + 1, so that e < 2 for all of them. A summand is off by less than 1 where n = 1 and by less than
    e/n + 1 < 2 after that. When a power becomes 0, it was less than 2, and those that follow add up to less than 2/8 more. With
    the (n - 1)/2 summands this is less than n + 2, and half of the result. Of p = q it is nothing.
    """
    z = (abs(p - q) << bits) // (p + q)
    square = z * z >> bits
    power = z
    atanh = 0
    n = 1
    while power:
        atanh += power // n
        power = power * square >> bits
        n += 2
    return (2 * atanh if p > q else -2 * atanh), 2 * (n + 2) if p != q else 0


def series(u: int, bits: int) -> tuple[int, int]:
    """The exponential of 0 <= u <= 1, both in fixed point, and by how much it is too small at most: the sum of u^n/n!.

    Bound because, if a summand is too small by e, the next one is by less than (e + 1)/n + 1, so that e < 3 for all of them.
    When one becomes 0, it was less than 3, and those that follow are less than half as large each.
    """
    result = 0
    term = 1 << bits
    n = 0
    while term:
        result += term
        n += 1
        term = (term * u >> bits) // n
    return result, 3 * n + 6


_log_table = lru_cache(maxsize=2048)(log_ratio)


def log(mid: int, exp: int, bits: int) -> tuple[int, int, int]:
    """log(mid 2^exp) for mid > 0, in fixed point, what it is off by at most, and its bits: more than asked for near 1.

    mid 2^exp = f 2^k with 3/4 <= f < 3/2, so that log f + k log 2 loses no digits, and f is close to j/256.
    """
    size = mid.bit_length()
    size -= 4 * mid < 3 << size
    k, j = exp + size, ((mid << _STEPS + 1 >> size) + 1) >> 1
    if k == 0 and j == 1 << _STEPS:
        bits += size - abs(mid - (1 << size)).bit_length()
    parts = log_ratio(mid << _STEPS, j << size, bits), _log_table(j, 1 << _STEPS, bits)
    two, error = _log_table(2, 1, bits)
    return k * two + parts[0][0] + parts[1][0], abs(k) * error + parts[0][1] + parts[1][1], bits


def exponential(mid: int, exp: int, bits: int) -> tuple[int, int, int]:
    """exp(mid 2^exp) for |mid 2^exp| < 2^SMALL, in fixed point over 2^k: that value, what it is off by at most, and k."""
    return exponentials([mid], exp, bits) if mid else (1 << bits, 0, 0)


def exponentials(mids: Sequence[int], exp: int, bits: int) -> tuple[int, int, int]:
    """The sum of exp(mid 2^exp) for |mid 2^exp| < 2^SMALL, in fixed point over the largest 2^k, what it is off by at most, and k.

    An exponent is k log 2 + h/2^8 + i/2^16 + j/2^24 + u with 0 <= i, j < 2^8 and 0 <= u < 2^-24; e^u is the sum of u^n/n!.

    Bound because k log 2 is off by at most |k| times the error of log 2, and the exponent's floors by one unit each; an error
    of d <= 1 in an exponent t < log 2 + d changes e^t < 2.1 by less than 2.1 (e^d - 1) < 5 d. By Horner's rule e^u is too small
    by less than 3, for a step's floors are two and u times the last step's are less than one, and by less than 1 for the terms
    left out. Of a product of four factors each by at most e >= 4, and each floored, less than 2.1 (4 e + 3) is missing: whatever
    some of them have as product is below 2.1. Over the largest 2^k another unit is.
    """
    wide = bits + _GUARD
    two, error = _log_table(2, 1, wide)
    (first, second, third), (last, *others), missing = _tables(bits)
    mask = (1 << _STEPS) - 1
    high, middle, low = bits - _STEPS, bits - 2 * _STEPS, bits - 3 * _STEPS
    places, values = list[int](), list[int]()
    for mid in mids:
        k, rest = divmod(mid << exp + wide if exp + wide >= 0 else mid >> -exp - wide, two)
        rest >>= _GUARD
        u = rest & (1 << low) - 1
        value = last
        for coefficient in others:
            value = coefficient + (value * u >> bits)
        small = third[rest >> low & mask] * second[rest >> middle & mask] >> bits
        places.append(k)
        values.append((value * small >> bits) * first[rest >> high] >> bits)
    top = max(places)
    off = ((max(map(abs, places)) * error + 1) >> _GUARD) + 2
    most = len(values) * (9 * missing + 5 * off + 8)
    return sum([v >> top - k for k, v in zip(places, values, strict=True)]), most, top


class _Table(dict[int, int]):
    """The exponentials of j/2^step, in fixed point, each worked out when it is first asked for."""

    def __init__(self, step: int, bits: int) -> None:
        super().__init__()
        self._step = step
        self._bits = bits

    def __missing__(self, j: int) -> int:
        self[j], _ = series(j << self._bits - self._step, self._bits)
        return self[j]


@lru_cache(maxsize=64)
def _tables(bits: int) -> tuple[list[_Table], list[int], int]:
    """Tables at multiples of 2^-8, 2^-16 and 2^-24, the numbers 1/n! down to n = 0, and what is missing of an entry at most.

    The powers of u < 2^-24 that are left out are less than 2^-bits. What `series` says it misses grows with u.
    """
    factorials = [(1 << bits) // factorial(n) for n in range(bits // (3 * _STEPS), -1, -1)]
    return [_Table(_STEPS * i, bits) for i in (1, 2, 3)], factorials, series((1 << bits) - 1, bits)[1]
