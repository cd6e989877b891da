"""Exact numbers of designs: from doubles to a mechanism that meets its budget exactly, and linear systems in rationals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.linalg import qr
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from dalenius.evidence import double_above, short_text
from dalenius.information.arrays import Floats
from dalenius.information.balls import fraction, rational

DENOMINATOR = 10**13
WRITABLE = 1200  # bits of p and q together that 400 characters always hold


def rational_rows(Q: Floats) -> list[list[Fraction]]:
    """Rows of multiples of 1e-13 near those of Q, with sum 1 exactly: the largest entry takes what rounding leaves.

    >>> [[str(x) for x in row] for row in rational_rows(np.array([[1 / 3, 2 / 3], [0.0, 1.0]]))]
    [['3333333333333/10000000000000', '6666666666667/10000000000000'], ['0', '1']]
    """
    whole = np.floor(np.maximum(Q, 0.0) / Q.sum(axis=1, keepdims=True) * DENOMINATOR).astype(np.int64)
    rows = np.arange(len(whole))
    whole[rows, Q.argmax(axis=1)] += DENOMINATOR - whole.sum(axis=1)
    return [[Fraction(weight, DENOMINATOR) for weight in row] for row in whole.tolist()]


def weight_texts(rows: Sequence[Sequence[Fraction]]) -> tuple[tuple[str, ...], ...]:
    """The rows as whole weights, each row with the same sum; as a certificate has them.

    >>> weight_texts([[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 3)]])
    (('3', '3'), ('2', '4'))
    """
    whole = math.lcm(*(entry.denominator for row in rows for entry in row))
    return tuple(tuple(str(int(entry * whole)) for entry in row) for row in rows)


def at_most_one(shares: Sequence[tuple[float, Fraction]]) -> list[float]:
    """Multipliers v, each with a w > 0, lowered alike by as little as makes sum v / w <= 1 exactly, as they are written.

    >>> at_most_one([(0.25, Fraction(1)), (0.5, Fraction(1))]), at_most_one([(0.1, Fraction(1, 10)), (1e-17, Fraction(1))])[0] < 0.1
    ([0.25, 0.5], True)
    """
    lowered, less = [v for v, _ in shares], 2.0**-52
    while sum((Fraction(short_text(v)) / w for v, (_, w) in zip(lowered, shares, strict=True)), Fraction(0)) > 1:
        lowered, less = [v * (1.0 - less) for v, _ in shares], 2.0 * less
    return lowered


def writable(values: Iterable[Fraction]) -> bool:
    """True if these numbers, at least 0, can be written over one denominator.

    >>> writable([Fraction(1, 2), Fraction(1, 3)]), writable([Fraction(1, 3**1000)])
    (True, False)
    """
    largest, common = Fraction(0), 1
    for value in values:
        largest, common = max(largest, value), math.lcm(common, value.denominator)
        if common.bit_length() > WRITABLE:
            return False
    return math.ceil(largest * common).bit_length() + common.bit_length() <= WRITABLE


def short_above(value: Fraction) -> Fraction:
    """The number, or one just above it that can be written.

    >>> short_above(Fraction(1, 3)), 0 < short_above(Fraction(1, 3**1000)) < Fraction(1, 10**40)
    (Fraction(1, 3), True)
    """
    return value if writable([value]) else Fraction(double_above(value))


def mixtures(Q: Floats, other: Floats, share: float) -> Iterator[Floats]:
    """Mixtures of Q with at least this share of the other mechanism, ever more of it, the other one itself last."""
    extra = 1e-13
    while share + extra < 1.0:
        mixed = min(share + extra, 1.0) if share > 0.0 or extra > 1e-13 else 0.0
        yield (1.0 - mixed) * Q + mixed * other
        extra *= 30.0
    yield other


Terms = dict[int, Fraction]  # unknowns and their factors
Equation = tuple[Terms, Fraction]
Reduced = tuple[dict[int, fmpq], fmpq]
GRID = 10**30  # steps that numbers are rounded in
TIGHT = 1e-9  # what is smaller in doubles counts as 0
RANK = 1e-11
MOST = 1000  # unknowns of an exact system, once those that are easily expressed by others are left out
OCCURRENCES = 2  # equations that an unknown may be in to be expressed


class LinearSystem:
    """Linear equations in rationals, as many as one likes, of which enough independent ones are solved.

    >>> system = LinearSystem(2)
    >>> system.add({0: Fraction(1), 1: Fraction(1)}, Fraction(1))
    >>> system.add({0: Fraction(1), 1: Fraction(-2)}, Fraction(0))
    >>> system.solved()
    [Fraction(2, 3), Fraction(1, 3)]
    """

    def __init__(self, unknowns: int) -> None:
        self.unknowns = unknowns
        self._equations, self._known = list[Equation](), dict[int, Fraction]()

    def add(self, terms: Terms, constant: Fraction) -> None:
        """sum of factor * unknown = constant."""
        kept = {unknown: factor for unknown, factor in terms.items() if factor}
        if len(kept) == 1:
            ((unknown, factor),) = kept.items()
            self._known.setdefault(unknown, constant / factor if constant else constant)
        elif kept:
            self._equations.append((kept, constant))

    def solved(self) -> list[Fraction] | None:
        """The one solution of as many equations as are independent in doubles; None if there are too few, or too many unknowns."""
        if len(self._equations) + len(self._known) < self.unknowns:
            return None
        known = {u: _fmpq(x) for u, x in self._known.items()}
        sparse = _Sparse(self._equations, known)
        sparse.reduce()
        equations = [(terms, end) for terms, end in sparse.equations.values() if terms]
        place = {u: k for k, u in enumerate(sorted({u for terms, _ in equations for u in terms}))}
        size = len(place)
        if size > MOST or size + len(sparse.expressed) + len(known) < self.unknowns or len(equations) < size:
            return None
        chosen = _independent([({place[u]: c for u, c in terms.items()}, end) for terms, end in equations], size)
        if chosen is None:
            return None
        matrix, ends = fmpq_mat(size, size), fmpq_mat(size, 1)
        for i, (terms, constant) in enumerate(chosen):
            ends[i, 0] = constant
            for unknown, factor in terms.items():
                matrix[i, unknown] = factor
        try:
            found = matrix.solve(ends) if size else ends
        except ZeroDivisionError:
            return None
        values = known | {u: found[k, 0] for u, k in place.items()}
        for u, terms, constant in reversed(sparse.expressed):
            values[u] = constant + sum((c * values[v] for v, c in terms.items()), fmpq(0))
        return [fraction(values[u]) for u in range(self.unknowns)]


class _Sparse:
    """Equations, of which unknowns that occur in at most two are expressed by the others: what is left is as small as it is dense.

    Attributes
    ----------
    equations : dict of number -> (terms, constant)
    expressed : list of (unknown, terms, constant)
        By those that are expressed later, or never.
    """

    def __init__(self, equations: Iterable[Equation], known: Mapping[int, fmpq]) -> None:
        self.equations: dict[int, tuple[dict[int, fmpq], fmpq]] = {}
        self.where: dict[int, set[int]] = {}
        self.expressed = list[tuple[int, dict[int, fmpq], fmpq]]()
        for k, (terms, constant) in enumerate(equations):
            own, end = {u: _fmpq(c) for u, c in terms.items() if u not in known}, _fmpq(constant)
            for u in terms.keys() - own.keys():
                end -= _fmpq(terms[u]) * known[u]
            self.equations[k] = own, end
            for u in own:
                self.where.setdefault(u, set()).add(k)

    def reduce(self) -> None:
        """Express as long as there is an unknown to express."""
        queue = sorted(self.where, reverse=True)
        while queue:
            u = queue.pop()
            if 0 < len(self.where[u]) <= OCCURRENCES:
                queue += self._express(u)

    def _express(self, u: int) -> list[int]:
        """By its shortest equation, in the others; which unknowns occur less often then."""
        places = self.where[u]
        k = min(places, key=lambda k: len(self.equations[k][0]))
        terms, constant = self.equations.pop(k)
        factor = terms.pop(u)
        terms, constant = {v: -c / factor for v, c in terms.items()}, constant / factor
        self.expressed.append((u, terms, constant))
        for v in terms:
            self.where[v].discard(k)
        for other in places - {k}:
            own, end = self.equations[other]
            weight = own.pop(u)
            self.equations[other] = own, end - weight * constant
            for v, c in terms.items():
                new = own.get(v, 0) + weight * c
                if new:
                    own[v] = new
                    self.where[v].add(other)
                else:
                    own.pop(v, None)
                    self.where[v].discard(other)
        self.where[u] = set()
        return list(terms)


def _independent(equations: Sequence[Reduced], size: int) -> list[Reduced] | None:
    """So many equations that are independent in doubles; None if there are not so many."""
    if not size:
        return []
    dense = np.zeros((size, len(equations)))
    for j, (terms, _) in enumerate(equations):
        for unknown, factor in terms.items():
            dense[unknown, j] = int(factor.p) / int(factor.q)
    dense /= np.abs(dense).max(axis=0)
    triangle, order = qr(dense, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    if diagonal[size - 1] <= RANK * diagonal[0]:
        return None
    return [equations[j] for j in order[:size]]


def _fmpq(value: Fraction) -> fmpq:
    return _of_whole(value.numerator, value.denominator)


@lru_cache(maxsize=2**12)
def _of_whole(p: int, q: int) -> fmpq:
    """Few numbers are most of what a program has."""
    return fmpq(p, q)


@dataclass(frozen=True, eq=False)
class AffineHull:
    """All points with sum of terms x = end for every equation, as far as `entries` go; all other entries are 0.

    Attributes
    ----------
    free : entries that may be anything
    bound : entry -> (constant, terms)
        It is the constant minus the sum of its terms in free entries.

    >>> half = Fraction(1, 2)
    >>> hull = AffineHull.of([({0: Fraction(1), 1: Fraction(1)}, Fraction(1))], [0, 1], first=np.array([0.9, 0.1]))
    >>> hull.near(np.array([0.9, 0.25]))
    [Fraction(3, 4), Fraction(1, 4)]
    """

    size: int
    free: tuple[int, ...]
    bound: dict[int, tuple[Fraction, Terms]]

    @classmethod
    def of(cls, equations: Sequence[Equation], entries: Sequence[int], first: Floats) -> AffineHull | None:
        """Solve them, block by block; the largest entries of `first` follow from the others. None if there is no solution.

        Entries that are not listed are 0, so their terms count for nothing.
        """
        kept = set(entries)
        used = [({i: c for i, c in terms.items() if i in kept and c}, end) for terms, end in equations]
        if any(not terms and end for terms, end in used):
            return None
        used = [(terms, end) for terms, end in used if terms]
        bound: dict[int, tuple[Fraction, Terms]] = {}
        for block in _blocks(used, len(first)):
            solved = _solved([used[k] for k in block], first)
            if solved is None:
                return None
            bound |= solved
        return cls(len(first), tuple(i for i in entries if i not in bound), bound)

    def near(self, point: Floats) -> list[Fraction]:
        """The point whose free entries are those of `point`, to thirteen digits."""
        found = [Fraction(0)] * self.size
        for i in self.free:
            found[i] = Fraction(round(float(point[i]) * DENOMINATOR), DENOMINATOR)
        for i, (constant, terms) in self.bound.items():
            found[i] = constant - sum((c * found[k] for k, c in terms.items()), Fraction(0))
        return found


def _blocks(equations: Sequence[Equation], size: int) -> list[list[int]]:
    """Numbers of the equations that hang together by their entries."""
    pairs = [(k, i) for k, (terms, _) in enumerate(equations) for i in terms]
    if not pairs:
        return []
    rows, columns = np.array(pairs).T
    touching = csr_matrix((np.ones(len(pairs)), (rows, columns)), shape=(len(equations), size))
    count, label = connected_components(touching @ touching.T, directed=False)
    return [np.flatnonzero(label == b).tolist() for b in range(count)]


def _solved(equations: Sequence[Equation], first: Floats) -> dict[int, tuple[Fraction, Terms]] | None:
    """The reduced echelon form of one block."""
    entries = sorted({i for terms, _ in equations for i in terms}, key=lambda i: -first[i])
    place = {i: k for k, i in enumerate(entries)}
    matrix = fmpq_mat(len(equations), len(entries) + 1)
    for row, (terms, end) in enumerate(equations):
        for i, c in terms.items():
            matrix[row, place[i]] = rational(c)
        matrix[row, len(entries)] = rational(end)
    reduced, rank = matrix.rref()
    listed = [[fraction(entry) for entry in row] for row in reduced.tolist()[:rank]]
    found = {}
    for solved in listed:
        pivot = next(k for k, entry in enumerate(solved) if entry)
        if pivot == len(entries):
            return None
        terms = {entries[k]: solved[k] for k in range(pivot + 1, len(entries)) if solved[k]}
        found[entries[pivot]] = solved[-1], terms
    return found


def whole_weights(row: Sequence[Fraction]) -> list[int]:
    """Whole weights near a law's, with sum 10^30: the largest takes what rounding leaves.

    >>> sum(whole_weights([Fraction(1, 3), Fraction(2, 3)])) == GRID
    True
    """
    common = math.lcm(*(entry.denominator for entry in row))
    positive = [max(entry.numerator, 0) * (common // entry.denominator) for entry in row]
    total = sum(positive)
    weights = [entry * GRID // total for entry in positive]
    weights[positive.index(max(positive))] += GRID - sum(weights)
    return weights
