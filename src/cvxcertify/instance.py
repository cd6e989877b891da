"""A conic instance in exact numbers, minimise c x + offset over all x with A x + b in a product of cones; and the cones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

import numpy as np
from flint import arb, ctx, fmpq, fmpz
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cvxcertify.errors import InputError, brief

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Terms = dict[int, fmpq]  # columns and their coefficients
Unit = tuple[str, tuple[int, ...]]  # the kind of a cone, and its rows; zero and nonnegative ones are a row each
End = fmpq | None  # of a range; None: infinite
Ends = Callable[[int], End]  # those of the members of a cone
PRECISIONS = (96, 256, 1024)  # bits, until a comparison with an exponential is decided
LARGEST = 2**16  # of a quotient whose exponential is looked at
HALF, ZERO = fmpq(1, 2), fmpq(0)


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
    scale, parts = fmpz(1), dict[fmpz, fmpz]()
    for factor in form.values():
        scale = scale.lcm(factor.q)
    for j, factor in form.items():
        value = x[j]
        parts[value.q] = parts.get(value.q, fmpz(0)) + factor.p * (scale // factor.q) * value.p
    common = fmpz(1)
    for below in sorted(parts, reverse=True):
        common = common if common % below == 0 else common.lcm(below)
    return constant + fmpq(sum((part * (common // below) for below, part in parts.items()), fmpz(0)), common * scale)


def triangle(size: int) -> tuple[tuple[int, int], ...]:
    """The places (i, j), i <= j, of the rows of a semidefinite cone, in their order.

    >>> triangle(2)
    ((0, 0), (0, 1), (1, 1))
    """
    return tuple((i, j) for i in range(size) for j in range(i, size))


# What is known of each kind of cone, in exact numbers: no rounding decides anything here.


@dataclass(frozen=True)
class Cone(ABC):
    """Consecutive rows that lie in one cone; `size` counts rows. `cone_of` makes one of a kind."""

    kind: ClassVar[str]
    by_rows: ClassVar[bool] = False  # whether every row lies in a cone of this kind by itself
    size: int

    def __post_init__(self) -> None:
        if self.size < 1 or not self._fits:
            raise InputError(f"cone: a {self.kind} cone does not have {self.size} rows")

    @property
    def _fits(self) -> bool:
        return True

    @abstractmethod
    def contains(self, s: Sequence[fmpq]) -> bool:
        """True if s is certainly in the cone."""

    def dual_contains(self, z: Sequence[fmpq]) -> bool:
        """True if z is certainly in the dual cone: z s >= 0 for every s of the cone, summed over its rows."""
        return self.contains(z)

    def into_dual(self, z: Sequence[fmpq]) -> list[fmpq]:
        """Multipliers in the dual cone, the given ones where they are in it, else not far from them."""
        return list(z) if self.dual_contains(z) else self._moved(z)

    def _moved(self, z: Sequence[fmpq]) -> list[fmpq]:
        """Multipliers in the dual cone near these, which are not."""
        return list(z)

    @abstractmethod
    def member(self, k: int, least: Ends, most: Ends) -> tuple[End, End]:
        """The range that the cone leaves to its member k, given the ends of its members, upper ones of at least 0."""

    def tells(self, k: int) -> bool:
        """True if member k tells something new about the others once it is known better."""
        return False

    @abstractmethod
    def inner(self, fixed: Callable[[int], bool]) -> list[int]:
        """A vector inside the cone, or inside the face of it in which the members that are fixed are 0."""

    def left(self, part: Sequence[fmpq]) -> dict[int, str] | None:
        """The cones of other members that are left where these may go in this direction for ever; None: as much as before."""
        return None


class Zero(Cone):
    """All members are 0."""

    kind = "zero"
    by_rows = True

    def contains(self, s: Sequence[fmpq]) -> bool:
        return not any(s)

    def dual_contains(self, z: Sequence[fmpq]) -> bool:
        return True

    def member(self, k: int, least: Ends, most: Ends) -> tuple[End, End]:
        return ZERO, ZERO

    def inner(self, fixed: Callable[[int], bool]) -> list[int]:
        return [0] * self.size


class Nonnegative(Cone):
    """No member is negative. In the dual negative ones become 0."""

    kind = "nonnegative"
    by_rows = True

    def contains(self, s: Sequence[fmpq]) -> bool:
        return all(x >= 0 for x in s)

    def _moved(self, z: Sequence[fmpq]) -> list[fmpq]:
        return [max(x, ZERO) for x in z]

    def member(self, k: int, least: Ends, most: Ends) -> tuple[End, End]:
        return ZERO, None

    def inner(self, fixed: Callable[[int], bool]) -> list[int]:
        return [int(not fixed(k)) for k in range(self.size)]

    def left(self, part: Sequence[fmpq]) -> dict[int, str] | None:
        return {} if part[0] > 0 else None


class SecondOrder(Cone):
    """(t, u) with t >= |u|. In the dual the first member is raised.

    >>> cone_of("second-order", 3).into_dual([fmpq(0), fmpq(3), fmpq(4)])
    [5, 3, 4]
    """

    kind = "second-order"

    def contains(self, s: Sequence[fmpq]) -> bool:
        return s[0] >= 0 and s[0] ** 2 >= sum((x**2 for x in s[1:]), ZERO)

    def _moved(self, z: Sequence[fmpq]) -> list[fmpq]:
        return [_root_above(sum((x**2 for x in z[1:]), ZERO)), *z[1:]]

    def member(self, k: int, least: Ends, most: Ends) -> tuple[End, End]:
        if k == 0:
            return ZERO, None
        end = most(0)
        return (None, None) if end is None else (-end, end)

    def tells(self, k: int) -> bool:
        return k == 0

    def inner(self, fixed: Callable[[int], bool]) -> list[int]:
        return [int(not fixed(0)), *[0] * (self.size - 1)]

    def left(self, part: Sequence[fmpq]) -> dict[int, str] | None:
        return {} if part[0] > 0 and self.contains([part[0] / 2, *part[1:]]) else None


class Semidefinite(Cone):
    """The entries on and above the diagonal, row by row, of a symmetric matrix without negative eigenvalues.

    In the dual an entry beside the diagonal counts for two: the matrix has half of it in either place; the diagonal is raised.
    """

    kind = "semidefinite"

    @property
    def order(self) -> int:
        """Number of rows of the matrix."""
        return (math.isqrt(8 * self.size + 1) - 1) // 2

    @property
    def _fits(self) -> bool:
        return self.order * (self.order + 1) // 2 == self.size

    def contains(self, s: Sequence[fmpq]) -> bool:
        return _semidefinite(self.order, s, fmpq(1))

    def dual_contains(self, z: Sequence[fmpq]) -> bool:
        return _semidefinite(self.order, z, HALF)

    def _moved(self, z: Sequence[fmpq]) -> list[fmpq]:
        places = triangle(self.order)
        most = max((abs(x) for x in z), default=ZERO)
        step = most * fmpq(1, 2**50)
        for _ in range(14):  # ends with a matrix whose diagonal dominates it
            raised = [x + step if i == j else x for x, (i, j) in zip(z, places, strict=True)]
            if self.dual_contains(raised):
                return raised
            step *= 16
        return [most * self.order if i == j else ZERO for i, j in places]

    def member(self, k: int, least: Ends, most: Ends) -> tuple[End, End]:
        """A diagonal is not negative; an entry beside it is at most the mean of two diagonal ones, by that of their product."""
        places = triangle(self.order)
        i, j = places[k]
        if i == j:
            return ZERO, None
        first, second = (most(m) for m, (p, q) in enumerate(places) if p == q and p in (i, j))
        if first is None or second is None:
            return None, None
        return -(first + second) / 2, (first + second) / 2

    def tells(self, k: int) -> bool:
        return True

    def inner(self, fixed: Callable[[int], bool]) -> list[int]:
        return [int(i == j) for i, j in triangle(self.order)]


class Exponential(Cone):
    """(x, y, z) with y > 0 and y exp(x/y) <= z, or x <= 0 = y <= z.

    The dual has u < 0, w >= -u exp(v/u - 1), or u = 0 <= v, w; there the third member is raised, or the second if that takes less.

    >>> [cone_of("exponential", 3).contains([fmpq(1), fmpq(1), fmpq(2718281828 * 10 + k, 10**10)]) for k in (4, 5)]
    [False, True]
    >>> [cone_of("exponential", 3).dual_contains([fmpq(u), fmpq(-1), fmpq(9)]) for u in (-1, 0)]
    [True, False]
    """

    kind = "exponential"

    @property
    def _fits(self) -> bool:
        return self.size == 3

    def contains(self, s: Sequence[fmpq]) -> bool:
        x, y, z = s
        if y <= 0 or z <= 0:
            return y == 0 and x <= 0 and z >= 0
        return _exponential_at_most(x / y, z / y)

    def dual_contains(self, z: Sequence[fmpq]) -> bool:
        u, v, w = z
        if u >= 0 or w <= 0:
            return u == 0 and v >= 0 and w >= 0
        return _exponential_at_most(v / u - 1, w / -u)

    def _moved(self, z: Sequence[fmpq]) -> list[fmpq]:
        u, v, w = z
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
            if self.dual_contains(best):
                return best
            best, step = [best[0], best[1] + step, best[2] + step], 4 * step
        return plain

    def member(self, k: int, least: Ends, most: Ends) -> tuple[End, End]:
        """x <= y log(z/y) <= z/e; and y <= max(-x, e z), because x >= -y implies y/e <= z."""
        end = most(2)
        if k == 2 or end is None:
            return (None, None) if k == 0 else (ZERO, None)
        if k == 0:
            return None, end * fmpq(3, 8)
        low = least(0)
        return ZERO, None if low is None else max(-low, 3 * end)

    def tells(self, k: int) -> bool:
        return True

    def inner(self, fixed: Callable[[int], bool]) -> list[int]:
        return [-1, int(not fixed(1)), int(not fixed(2))]

    def left(self, part: Sequence[fmpq]) -> dict[int, str] | None:
        if not (part[0] <= 0 == part[1] and part[2] >= 0):
            return None
        return dict.fromkeys((1,) if part[2] > 0 else (1, 2), Nonnegative.kind)


KINDS: dict[str, type[Cone]] = {cone.kind: cone for cone in (Zero, Nonnegative, SecondOrder, Semidefinite, Exponential)}
CONES = tuple(KINDS)


def cone_of(kind: str, size: int) -> Cone:
    """So many rows in a cone of this kind; `InputError` if there is no such cone."""
    if kind not in KINDS:
        raise InputError(f"cone: expected one of {', '.join(CONES)}; got {brief(kind)}")
    return KINDS[kind](size)


def cones_of(members: Sequence[tuple[str, Sized]]) -> tuple[Cone, ...]:
    """Cones of kinds and their members, sorted by kind: one zero cone, one nonnegative one, and all the others."""
    sizes = Counter[str]()
    for kind, listed in members:
        if KINDS[kind].by_rows:
            sizes[kind] += len(listed)
    others = (cone_of(kind, len(listed)) for kind, listed in members if kind not in sizes)
    return (*(cone_of(kind, size) for kind, size in sizes.items()), *others)


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
    """True if certainly exp(exponent) <= value."""
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
    """True if the symmetric matrix has no negative eigenvalue, by elimination in whole numbers that divides without remainder."""
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

    @property
    def cells(self) -> Iterator[tuple[Cone, range]]:
        """Every cone with its rows."""
        return zip(self.cones, self.places, strict=True)

    @property
    def units(self) -> Iterator[Unit]:
        """Every cone as its kind and its rows; of zero and nonnegative cones every row is one."""
        for cone, places in self.cells:
            yield from ((cone.kind, (row,)) for row in places) if cone.by_rows else [(cone.kind, tuple(places))]

    def rows_in(self, kind: type[Cone]) -> list[int]:
        """The rows in cones of this kind."""
        return [row for cone, places in self.cells if isinstance(cone, kind) for row in places]

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

    @property
    def statistics(self) -> dict[str, float]:
        """Numbers of columns, rows, entries and cones, a row one of the first two kinds; the least and the largest of its numbers."""
        sizes = [abs(as_float(x)) for x in (*self.c, *self.b, *(x for row in self.rows for x in row.values())) if x]
        return {
            "columns": len(self.c),
            "rows": len(self.b),
            "entries": sum(map(len, self.rows)),
            **Counter(kind for kind, _ in self.units),
            "least number": min(sizes, default=0.0),
            "largest number": max(sizes, default=0.0),
        }

    def activity(self, x: list[fmpq], row: int) -> fmpq:
        """The member of A x + b in one row."""
        return total(self.rows[row], x, self.b[row])

    def value(self, x: list[fmpq]) -> fmpq:
        """The objective."""
        return total({j: c for j, c in enumerate(self.c) if c}, x, self.offset)

    def homogeneous(self) -> Instance:
        """The directions in which the feasible set recedes: b and the offset are 0."""
        return replace(self, b=(fmpq(0),) * len(self.b), offset=fmpq(0))
