"""The best letter law at a multiplier of the entropy bound, by Newton's method: our own way to the marginal update."""

from __future__ import annotations

import numpy as np

from dalenius.information import relative_entropy
from dalenius.information.arrays import Floats

__all__ = ["letter_law"]

STEPS = 60
LEAST = 1e-200  # mass of a letter
BACK = 30
DONE = 1e-28  # of Newton's decrement, relative to the multiplier: the law is as good as doubles hold it
FARTHEST = 3.0  # the logarithm of a mass changes by no more in a step


def letter_law(K: Floats, log_best: Floats, mu: float, start: Floats) -> Floats:
    """Maximise I(pi; K) - mu D(pi || best) over letter laws pi, for mu > 0: strictly concave, and no mass is 0 at the maximum.

    Parameters
    ----------
    K : (letters, outputs)
        Row-stochastic.
    log_best : (letters,)
        The logarithm of the law of the largest entropy.
    mu : float
    start : (letters,)
        A law, best that of a multiplier that is not much larger.

    >>> letter_law(np.eye(2), np.log([0.2, 0.8]), 1e9, np.array([0.5, 0.5])).round(6).tolist()
    [0.2, 0.8]
    """
    pi = np.maximum(start, LEAST)
    pi /= pi.sum()
    value = _value(K, log_best, mu, pi)
    for _ in range(STEPS):
        r = pi @ K
        slope = relative_entropy(K, r) - mu * (np.log(pi) - log_best)
        slope = slope - pi @ slope
        curvature = (K / np.where(r > 0.0, r, 1.0)) @ K.T + np.diag(mu / np.maximum(pi, LEAST))
        both = np.linalg.solve(curvature, np.stack([slope, np.ones_like(pi)], axis=1))
        step = both[:, 0] - both[:, 0].sum() / both[:, 1].sum() * both[:, 1]
        decrement = float(slope @ step)
        if not decrement > DONE * (1.0 + mu):
            break
        move, length = np.clip(step / pi, -FARTHEST, FARTHEST), 1.0
        for _ in range(BACK):
            trial = np.maximum(pi * np.exp(length * move), LEAST)
            trial /= trial.sum()
            found = _value(K, log_best, mu, trial)
            if found > value or decrement < 1e-12 * (1.0 + mu):  # so near that doubles do not see the value rise
                break
            length *= 0.5
        else:
            break
        pi, value = trial, found
    return pi


def _value(K: Floats, log_best: Floats, mu: float, pi: Floats) -> float:
    return float(pi @ (relative_entropy(K, pi @ K) - mu * (np.log(pi) - log_best)))
