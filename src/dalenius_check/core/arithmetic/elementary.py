"""Logarithms and exponentials of exact numbers, in integers alone.

A number v in *fixed point* is an integer close to v 2^bits; errors are counted in its units, 2^-bits. Every rounding is a floor, by
less than one unit.
"""

from __future__ import annotations

from functools import lru_cache

SMALL = 64  # what is exponentiated is less than 2^SMALL
_GUARD = SMALL + 16
_STEPS = 8  # tables at multiples of 2^-8


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


_log_table, _exp_table = lru_cache(maxsize=2048)(log_ratio), lru_cache(maxsize=2048)(series)


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
    """exp(mid 2^exp) for |mid 2^exp| < 2^SMALL, in fixed point over 2^k: that value, what it is off by at most, and k.

    The exponent is k log 2 + j/256 + u with 0 <= u < 1/256.

    Bound because k log 2 is off by at most |k| times the error of log 2, and the exponent's floors by one unit each; an error
    of d <= 1 in an exponent t < log 2 + d changes e^t < 2.1 by less than 2.1 (e^d - 1) < 5 d. Of a product a b, with a too
    small by d <= 1 and b by e, d times the larger b < 2.1 and e times a < 1.1 are missing.
    """
    if not mid:
        return 1 << bits, 0, 0
    wide = bits + _GUARD
    two, error = _log_table(2, 1, wide)
    k, rest = divmod(mid << exp + wide if exp + wide >= 0 else mid >> -exp - wide, two)
    off = ((abs(k) * error + 1) >> _GUARD) + 2
    rest >>= _GUARD
    j = rest >> bits - _STEPS
    first, below = _exp_table(j << bits - _STEPS, bits)
    second, above = series(rest - (j << bits - _STEPS), bits)
    return first * second >> bits, 3 * (below + above) + 5 * off + 1, k
