"""Our own multipliers for boxes of a row problem: Newton's method on the dual of its relaxation, for many boxes at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.information.box_multipliers import box_price
from dalenius.programs.row_problem import RowProblem

__all__ = ["BoxDuals"]

STEPS = 25  # of Newton's method for each smoothing
RIDGE = 1e-12  # added to the scaled Hessian
BACK = 10  # times that a step is shortened
SMOOTHING = tuple(0.2**k for k in range(11))  # times the first
NEAR = 0.5  # the multiplier of the entropy bound that is begun with, times what the scores differ by
FALL = 0.5  # the share of that multiplier that one step may take away


class BoxDuals:
    """For boxes low <= K <= high of a row problem: slopes kappa and multipliers mu with a small bound (`RowProblem.bound`).

    With kappa = s + nu, s the secants' slopes, the bound is, up to what nu and mu do not change,

        price(nu) + mu log sum_k u_k exp( (R (s + nu))_k / mu ) + mu slack,    price(nu) = sum_y max(-nu low, -nu high)(y),

    u the law of the largest entropy: convex in (nu, mu). With |nu| smoothed, and a barrier for mu > 0, it has two derivatives;
    both fade, and Newton's method follows.
    """

    def __init__(self, row: RowProblem) -> None:
        self.rows = row.rows[row.own.index]
        self.log_law = row.own.log_uniform_given_letter[0, row.own.index]
        self.slack, self.secant = row.slack, row.secant

    def __call__(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """(kappa, mu, w) for boxes (boxes, outputs); w is where the relaxation attains its bound."""
        slope = self.secant(low, high)
        scores = slope @ self.rows.T
        mu = NEAR * np.maximum(np.ptp(scores, axis=1), 1e-6)
        size, barrier = np.maximum(np.ptp(slope, axis=1), 1e-6)[:, None], mu * max(self.slack, 1e-12)
        nu = np.zeros_like(slope)
        for factor in SMOOTHING:
            nu, mu = _Smoothed(self, slope, low, high, factor * size, factor * barrier).settled(nu, mu)
        return slope + nu, mu, self.law(slope + nu, mu).w

    def law(self, kappa: Floats, mu: Floats) -> _Law:
        """At lines of these slopes and this multiplier."""
        x = kappa @ self.rows.T / mu[:, None]
        total = log_sum_exp(self.log_law + x)
        return _Law(x, total, np.exp(self.log_law + x - total[:, None]))


@dataclass(frozen=True)
class _Law:
    """x = R kappa / mu (boxes, classes), log sum u exp(x), and w ~ u exp(x)."""

    x: Floats
    total: Floats
    w: Floats


@dataclass(frozen=True)
class _Smoothed:
    """The dual with |nu| smoothed and - barrier log(mu) added."""

    duals: BoxDuals
    slope: Floats
    low: Floats
    high: Floats
    smoothing: Floats
    barrier: Floats

    def settled(self, nu: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """Its minimum, as far as a few damped Newton steps from (nu, mu) go."""
        value, law = self.value(nu, mu), self.duals.law(self.slope + nu, mu)
        for _ in range(STEPS):
            step, before = self.direction(nu, mu, law), value
            length = np.minimum(1.0, FALL / np.maximum(-step[:, -1] / mu, FALL))
            for _ in range(BACK):
                to_nu, to_mu = nu + length[:, None] * step[:, :-1], mu + length * step[:, -1]
                trial = self.value(to_nu, to_mu)
                better = trial < value
                kept = better[:, None]
                nu, mu, value = np.where(kept, to_nu, nu), np.where(better, to_mu, mu), np.where(better, trial, value)
                if better.all():
                    break
                length = np.where(better, 0.0, 0.3 * length)
            law = self.duals.law(self.slope + nu, mu)
            if np.all(before - value < 1e-3 * self.barrier + 1e-13):
                break
        return nu, mu

    def value(self, nu: Floats, mu: Floats) -> Floats:
        total = self.duals.law(self.slope + nu, mu).total
        price = box_price(nu, self.low, self.high, self.smoothing)[0].sum(axis=1)
        return price + mu * (total + self.duals.slack) - self.barrier * np.log(mu)

    def direction(self, nu: Floats, mu: Floats, law: _Law) -> Floats:
        """Newton's direction in (nu, mu): the Hessian of the logarithm is the covariance of (R, -x) under w, over mu."""
        rows = self.duals.rows
        _, first, second = box_price(nu, self.low, self.high, self.smoothing)
        features = np.concatenate(
            [np.broadcast_to(rows, (len(mu), *rows.shape)), -law.x[:, :, None]], axis=2
        )  # (boxes, classes, outputs + 1)
        mean = np.einsum("bk,bkf->bf", law.w, features)
        centred = features - mean[:, None, :]
        hessian = (centred * law.w[:, :, None]).swapaxes(1, 2) @ centred / mu[:, None, None]
        outputs = range(rows.shape[1])
        hessian[:, outputs, outputs] += second
        hessian[:, -1, -1] += self.barrier / mu**2
        gradient = mean.copy()
        gradient[:, :-1] += first
        gradient[:, -1] += law.total + self.duals.slack - self.barrier / mu
        scale = np.sqrt(np.maximum(np.diagonal(hessian, axis1=1, axis2=2), 1e-30))
        hessian = hessian / (scale[:, :, None] * scale[:, None, :]) + RIDGE * np.eye(len(rows[0]) + 1)
        return -np.linalg.solve(hessian, (gradient / scale)[:, :, None])[:, :, 0] / scale
