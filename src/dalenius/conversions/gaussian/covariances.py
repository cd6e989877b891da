"""Gaussian inputs through Gaussian noise, by their covariance matrices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, as_list
from dalenius.information.balls import ball

BITS = 128  # of the ball
MOST_DIMENSION = 64

Matrix = list[list[Fraction]]


def gaussian_information(signal: Sequence[Sequence[Number]], noise: Sequence[Sequence[Number]]) -> arb:
    """(1/2) log det(I + K_Y^-1 K_X) nats: what X + Y tells about X, for Gaussian X and Y with these covariance matrices.

    It is concave in the signal and convex in the noise, and `saddle_value` is its saddle: of all noise of the same trace a multiple
    of I lets the least through to the worst signal of a given trace, which is a multiple of I, too. Against Gaussian noise no
    signal with this covariance tells more, and against a Gaussian signal no noise with its covariance lets less through.

    Parameters
    ----------
    signal : (d, d), symmetric positive semidefinite
        K_X; numbers are taken exactly.
    noise : (d, d), symmetric positive definite
        K_Y

    Returns
    -------
    arb
        A ball of 128 bits; the determinants are exact.

    Raises
    ------
    InputError
        If a matrix is not square, symmetric and positive semidefinite, the sizes differ, d is above 64, or the noise is singular.

    Notes
    -----
    Source: Ngo et al., Theorem 3, eqs. (18), (19).

    >>> float(gaussian_information([[3, 0], [0, 0]], [[1, 0], [0, 1]]) / arb(2).log())
    1.0
    """
    k_x, k_y = _read(signal, "signal"), _read(noise, "noise")
    if len(k_x) != len(k_y):
        raise InputError(f"noise: expected a matrix of the signal's size {len(k_x)}, got {len(k_y)}")
    _determinant(k_x, "signal")
    alone = _determinant(k_y, "noise")
    if not alone:
        raise InputError("noise: expected a positive definite matrix, got a singular one")
    total = _determinant([[x + y for x, y in zip(*rows, strict=True)] for rows in zip(k_x, k_y, strict=True)], "sum")
    with ctx.workprec(BITS):
        return ball(total / alone).log() / 2


def _read(matrix: Sequence[Sequence[Number]], what: str) -> Matrix:
    rows = [
        [as_fraction(x, f"{what}[{i}][{j}]") for j, x in enumerate(as_list(row, f"{what}[{i}]"))]
        for i, row in enumerate(as_list(matrix, what))
    ]
    size = len(rows)
    if not 0 < size <= MOST_DIMENSION or any(len(row) != size for row in rows):
        raise InputError(f"{what}: expected a square matrix of at most {MOST_DIMENSION} rows")
    if any(rows[i][j] != rows[j][i] for i in range(size) for j in range(i)):
        raise InputError(f"{what}: expected a symmetric matrix")
    return rows


def _determinant(matrix: Matrix, what: str) -> Fraction:
    """Of a symmetric matrix, by elimination; refused if a pivot shows that it is not positive semidefinite."""
    rows, product = [row[:] for row in matrix], Fraction(1)
    for k, row in enumerate(rows):
        pivot = row[k]
        if pivot < 0 or (not pivot and any(row[k:])):
            raise InputError(f"{what}: expected a positive semidefinite matrix")
        product *= pivot
        for other in rows[k + 1 :] if pivot else []:
            share = other[k] / pivot
            for j in range(k, len(row)):
                other[j] -= share * row[j]
    return product
