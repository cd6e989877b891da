"""The marginal update: the best letter law for fixed conditionals, under the entropy bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np
from scipy.optimize import brentq

from dalenius.atoms import concave_entropy, information_of_prior
from dalenius.errors import InputError
from dalenius.information import log_sum_exp, relative_entropy, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.capacity import capacity
from dalenius.programs.base import CONIC, Named, Program
from dalenius.programs.pairs import divergence, log_mean_exp, mixed, room, slack
from dalenius.programs.polish import polished

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


LEAST_MULTIPLIER = 1e-9  # our own method looks for multipliers between this and its inverse
STEP = 1.0  # of their logarithm


class MarginalUpdate(Program):
    """Maximise I(pi; K) over letter laws pi with H(pi) + sum_a pi_a h_a >= b.

    I(pi; K) = H(pi K) - sum_a pi_a H(K_a), in nats; h_a is the entropy of the other records given letter a.

    *Convex because* H(pi K) is concave in pi, and so is the entropy constraint. *DPP because* parameters enter affinely.
    *Bound because* for every output law r and mu >= 0

        I(pi; K) <= sum_a pi_a D(K_a || r) + mu (H(pi) + <pi, h> - b) <= mu log sum_a exp((D_a + mu h_a) / mu) - mu b,

    and max_a D_a for mu = 0. It is evaluated as mu log sum_a q_a exp(D_a / mu) + mu (m - b) with m = log sum_a exp(h_a) and
    q_a = exp(h_a - m), so that nothing cancels where mu is large.

    Parameters
    ----------
    conditionals : (letters, outputs)
        K, row-stochastic.
    entropies : (letters,)
        h in nats.
    entropy_bound : float
        b in nats.

    Raises
    ------
    InputError
        If shapes do not fit, rows are not stochastic, a number is not finite, or no letter law has this entropy.

    >>> answer = MarginalUpdate(np.array([[0.9, 0.1], [0.1, 0.9]]), np.zeros(2), 0.0).solve()
    >>> exact = np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    >>> bool(answer.lower <= exact <= answer.upper), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "marginal"
    maximises: ClassVar[bool] = True

    def __init__(self, conditionals: Floats, entropies: Floats, entropy_bound: float) -> None:
        self.set(conditionals, entropies, entropy_bound)
        super().__init__()

    def set(self, conditionals: Floats, entropies: Floats, entropy_bound: float) -> None:
        """Other data of the same shape; solving again does not canonicalise again."""
        K, h, b = np.asarray(conditionals, dtype=float), np.asarray(entropies, dtype=float), float(entropy_bound)
        if K.ndim != 2 or h.shape != K.shape[:1]:
            raise InputError(f"marginal: expected K (letters, outputs) and h (letters,), got {K.shape}, {h.shape}")
        if not (np.all(K >= 0.0) and np.allclose(K.sum(axis=1), 1.0, rtol=0.0, atol=1e-9)):
            raise InputError("marginal: expected rows of numbers of at least 0 with sum 1; normalise the conditionals")
        if not (np.isfinite(h).all() and math.isfinite(b)):
            raise InputError("marginal: expected finite entropies and a finite bound")
        most = float(log_sum_exp(h))
        if most < b - 1e-12 * (1.0 + abs(b)):
            raise InputError(f"marginal: no letter law has entropy {b:.6g}; the largest is {most:.6g}")
        self.K, self.h, self.b, self.most = K / K.sum(axis=1, keepdims=True), h, min(b, most), most
        self.terms = np.exp(h - most) * h
        self.write()

    def build(self) -> cp.Expression:
        letters, outputs = self.K.shape
        pi = cp.Variable(letters, nonneg=True, name="pi")
        K, h, b = cp.Parameter((letters, outputs)), cp.Parameter(letters), cp.Parameter()
        self.variables = {"pi": pi}
        self.parameters = {"conditionals": K, "entropies": h, "entropy_bound": b}
        self.constraints = {"total": cp.sum(pi) == 1, "entropy": concave_entropy(pi, log_counts=h) >= b}
        return information_of_prior(pi, K)

    def data(self) -> Mapping[str, Any]:
        return {"conditionals": self.K, "entropies": self.h, "entropy_bound": self.b}

    def start(self) -> tuple[Named, Named]:
        """The law of the largest entropy, and no multiplier."""
        pi = np.exp(self.h - self.most)
        return {"pi": pi}, {"law": pi @ self.K, "mu": np.array(0.0)}

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clip, normalise, and mix with the law of the largest entropy until the bound holds (entropy is concave)."""
        pi = np.maximum(raw.get("pi", np.zeros(len(self.h))), 0.0)
        if pi.shape != self.h.shape or pi.sum() <= 0.0:
            return None
        return {"pi": mixed(pi / pi.sum(), self.start()[0]["pi"], self._missing, room(self.most, self.b, self.terms))}

    def _missing(self, pi: Floats) -> float:
        """The largest entropy less that of a letter law."""
        return float(divergence(pi, np.exp(self.h - self.most), self.h - self.most))

    def value(self, point: Mapping[str, Floats]) -> float:
        law = point["pi"] @ self.K
        return float(-np.sum(x_log_x(law)) + point["pi"] @ np.sum(x_log_x(self.K), axis=1))

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        mu = duals.get("entropy")
        return None if mu is None or mu.size != 1 else {"mu": np.maximum(mu.reshape(()), 0.0)}

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """The output law of the point belongs to the multiplier of the entropy bound."""
        law = point["pi"] @ self.K
        return point, {"law": (1.0 - 1e-14) * law + 1e-14 / law.size, "mu": multipliers["mu"]}

    @property
    def conic_bytes(self) -> float:
        return float(CONIC * self.K.size)

    def own(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """The channel's capacity if the law that attains it has enough entropy, otherwise the multiplier for which it is enough."""
        free, allowed = capacity(self.K), room(self.most, self.b, self.terms)
        if self._missing(free.input_law) <= allowed:
            return {"pi": free.input_law}, {"law": free.output_law, "mu": np.array(0.0)}

        best, log_best = np.exp(self.h - self.most), self.h - self.most
        t, law = -math.log(LEAST_MULTIPLIER), best
        while t > math.log(LEAST_MULTIPLIER):  # down from the largest multiplier, until the entropy is too small
            lower = letter_law(self.K, log_best, math.exp(t - STEP), law)
            if self._missing(lower) > allowed:
                break
            t, law = t - STEP, lower
        else:
            return self._at(law, t)

        def excess(t: float) -> float:
            return allowed - self._missing(letter_law(self.K, log_best, math.exp(t), law))

        if excess(t) > 0.0:
            t = brentq(excess, t - STEP, t, xtol=1e-13)
        return self._at(letter_law(self.K, log_best, math.exp(t), law), t)

    def _at(self, law: Floats, t: float) -> tuple[Named, Named]:
        """A law made feasible, and the best multiplier near exp(t) that its output law has."""
        pi = mixed(law, np.exp(self.h - self.most), self._missing, room(self.most, self.b, self.terms))
        point, found = self.improve({"pi": pi}, {"mu": np.array(math.exp(t))})
        mu = polished(lambda mu: self.bound(found | {"mu": np.array(mu)}), float(found["mu"]))
        return point, found | {"mu": np.array(mu)}

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        if "law" not in multipliers:
            return np.inf
        mu = float(multipliers["mu"])
        distance = relative_entropy(self.K, multipliers["law"] / multipliers["law"].sum())
        if mu <= 0.0:
            return float(np.max(distance))
        return mu * float(log_mean_exp(self.h - self.most, distance / mu)) + mu * slack(self.most, self.b, self.terms)
