"""True if numbers are in a cone or in its dual, in rationals and balls."""

from __future__ import annotations

from collections.abc import Sequence

from dalenius_check.core.allowance import Allowance
from dalenius_check.core.arithmetic import arb, fmpq
from dalenius_check.core.numbers import OpenError

from .instance import order, triangle


def inside(kind: str, s: Sequence[fmpq], dual: bool, allowance: Allowance) -> bool:
    """True if s is in the cone, or in its dual; OpenError where an exponential does not decide at this precision."""
    if kind == "zero":
        return dual or not any(s)
    if kind == "nonnegative":
        return all(x >= 0 for x in s)
    if kind == "second-order":
        return s[0] >= 0 and s[0] * s[0] >= sum((x * x for x in s[1:]), fmpq(0))
    if kind == "semidefinite":
        return _semidefinite(s, dual, allowance)
    x, y, z = s
    if dual:  # u < 0 and w >= -u exp(v/u - 1), or u = 0 <= v, w
        return (x < 0 < z and _power(y / x - 1, z / -x)) or (x == 0 and y >= 0 and z >= 0)
    return (y > 0 and z > 0 and _power(x / y, z / y)) or (y == 0 and x <= 0 and z >= 0)


def _power(exponent: fmpq, most: fmpq) -> bool:
    """True if exp(exponent) <= most."""
    if abs(exponent) > 1 << 20:
        return bool(exponent < 0 and most >= fmpq(1, 1 << (1 << 20)))  # exp(-2^20) < 2^(-2^20)
    power = arb(exponent).exp()
    ball = arb(most)
    if (power <= ball) is True:
        return True
    if (power > ball) is True:
        return False
    raise OpenError("a comparison with an exponential")


def _semidefinite(s: Sequence[fmpq], dual: bool, allowance: Allowance) -> bool:
    """True if no eigenvalue is negative: by elimination. In the dual an entry beside the diagonal counts for two."""
    n = order(len(s)) or 0
    matrix = [[fmpq(0)] * n for _ in range(n)]
    for x, (i, j) in zip(s, triangle(len(s)), strict=True):
        matrix[i][j] = x / (2 if dual and i < j else 1)
    for k in range(n):
        allowance.look()
        pivot = matrix[k][k]
        if pivot < 0 or (pivot == 0 and any(matrix[k][k:])):
            return False
        for i in range(k + 1, n):
            factor = matrix[k][i] / pivot if pivot else fmpq(0)
            for j in range(i, n):
                matrix[i][j] -= factor * matrix[k][j]
    return True
