"""A conic instance in exact numbers: minimise c x + offset over all x with A x + b in a product of cones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import isqrt

import numpy as np
from flint import fmpq, fmpz
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cvxcertify.errors import InputError, brief

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CONES = ("zero", "nonnegative", "second-order", "semidefinite", "exponential")
Terms = dict[int, fmpq]  # columns and their coefficients


def exactly(value: float) -> fmpq:
    """The binary number that a double is.

    >>> exactly(0.5), exactly(-3)
    (1/2, -3)
    """
    return fmpq(*float(value).as_integer_ratio())


def as_float(value: fmpq) -> float:
    """The nearest double, infinite beyond them.

    >>> as_float(fmpq(1, 3)) == 1 / 3, as_float(fmpq(-(10**400)))
    (True, -inf)
    """
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def as_bound(value: fmpq, *, upper: bool) -> float:
    """The nearest double that is not below the value, or not above it.

    >>> as_bound(fmpq(1, 3), upper=False) < as_bound(fmpq(1, 3), upper=True)
    True
    """
    near, side = as_float(value), np.inf if upper else -np.inf
    if not np.isfinite(near):
        return near if (near > 0) == upper else float(np.copysign(np.finfo(float).max, near))
    return float(np.nextafter(near, side)) if (exactly(near) < value if upper else exactly(near) > value) else near


def total(form: Terms, x: Mapping[int, fmpq] | Sequence[fmpq], constant: fmpq) -> fmpq:
    """The sum of factor * x[j], and a constant.

    It is reduced once: denominators of solved equations have thousands of bits, and nearly all of them divide the largest one.

    >>> total({0: fmpq(1, 2), 2: fmpq(3)}, [fmpq(1, 3), fmpq(9), fmpq(2, 3)], fmpq(1))
    19/6
    """
    parts: dict[fmpz, fmpq] = {}
    for j, factor in form.items():
        value = x[j]
        parts[value.q] = parts.get(value.q, fmpq(0)) + factor * value.p
    common = fmpz(1)
    for below in sorted(parts, reverse=True):
        common = common if common % below == 0 else common.lcm(below)
    return constant + sum((part * (common // below) for below, part in parts.items()), fmpq(0)) / common


def triangle(size: int) -> tuple[tuple[int, int], ...]:
    """The places (i, j), i <= j, of the rows of a semidefinite cone, in their order.

    >>> triangle(2)
    ((0, 0), (0, 1), (1, 1))
    """
    return tuple((i, j) for i in range(size) for j in range(i, size))


@dataclass(frozen=True)
class Cone:
    """Consecutive rows that lie in one cone; `size` counts rows.

    zero: all are 0. nonnegative: none is negative. second-order: (t, u) with t >= |u|. exponential: (x, y, z) with y > 0 and
    y exp(x/y) <= z, or x <= 0 = y <= z. semidefinite: the entries on and above the diagonal, row by row, of a symmetric matrix
    without negative eigenvalues.
    """

    kind: str
    size: int

    def __post_init__(self) -> None:
        if self.kind not in CONES:
            raise InputError(f"cone: expected one of {', '.join(CONES)}; got {brief(self.kind)}")
        fits = {"exponential": self.size == 3, "semidefinite": self.order * (self.order + 1) // 2 == self.size}
        if self.size < 1 or not fits.get(self.kind, True):
            raise InputError(f"cone: a {self.kind} cone does not have {self.size} rows")

    @property
    def order(self) -> int:
        """Of a semidefinite cone: how many rows its matrix has."""
        return (isqrt(8 * self.size + 1) - 1) // 2


@dataclass(frozen=True, eq=False)
class Instance:
    """Minimise c x + offset over all x with A x + b in the cones, all numbers exact.

    Attributes
    ----------
    c : tuple of fmpq
    offset : fmpq
    rows : tuple of dict of column -> fmpq
        The rows of A, without zeros.
    b : tuple of fmpq
    cones : tuple of Cone
        What the rows lie in, in their order.
    names : tuple of str
        What each column is called.
    """

    c: tuple[fmpq, ...]
    offset: fmpq
    rows: tuple[Terms, ...]
    b: tuple[fmpq, ...]
    cones: tuple[Cone, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.b) or sum(cone.size for cone in self.cones) != len(self.b):
            raise InputError(f"instance: {len(self.rows)} rows, {len(self.b)} constants, cones of another size")
        if len(self.c) != len(self.names):
            raise InputError(f"instance: {len(self.c)} costs for {len(self.names)} columns")

    @cached_property
    def places(self) -> tuple[range, ...]:
        """The rows of every cone."""
        ends = tuple(accumulate(cone.size for cone in self.cones))
        return tuple(range(end - cone.size, end) for cone, end in zip(self.cones, ends, strict=True))

    @cached_property
    def columns(self) -> tuple[Terms, ...]:
        """The columns of A: rows and their coefficients."""
        found: tuple[Terms, ...] = tuple({} for _ in self.c)
        for i, row in enumerate(self.rows):
            for j, factor in row.items():
                found[j][i] = factor
        return found

    @cached_property
    def doubles(self) -> tuple[Floats, csr_array, Floats]:
        """c, A and b, rounded to the nearest doubles."""
        starts = np.cumsum([0, *(len(row) for row in self.rows)])
        places = np.array([j for row in self.rows for j in row], dtype=np.int64)
        values = np.array([as_float(x) for row in self.rows for x in row.values()], dtype=float)
        A = csr_array((values, places, starts), shape=(len(self.b), len(self.c)))
        A.sort_indices()
        return np.array([as_float(x) for x in self.c]), A, np.array([as_float(x) for x in self.b])

    def activity(self, x: list[fmpq], row: int) -> fmpq:
        """The member of A x + b in one row."""
        return total(self.rows[row], x, self.b[row])

    def value(self, x: list[fmpq]) -> fmpq:
        """The objective."""
        return total({j: c for j, c in enumerate(self.c) if c}, x, self.offset)

    def homogeneous(self) -> Instance:
        """The directions in which the feasible set recedes: b and the offset are 0."""
        return replace(self, b=(fmpq(0),) * len(self.b), offset=fmpq(0))
