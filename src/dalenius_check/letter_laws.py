"""Linear equations about the rows of a chain, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from .arithmetic import fmpq
from .numbers import need

Matrix = list[list[fmpq]]


def inverse(matrix: Sequence[Sequence[fmpq]]) -> Matrix | None:
    """The inverse, exactly, if there is one."""
    size = len(matrix)
    rows = [[*row, *(fmpq(int(a == b)) for b in range(size))] for a, row in enumerate(matrix)]
    for a in range(size):
        at = next((b for b in range(a, size) if rows[b][a] != 0), None)
        if at is None:
            return None
        rows[a], rows[at] = rows[at], rows[a]
        rows[a] = [x / rows[a][a] for x in rows[a]]
        for b in range(size):
            if b != a and rows[b][a] != 0:
                rows[b] = [x - rows[b][a] * z for x, z in zip(rows[b], rows[a], strict=True)]
    return [row[size:] for row in rows]


def stationary(rows: Sequence[Sequence[fmpq]]) -> tuple[fmpq, ...]:
    """The only stationary law.

    One of its equations follows from the others, and that its sum is 1 stands in its place.
    """
    k = len(rows)
    equations = [[rows[a][b] - int(a == b) for a in range(k)] for b in range(1, k)]
    found = inverse([[fmpq(1)] * k, *equations])
    need(found is not None, "the point has several stationary laws")
    assert found is not None
    return tuple(row[0] for row in found)
