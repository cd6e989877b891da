"""The source paper's Algorithm 2: modified Blahut-Arimoto for the record's marginal law, with an adaptive multiplier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.baselines.gradients import leakage, log_ratio
from dalenius.baselines.run import Log, need_positive
from dalenius.information import entropy, log_sum_exp
from dalenius.information.arrays import Floats

__all__ = ["MarginalSettings", "blahut_arimoto"]

LEAST_MASS = 1e-12  # that a letter is given


@dataclass(frozen=True)
class MarginalSettings:
    """Of Algorithm 2. The text that we have has lost the paper's numbers; these are ours.

    Attributes
    ----------
    tolerance : float
        Stop when the leakage changes by less than this, in nats.
    iterations : int
    multiplier_step : float
        The step of the gradient descent on the multiplier.
    """

    tolerance: float = 1e-10
    iterations: int = 300
    multiplier_step: float = 0.5

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations", "multiplier_step")


def blahut_arimoto(pi: Floats, K: Floats, spread: Floats, bound: float, settings: MarginalSettings, log: Log) -> Floats:
    """max over pi of I(pi, K) subject to H(pi) + sum_a pi_a H(w_a) >= bound, the source paper's problem (13).

    The update (15) is lost; ours maximises the Lagrangian I + m (H - bound) with the posterior phi = pi_a K_a / r held fixed:

        pi_a <- (pi_a exp(D(K_a || r) + m H(w_a)))^(1/(1+m)) / normalisation,       m <- max(0, m - step (H - bound)).

    For m fixed the Lagrangian never falls; while m moves the bound may be broken. A last law that breaks it is mixed with just enough
    of the first one, and the best law that meets it is kept: what comes back is never worse than `pi`.

    Parameters
    ----------
    pi : (letters,)
        A law that meets the bound.
    K : (letters, outputs)
    spread : (letters,)
        H(w_a); relative to log |X| if `bound` is.

    >>> from dalenius.search.clock import Clock
    >>> K = np.array([[0.9, 0.1], [0.4, 0.6], [0.1, 0.9]])
    >>> law = blahut_arimoto(np.full(3, 1 / 3), K, np.zeros(3), 0.0, MarginalSettings(), Log(Clock()))
    >>> law.round(3).tolist()
    [0.5, 0.0, 0.5]
    """
    first, best, value = pi, pi, leakage(pi, K)
    multiplier, before = 0.0, value
    for _ in range(int(settings.iterations)):
        if log.clock.expired:
            break
        distance = np.sum(K * log_ratio(pi, K), axis=1)
        score = (np.log(np.maximum(pi, LEAST_MASS)) + distance + multiplier * spread) / (1.0 + multiplier)
        pi = np.maximum(np.exp(score - log_sum_exp(score)), LEAST_MASS)
        pi /= pi.sum()
        excess = float(entropy(pi) + pi @ spread) - bound
        now = leakage(pi, K)
        log.evaluations += 1
        if excess >= 0.0 and now > value:
            best, value = pi, now
        multiplier = max(0.0, multiplier - settings.multiplier_step * excess)
        if abs(now - before) < settings.tolerance:
            break
        before = now
    back = _pulled_back(pi, first, spread, bound)
    return back if leakage(back, K) > value else best


def _pulled_back(pi: Floats, first: Floats, spread: Floats, bound: float) -> Floats:
    """(1-t) pi + t first with the least t at which the entropy, concave in t, meets the bound; by bisection."""
    low, high, share, mixed = 0.0, 1.0, 0.0, first
    for _ in range(40):
        candidate = (1.0 - share) * pi + share * first
        if float(entropy(candidate) + candidate @ spread) >= bound:
            high, mixed = share, candidate
        else:
            low = share
        if high == 0.0:
            break
        share = 0.5 * (low + high)
    return mixed
