"""Newton directions of a batch of small problems."""

from __future__ import annotations

import numpy as np

from dalenius.information.arrays import Floats

__all__ = ["RIDGE", "newton"]

RIDGE = (1e-10, 1e-14)  # what the diagonal gains: of its mean, and besides


def newton(gradient: Floats, hessian: Floats) -> Floats:
    """Newton directions (batch, size), regularised where the Hessian (batch, size, size) is singular.

    >>> newton(np.array([[2.0]]), np.array([[[4.0]]])).round(6).tolist()
    [[-0.5]]
    """
    size = hessian.shape[-1]
    diagonal = np.trace(hessian, axis1=-2, axis2=-1)[:, None, None] / size
    ridge = (RIDGE[0] * diagonal + RIDGE[1]) * np.eye(size)
    return -np.linalg.solve(hessian + ridge, gradient[..., None])[..., 0]
