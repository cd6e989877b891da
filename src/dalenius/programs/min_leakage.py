"""The mechanism update under a distortion budget: the least leakage to a finite list of priors (Problem 2's master program)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.programs.base import Floats, Named
from dalenius.programs.interior import Aim
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.programs.pairs import EPS, polished

__all__ = ["MinLeakageProgram"]


class MinLeakageProgram(MechanismUpdate):
    """Minimise the largest I_s(Q) over mechanisms Q with sum_xy c(x,y) Q(x,y) <= D; I_s is I(A; Y) under masses p_s(a,x), in nats.

    With one prior this is a rate-distortion problem. *Convex because* relative entropy is, jointly, and u_s and r_s are affine in Q.
    *DPP because* D is a right-hand side.
    *Bound because* for weights lambda_s >= 0 with sum 1, nu >= 0 and any laws phi_s(.|y) of the letter

        max_s I_s(Q) >= sum_xy Q(x,y) G(x,y) + nu (<c, Q> - D) >= sum_x min_y [ G(x,y) + nu c(x,y) ] - nu D,
        G(x,y) = sum_s lambda_s sum_a p_s(a,x) log( phi_s(a|y) / pi_s(a) ),

    the first because I_s is the largest over phi of sum_ay u_s log(phi_s/pi_s).

    Parameters
    ----------
    priors : sequence of (letters, inputs)
        p_s, with sum 1; the numbers of letters may differ.
    cost : (inputs, outputs)
        c(x,y) = p(x) d(x,y) >= 0: the law of the true data times the distortion.
    max_distortion : float
        D.
    tied : (inputs, outputs) of int, optional
        Numbers of the entries of Q: those with one number are equal. For additive noise modulo m, ``(y - x) % m``.

    Raises
    ------
    InputError
        If shapes do not fit, a prior is none, a number is negative or not finite, or no mechanism has this distortion.

    Notes
    -----
    Source: docs/theory.md; for one prior Berger (1971). The source paper's Problem 2, there by penalties and exponentiated gradients.

    A fair bit, reported wrongly at most once in ten times, is told to log 2 - h(0.1):

    >>> cost = 0.5 * (1.0 - np.eye(2))
    >>> answer = MinLeakageProgram([0.5 * np.eye(2)], cost, 0.1).solve()
    >>> exact = np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    >>> bool(answer.lower <= exact <= answer.upper), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "min_leakage"
    maximises: ClassVar[bool] = False

    def __init__(
        self, priors: Sequence[Floats], cost: Floats, max_distortion: float, *, tied: NDArray[np.int64] | None = None
    ) -> None:
        self.max_distortion = float(max_distortion)
        super().__init__(priors, cost, tied)
        self._check()

    def set(self, max_distortion: float) -> None:
        """Another budget; solving again does not canonicalise again."""
        self.max_distortion = float(max_distortion)
        self._check()
        self._write()

    def _check(self) -> None:
        least = self.distortion(self.least(self.cost))
        if not np.isfinite(self.max_distortion) or self.max_distortion < least - 4.0 * EPS * (1.0 + least):
            raise InputError(
                f"min_leakage: no mechanism has distortion {self.max_distortion:.6g}; the least is {least:.6g}"
            )

    def _write(self) -> None:
        self.parameters["budget"].value = self.max_distortion

    def model(self, leakage: cp.Expression, distortion: cp.Expression, budget: cp.Parameter) -> cp.Problem:
        largest = cp.Variable(name="largest")
        self.variables["largest"] = largest
        self.constraints |= {"leakages": leakage <= largest, "budget": distortion <= budget}
        return cp.Problem(cp.Minimize(largest), list(self.constraints.values()))

    def start(self) -> tuple[Named, Named]:
        """A constant mechanism, or the mixture with the one of least distortion that the budget needs; and the bound 0."""
        leakages = self.leakages
        log_phi = np.tile(leakages.log_pi[:, None], self.cost.shape[1])
        weights = np.full(leakages.count, 1.0 / leakages.count)
        return {"q": self.feasible(self.constant())}, {"weights": weights, "nu": np.array(0.0), "log_phi": log_phi}

    def feasible(self, q: Floats) -> Floats:
        """Mixed with the mechanism of least distortion until the budget holds, or with a constant one until it is spent."""
        constant, least = self.constant(), self.least(self.cost)
        if self.distortion(q) <= self.max_distortion:
            return self._towards(constant, q)
        return self._towards(q, least)

    def _towards(self, q: Floats, other: Floats) -> Floats:
        """The point between q and the other one, which has budget to spare, where the budget is spent; or q, if it has, too."""
        have, spare = self.distortion(q), self.max_distortion - self.distortion(other)
        if have <= self.max_distortion:
            return q
        share = max(1.0 - max(spare, 0.0) / (have - self.distortion(other)), 0.0)
        return self.mixed((1.0 - share) * q + share * other, other, lambda p: self.distortion(p) <= self.max_distortion)

    def value(self, point: Mapping[str, Floats]) -> float:
        return self.leakage(point["q"])

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        weights, nu, log_phi = duals.get("leakages"), duals.get("budget"), self.posteriors(duals.get("posteriors"))
        if weights is None or nu is None or log_phi is None or nu.size != 1:
            return None
        weights = np.maximum(weights.reshape(-1), 0.0)
        if weights.shape != (self.leakages.count,) or not weights.sum() > 0.0:
            return None
        return {"weights": weights / weights.sum(), "nu": np.maximum(nu.reshape(()), 0.0), "log_phi": log_phi}

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        return self._bound(multipliers, float(multipliers["nu"]))

    def _bound(self, multipliers: Mapping[str, Floats], nu: float) -> float:
        scores = self.leakages.scores(multipliers["weights"], multipliers["log_phi"])
        return self.minimum(scores + nu * self.cost) - nu * self.max_distortion

    def searched(self, multipliers: Named) -> Named:
        nu = polished(lambda trial: -self._bound(multipliers, trial), float(multipliers["nu"]))
        return multipliers | {"nu": np.array(nu)}

    def aim(self, scale: float) -> Aim:
        return Aim(self.leakages, self.cost / scale, budget=self.max_distortion / scale)

    def from_interior(self, weights: Floats, scale: float) -> Named:
        return {"weights": weights[:-1] / weights[:-1].sum(), "nu": weights[-1] / scale}
