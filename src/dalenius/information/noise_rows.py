"""Noise on the real line as channels that can be written out: nodes of a quadrature are outputs, its weights part of their densities.

Divergences, informations and capacities of the rows are those of the noise up to rounding: the quadrature of an integral of
R log(R/r) is D(R || r) of the rows at its nodes. A checker evaluates the same integrals in balls (docs/certificate-format.md).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dalenius.information.arrays import Floats

REACH = 12.0  # standard deviations beyond the points that nodes go
NODES = 14  # Gauss and Legendre's, of a piece of at most PIECE scales
PIECE = 1.0


def gaussian_rows(points: Floats) -> Floats:
    """Standard Gaussian noise around each point, (points, nodes): the trapezoidal rule, whose error falls exponentially.

    The ratio of a mixture of such densities to one of them has no zero y with |Im y| < pi/A, A what the points span.

    Parameters
    ----------
    points : (points,)
        In standard deviations, ascending.

    >>> rows = gaussian_rows(np.array([-1.0, 1.0]))
    >>> law = rows.mean(axis=0)
    >>> float((rows[0] * np.log(rows[0] / law)).sum().round(13))
    0.3368308203468
    """
    span = float(points[-1] - points[0])
    strip = min(2.0 / span, 6.0) if span else 6.0
    step = 6.0 * strip / (60.0 + 0.5 * strip**2)
    nodes = points[0] - REACH + step * np.arange(int(np.ceil((span + 2.0 * REACH) / step)) + 1)
    weights = np.exp(-0.5 * (nodes - points[:, None]) ** 2)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def laplace_rows(points: Floats) -> Floats:
    """Laplace noise of scale 1 around each point, (points, nodes): Gauss and Legendre between them, and an output beyond each end.

    Beyond an end all densities are multiples of one another, so that nothing is lost.

    Parameters
    ----------
    points : (points,)
        In scales, ascending.

    >>> rows = laplace_rows(np.array([0.0, 1.0]))
    >>> law = rows.mean(axis=0)
    >>> float((rows[0] * np.log(rows[0] / law)).sum().round(13))
    0.0885196402013
    """
    x, w = np.polynomial.legendre.leggauss(NODES)
    nodes, weights = list[Floats](), list[Floats]()
    for low, high in pairwise(points.tolist()):
        ends = np.linspace(low, high, int(np.ceil((high - low) / PIECE)) + 1)
        half = 0.5 * np.diff(ends)[:, None]
        nodes.append((0.5 * (ends[:-1] + ends[1:])[:, None] + half * x).ravel())
        weights.append((half * w).ravel())
    distance = np.abs(np.concatenate(nodes or [np.empty(0)]) - points[:, None])
    inside = 0.5 * np.exp(-distance) * np.concatenate(weights or [np.empty(0)])
    ends = 0.5 * np.exp(-np.abs(points[:, None] - points[[0, -1]]))
    rows = np.concatenate([ends[:, :1], inside, ends[:, 1:]], axis=1)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
