"""The maximal correlation of input and output."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike

from dalenius.information.arrays import Floats
from dalenius.information.measures.laws import Met, met
from dalenius.information.measures.numbers import Numbers, is_exact, largest

__all__ = ["maximal_correlation"]


def maximal_correlation(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """rho = max of the correlation of f(X) with g(Y), over all real functions f and g; from 0 to 1.

    It is the second singular value of P(x,y) / sqrt(P(x) q(y)), the largest of (P(x,y) - P(x) q(y)) / sqrt(P(x) q(y)).

    Notes
    -----
    rho^2 <= chi-square <= (min(inputs, outputs) - 1) rho^2. Source: H. O. Hirschfeld (1935), H. Gebelein (1941), A. Renyi (1959).

    With exact numbers the answer is a ball. With D = diag(P) and M = (D (W - q)) diag(1/q) (D (W - q))', rho^2 is the largest t with
    M v = t D v. For any invertible V let A = V' M V and B = V' D V. *Bound because* A_ii / B_ii is a value of the quotient that is
    maximised, and because t B - A is diagonally dominant, and so has no negative eigenvalue, from
    t = max_i sum_j |A_ij| / (B_ii - sum_{j != i} |B_ij|) on. V are the eigenvectors in doubles.

    >>> round(float(maximal_correlation([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5])), 10)
    0.4830458915
    """
    seen = _shorter(met(channel, prior))
    if not is_exact(seen.channel):
        return np.asarray(min(np.linalg.norm(_normalised(seen), 2), 1.0))
    vectors = _vectors(Met(*(_doubles(part) for part in (seen.prior, seen.channel, seen.law))))
    square = _largest_quotient(seen, vectors)
    return np.asarray(square.lower().max(arb(0)).sqrt().union(square.upper().sqrt()), dtype=object)


def _shorter(seen: Met) -> Met:
    """The same joint law with at most as many inputs as outputs."""
    if seen.channel.shape[0] <= seen.channel.shape[1]:
        return seen
    return Met(seen.law, np.asarray(seen.joint.T / seen.law[:, None]), seen.prior)


def _normalised(seen: Met) -> Floats:
    """(P(x,y) - P(x) q(y)) / sqrt(P(x) q(y)) in doubles."""
    return np.asarray(np.sqrt(seen.prior)[:, None] * (seen.channel - seen.law) / np.sqrt(seen.law))


def _vectors(seen: Met) -> Floats:
    """Near the singular vectors, or any, where doubles do not hold the law."""
    with np.errstate(all="ignore"):
        matrix = _normalised(seen)
        if np.isfinite(matrix).all() and seen.prior.all():
            return np.asarray(np.linalg.eigh(matrix @ matrix.T)[1][:, ::-1] / np.sqrt(seen.prior)[:, None])
    return np.eye(len(seen.prior))


def _largest_quotient(seen: Met, vectors: Floats) -> arb:
    """A ball around rho^2, whatever the vectors are."""
    V = _matrix(vectors.T)
    weighted = V * _matrix(seen.prior[:, None] * (seen.channel - seen.law))
    A = weighted * _matrix((seen.channel - seen.law).T * seen.prior / seen.law[:, None]) * V.transpose()
    B = V * _matrix(np.diag(seen.prior)) * V.transpose()
    size = A.nrows()
    above = [sum((abs(A[i, j]) for j in range(size)), arb(0)) for i in range(size)]
    below = [B[i, i] - sum((abs(B[i, j]) for j in range(size) if j != i), arb(0)) for i in range(size)]
    lower = largest(np.array([A[i, i] / B[i, i] for i in range(size)], dtype=object)).item()
    if not all(x > 0 for x in below):
        return lower.union(arb(1)) if lower.is_finite() else arb(0).union(arb(1))
    upper = largest(np.array([x / y for x, y in zip(above, below, strict=True)], dtype=object)).item()
    return lower.union(upper)


def _matrix(entries: Any) -> arb_mat:
    return arb_mat([[arb(x) for x in row] for row in entries.tolist()])


def _doubles(values: Numbers) -> Floats:
    return np.array([float(arb(x)) for x in values.ravel()]).reshape(values.shape)
