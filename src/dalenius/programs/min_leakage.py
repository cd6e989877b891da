"""The mechanism update under a distortion budget: the least leakage to a finite list of priors (Problem 2's master program)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.base import Named
from dalenius.programs.mechanism_update import Aim, MechanismUpdate
from dalenius.programs.pairs import EPS
from dalenius.programs.polish import polished


class MinLeakageProgram(MechanismUpdate):
    """Minimise the largest I_s(Q) over mechanisms Q with sum_xy c(x,y) Q(x,y) <= D; I_s is I(A; Y) under masses p_s(a,x), in nats.

    With one prior this is a rate-distortion problem. *Convex because* relative entropy is, jointly, and u_s and r_s are affine in Q.
    *DPP because* D is a right-hand side, and masses and costs multiply the mechanism only.
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
    tied : TiedEntries, optional
        Which entries of Q are one number; by default none. For additive noise modulo m, ``Additive().tied(m, m)``.
    changing : bool
        Whether priors and cost are parameters, too, which `set` takes.

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
        self,
        priors: Sequence[Floats],
        cost: Floats,
        max_distortion: float,
        *,
        tied: TiedEntries | None = None,
        changing: bool = False,
    ) -> None:
        super().__init__(priors, cost, tied, max_distortion, changing)

    def _budget(self, budget: float) -> None:
        least = float(self.tied_cost.min(axis=1).sum())
        if not least * (1.0 - 4.0 * EPS) <= float(budget) < np.inf:
            raise InputError(f"min_leakage: no mechanism has distortion {float(budget):.6g}; the least is {least:.6g}")
        self.max_distortion = max(float(budget), least)

    def data(self) -> Mapping[str, Any]:
        return {"budget": self.max_distortion, **super().data()}

    def model(self, leakage: cp.Expression, distortion: cp.Expression, budget: cp.Parameter) -> cp.Expression:
        largest = cp.Variable(name="largest")
        self.variables["largest"] = largest
        self.constraints |= {"leakages": leakage <= largest, "budget": distortion <= budget}
        return largest

    def start(self) -> tuple[Named, Named]:
        """A constant mechanism, or the mixture with the one of least distortion that the budget needs; and the bound 0."""
        weights = np.full(self.leakages.count, 1.0 / self.leakages.count)
        log_ratio = np.zeros((len(self.leakages.masses), self.cost.shape[1]))
        return {"q": self.feasible(self.constant())}, {"weights": weights, "nu": np.array(0.0), "log_ratio": log_ratio}

    def feasible(self, q: Floats) -> Floats:
        """Mixed with the mechanism of least distortion until the budget holds, or with a constant one until it is spent."""
        if self.distortion(q) <= self.max_distortion:
            return self._towards(self.constant(), q)
        return self._towards(q, self.tied.cheapest(self.tied_cost, q))

    def _towards(self, q: Floats, other: Floats) -> Floats:
        """The point between q and the other one, which has budget to spare, where the budget is spent; or q, if it has, too."""
        have, least, most = self.distortion(q), self.distortion(other), self.max_distortion
        if have <= most:
            return q
        share = (have - most) / (have - least) if have > least and most > least else 1.0
        return self.mixed((1.0 - share) * q + share * other, other, lambda p: self.distortion(p) - most)

    def value(self, point: Mapping[str, Floats]) -> float:
        return self.leakage(point["q"])

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        weights, nu, log_ratio = duals.get("leakages"), duals.get("budget"), self.posteriors(duals.get("posteriors"))
        if weights is None or nu is None or log_ratio is None or nu.size != 1:
            return None
        weights = np.maximum(weights.reshape(-1), 0.0)
        if weights.shape != (self.leakages.count,) or not weights.sum() > 0.0:
            return None
        return {"weights": weights / weights.sum(), "nu": np.maximum(nu.reshape(()), 0.0), "log_ratio": log_ratio}

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        """For any nonnegative numbers: the weights are normalised."""
        return self._bounds(multipliers)(float(multipliers["nu"]))

    def _bounds(self, multipliers: Mapping[str, Floats]) -> Callable[[float], float]:
        """The bound as a function of nu."""
        weights = multipliers["weights"] / multipliers["weights"].sum()
        scores, size = self.leakages.scores(weights, multipliers["log_ratio"])
        most = self.max_distortion * (1.0 + EPS)
        return lambda nu: self.minimum(scores + nu * self.cost, size + nu * self.cost) - nu * most

    def searched(self, multipliers: Named) -> Named:
        bound, scale = self._bounds(multipliers), float(self.cost.max()) or 1.0
        nu = polished(lambda trial: -bound(trial / scale), float(multipliers["nu"]) * scale) / scale
        return multipliers | {"nu": np.array(nu)}

    def aim(self, scale: float) -> Aim:
        return Aim(self.leakages, self.cost / scale, budget=self.max_distortion / scale)

    def from_interior(self, weights: Floats, scale: float) -> Named:
        return {"weights": weights[:-1] / weights[:-1].sum(), "nu": weights[-1] / scale}
