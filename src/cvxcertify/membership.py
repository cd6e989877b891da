"""Whether exact numbers lie in a cone or in its dual, and multipliers moved into the dual cones: no rounding decides anything here."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import arb, ctx, fmpq

from cvxcertify.instance import Cone, as_float, exactly, triangle

PRECISIONS = (96, 256, 1024)  # bits, until a comparison with an exponential is decided
LARGEST = 2**16  # of a quotient whose exponential is looked at
HALF, ZERO = fmpq(1, 2), fmpq(0)


def in_cone(cone: Cone, s: Sequence[fmpq]) -> bool:
    """Whether s is certainly in the cone.

    >>> in_cone(Cone("exponential", 3), [fmpq(1), fmpq(1), fmpq(27182818285, 10**10)])
    True
    >>> in_cone(Cone("exponential", 3), [fmpq(1), fmpq(1), fmpq(27182818284, 10**10)])
    False
    """
    if cone.kind == "zero":
        return all(x == 0 for x in s)
    if cone.kind == "nonnegative":
        return all(x >= 0 for x in s)
    if cone.kind == "second-order":
        return s[0] >= 0 and s[0] ** 2 >= sum((x**2 for x in s[1:]), ZERO)
    if cone.kind == "exponential":
        x, y, z = s
        if y <= 0 or z <= 0:
            return y == 0 and x <= 0 and z >= 0
        return _exponential_at_most(x / y, z / y)
    return _semidefinite(cone.order, s, fmpq(1))


def in_dual(cone: Cone, z: Sequence[fmpq]) -> bool:
    """Whether z is certainly in the dual cone: z s >= 0 for every s of the cone, summed over its rows.

    That of the exponential cone is u < 0, w >= -u exp(v/u - 1), or u = 0 <= v, w. In a semidefinite cone's dual an entry beside the
    diagonal counts for two: the matrix has half of it in either place.

    >>> in_dual(Cone("exponential", 3), [fmpq(-1), fmpq(-1), fmpq(1)]), in_dual(Cone("exponential", 3), [ZERO, fmpq(-1), fmpq(9)])
    (True, False)
    """
    if cone.kind == "zero":
        return True
    if cone.kind == "exponential":
        u, v, w = z
        if u >= 0 or w <= 0:
            return u == 0 and v >= 0 and w >= 0
        return _exponential_at_most(v / u - 1, w / -u)
    if cone.kind == "semidefinite":
        return _semidefinite(cone.order, z, HALF)
    return in_cone(cone, z)


def into_dual(cone: Cone, z: Sequence[fmpq]) -> list[fmpq]:
    """Multipliers in the dual cone, the given ones where they are in it, else not far from them.

    Negative ones become 0; of a second-order cone the first member is raised, of an exponential one the third, or the second if that
    takes less, of a semidefinite one the diagonal.

    >>> into_dual(Cone("second-order", 3), [fmpq(0), fmpq(3), fmpq(4)])
    [5, 3, 4]
    """
    if cone.kind == "nonnegative":
        return [max(x, ZERO) for x in z]
    if in_dual(cone, z):
        return list(z)
    if cone.kind == "second-order":
        return [_root_above(sum((x**2 for x in z[1:]), ZERO)), *z[1:]]
    if cone.kind == "exponential":
        return _into_dual_exponential(cone, *z)
    return _into_semidefinite(cone, z)


def _into_dual_exponential(cone: Cone, u: fmpq, v: fmpq, w: fmpq) -> list[fmpq]:
    plain = [ZERO, max(v, ZERO), max(w, ZERO)]
    if u >= 0:
        return plain
    size, doubles = as_float(-u), as_float(v / u)
    candidates = [plain]
    with_third = size * math.exp(min(doubles - 1.0, 700.0))
    if math.isfinite(with_third):
        candidates.append([u, v, exactly(with_third)])
    if 0.0 < (third := as_float(w)) < math.inf and 0.0 < size < math.inf:
        with_second = -size * (1.0 + math.log(third) - math.log(size))  # their ratio may be beyond doubles
        if math.isfinite(with_second):
            candidates.append([u, exactly(with_second), w])
    best = min(candidates, key=lambda found: sum((abs(p - q) for p, q in zip(found, (u, v, w), strict=True)), ZERO))
    step = max(abs(x) for x in best) * fmpq(1, 2**50)
    for _ in range(60):  # what was rounded in doubles is made up for
        if in_dual(cone, best):
            return best
        best, step = [best[0], best[1] + step, best[2] + step], 4 * step
    return plain


def _into_semidefinite(cone: Cone, z: Sequence[fmpq]) -> list[fmpq]:
    places = triangle(cone.order)
    most = max((abs(x) for x in z), default=ZERO)
    step = most * fmpq(1, 2**50)
    for _ in range(14):  # ends with a matrix whose diagonal dominates it
        raised = [x + step if i == j else x for x, (i, j) in zip(z, places, strict=True)]
        if in_dual(cone, raised):
            return raised
        step *= 16
    return [most * cone.order if i == j else ZERO for i, j in places]


def _root_above(square: fmpq) -> fmpq:
    """At least the root, by less than 2^-60 of it; exact where the root is."""
    p, q = int(square.p), int(square.q)
    if square == 0:
        return ZERO
    shift = max(0, 64 - (p.bit_length() - q.bit_length()) // 2)
    whole = p * q << 2 * shift  # root(p/q) = root(p q)/q
    root = math.isqrt(whole)
    return fmpq(root if root * root == whole else root + 1, q << shift)


def _exponential_at_most(exponent: fmpq, value: fmpq) -> bool:
    """Whether certainly exp(exponent) <= value."""
    if exponent > LARGEST:
        return False
    exponent = max(exponent, fmpq(-LARGEST))
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            power = arb(exponent).exp()
            if power <= arb(value):
                return True
            if power > arb(value):
                return False
    return False


def _semidefinite(order: int, entries: Sequence[fmpq], beside: fmpq) -> bool:
    """Whether the symmetric matrix has no negative eigenvalue, by elimination in whole numbers that divides without remainder."""
    common = math.lcm(*(int(x.q) for x in entries)) * 2
    matrix = [[0] * order for _ in range(order)]
    for x, (i, j) in zip(entries, triangle(order), strict=True):
        whole = int((x * common * (fmpq(1) if i == j else beside)).p)
        matrix[i][j] = matrix[j][i] = whole
    before = 1
    for k in range(order):
        pivot = matrix[k][k]
        if pivot < 0 or (pivot == 0 and any(matrix[k][k + 1 :])):
            return False
        if pivot == 0:
            continue
        for i in range(k + 1, order):
            for j in range(i, order):
                matrix[i][j] = matrix[j][i] = (matrix[i][j] * pivot - matrix[i][k] * matrix[k][j]) // before
        before = pivot
    return True
