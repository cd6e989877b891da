"""The equations of a design's mechanisms, solved exactly once: some entries follow from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from dalenius.information.arrays import Floats

__all__ = ["AffineHull"]

Terms = dict[int, Fraction]
Equation = tuple[Terms, Fraction]
GRID = 10**13


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
            found[i] = Fraction(round(float(point[i]) * GRID), GRID)
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
            matrix[row, place[i]] = fmpq(c.numerator, c.denominator)
        matrix[row, len(entries)] = fmpq(end.numerator, end.denominator)
    reduced, rank = matrix.rref()
    listed = [[_fraction(entry) for entry in row] for row in reduced.tolist()[:rank]]
    found = {}
    for solved in listed:
        pivot = next(k for k, entry in enumerate(solved) if entry)
        if pivot == len(entries):
            return None
        terms = {entries[k]: solved[k] for k in range(pivot + 1, len(entries)) if solved[k]}
        found[entries[pivot]] = solved[-1], terms
    return found


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
