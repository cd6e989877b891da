"""Chi-square divergence from samples: what a critic's values are worth, and the closed form of linear features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalenius.errors import InputError

__all__ = ["from_features", "variational"]

FORMS = ("paper", "scaled", "centred")


def variational(p: ArrayLike, q: ArrayLike, critic: ArrayLike, form: str = "centred") -> float:
    """What a critic g shows of chi2(p || q) = sum p^2/q - 1, from below.

    "paper": E_p g - E_q (g + g^2/4), eq. (19) of W. Wang and W. P. Tay; "scaled": (E_p g - E_q g)^2 / E_q g^2, eq. (20), the
    best of the first over all multiples of g; "centred": the same with the variance of g under q, the best over all constants that
    are added, too (ours).
    (19) <= (20) <= centred <= chi2.

    Parameters
    ----------
    p, q, critic : arrays of one length
        Two laws and the values of g.

    Raises
    ------
    InputError
        If the form is unknown.

    >>> p, q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]  # chi2 = 0.63
    >>> [round(variational(p, q, [1, 0, -1], form), 10) for form in FORMS]
    [0.425, 0.5142857143, 0.5901639344]
    """
    if form not in FORMS:
        raise InputError(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
    first, second, g = (np.asarray(a, dtype=float) for a in (p, q, critic))
    shift, square = float((first - second) @ g), float(second @ (g * g))
    if form == "paper":
        return shift - square / 4
    size = square - (float(second @ g) ** 2 if form == "centred" else 0.0)
    return shift * shift / size if size > 0 else 0.0


def from_features(shift: ArrayLike, covariance: ArrayLike, ridge: float = 0.0) -> float:
    """The largest centred value over all linear combinations of features: shift' (covariance + ridge)^-1 shift.

    Parameters
    ----------
    shift : array of d numbers
        E_p phi - E_q phi.
    covariance : d x d array
        Of phi under q.
    ridge : float
        Added to its diagonal.

    Hermite polynomials up to degree 3 for N(0.8, 1) against N(0, 1), where chi2 = e^0.64 - 1 = 0.8965:

    >>> round(from_features([0.8, 0.64, 0.512], np.diag([1.0, 2.0, 6.0])), 10)
    0.8884906667
    """
    step = np.asarray(shift, dtype=float)
    matrix = np.asarray(covariance, dtype=float) + ridge * np.eye(len(step))
    return float(step @ np.linalg.solve(matrix, step))
