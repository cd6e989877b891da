"""Newton's step for the leakage under an entropy bound, on the masses that are not 0: quadratic where alternating steps are linear."""

from __future__ import annotations

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.entropies import x_log_x

__all__ = ["newton_masses"]

EMPTY = 1e-14  # a mass of less stays as it is
TINY = 1e-280
MOST = 10.0  # times more or less is what a step makes of a mass


def newton_masses(p: Floats, rows: Floats, log_uniform: Floats, mu: Floats, bound: float) -> Floats:
    r"""Where the stationary point of I(p) + mu (H(p) - bound) + lambda (sum p - 1) lies to second order, as positive masses of sum 1.

    In e = dp / sqrt(p) the entropy has the Hessian -1, and with S = diag(sqrt(p)) the Newton-KKT equations of the multipliers are

        [ S I''(p) S - mu   S 1   S H' ] [    e   ]   [ -S (I' + mu H') ]
        [     1' S           0     0   ] [ lambda ] = [        0        ]
        [     H'' S          0     0   ] [  d mu  ]   [   bound - H(p)  ]

    Nothing says that the step gains, or that the masses have the entropy: callers restore it and compare.

    Parameters
    ----------
    p : (batch, letters, classes)
        Masses of sum 1.
    rows : (classes, outputs)
    log_uniform : (letters, classes)
        log(N(a,k) / |X|).
    mu : (batch,)
        Multipliers of the entropy bound, positive.
    bound : float
        Of the entropy less log |X|, in nats.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the equations are singular.

    >>> rows, uniform = np.array([[0.9, 0.1], [0.1, 0.9]]), np.log(np.full((2, 2), 0.25))
    >>> p = np.array([[[0.4, 0.1], [0.1, 0.4]]])  # the optimum at its own entropy, with its multiplier, stays
    >>> bound, mu = np.log(0.5 / 2.0) - 2.0 * (0.4 * np.log(0.4) + 0.1 * np.log(0.1)), 0.8 * np.log(0.74 / 0.26) / np.log(4.0)
    >>> newton_masses(p, rows, uniform, np.array([mu]), bound).round(9).tolist()
    [[[0.4, 0.1], [0.1, 0.4]]]
    """
    count = p.shape[0]
    letter, kind = np.nonzero((p > EMPTY).any(axis=0))
    mass = np.maximum(p[:, letter, kind], TINY)
    s, n, R = np.sqrt(mass), letter.size, rows[kind]
    u = p @ rows
    r, pi = np.maximum(u.sum(axis=1), TINY), np.maximum(p.sum(axis=-1), TINY)
    u = np.maximum(u, TINY)
    scaled = s[..., None] * R
    together = letter[:, None] == letter
    share = s / pi[:, letter]
    same = (scaled / u[:, letter]) @ scaled.swapaxes(-1, -2) - share[..., :, None] * s[..., None, :]
    system = np.zeros((count, n + 2, n + 2))
    system[:, :n, :n] = together * same - (scaled / r[:, None]) @ scaled.swapaxes(-1, -2)
    system[:, range(n), range(n)] -= mu[:, None]
    slope = log_uniform[letter, kind] - np.log(mass)
    system[:, n, :n] = system[:, :n, n] = s
    system[:, n + 1, :n] = system[:, :n, n + 1] = s * slope
    gain = np.sum(R * np.log(u / r[:, None])[:, letter], axis=-1) - np.log(pi)[:, letter]
    entropy = np.sum(mass * log_uniform[letter, kind] - x_log_x(mass), axis=-1)
    right = np.concatenate(
        [-s * (gain + mu[:, None] * slope), np.zeros((count, 1)), (bound - entropy)[:, None]], axis=1
    )
    e = np.linalg.solve(system, right[..., None])[:, :n, 0]
    found = p.copy()
    found[:, letter, kind] = np.clip(mass + s * np.nan_to_num(e), mass / MOST, MOST * mass)
    return found / found.sum(axis=(1, 2), keepdims=True)
