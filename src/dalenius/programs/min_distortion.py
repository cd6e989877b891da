"""The mechanism update under a leakage budget: the least distortion that tells a finite list of priors little (Problem 3's master)."""

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
from dalenius.programs.pairs import polished

__all__ = ["MinDistortionProgram"]


class MinDistortionProgram(MechanismUpdate):
    """Minimise sum_xy c(x,y) Q(x,y) over mechanisms Q with I_s(Q) <= epsilon for all s; I_s is I(A; Y) under masses p_s(a,x), in nats.

    With one prior this is a distortion-rate problem. *Convex because* I_s is: relative entropy is, jointly, and u_s and r_s are
    affine in Q. *DPP because* epsilon is a right-hand side.
    *Bound because* for mu_s >= 0 and any laws phi_s(.|y) of the letter

        <c, Q> >= <c, Q> + sum_s mu_s (I_s(Q) - epsilon) >= sum_x min_y [ c(x,y) + G(x,y) ] - epsilon sum_s mu_s,
        G(x,y) = sum_s mu_s sum_a p_s(a,x) log( phi_s(a|y) / pi_s(a) ).

    Parameters
    ----------
    priors : sequence of (letters, inputs)
        p_s, with sum 1; the numbers of letters may differ.
    cost : (inputs, outputs)
        c(x,y) = p(x) d(x,y) >= 0: the law of the true data times the distortion.
    max_leakage : float
        epsilon >= 0, in nats.
    tied : (inputs, outputs) of int, optional
        Numbers of the entries of Q: those with one number are equal. For additive noise modulo m, ``(y - x) % m``.

    Raises
    ------
    InputError
        If shapes do not fit, a prior is none, or a number is negative or not finite.

    Notes
    -----
    Source: docs/theory.md; the source paper's Problem 3, there by its Algorithms 9 to 11.

    A fair bit that may be told to log 2 - h(0.1) is reported wrongly once in ten times:

    >>> exact = np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    >>> answer = MinDistortionProgram([0.5 * np.eye(2)], 0.5 * (1.0 - np.eye(2)), exact).solve()
    >>> bool(answer.lower <= 0.1 <= answer.upper), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "min_distortion"
    maximises: ClassVar[bool] = False

    def __init__(
        self, priors: Sequence[Floats], cost: Floats, max_leakage: float, *, tied: NDArray[np.int64] | None = None
    ) -> None:
        self.max_leakage = float(max_leakage)
        self._check()
        super().__init__(priors, cost, tied)

    def set(self, max_leakage: float) -> None:
        """Another budget; solving again does not canonicalise again."""
        self.max_leakage = float(max_leakage)
        self._check()
        self._write()

    def _check(self) -> None:
        if not 0.0 <= self.max_leakage < np.inf:
            raise InputError(f"min_distortion: expected a largest leakage of at least 0 nats, got {self.max_leakage!r}")

    def _write(self) -> None:
        self.parameters["budget"].value = self.max_leakage

    def model(self, leakage: cp.Expression, distortion: cp.Expression, budget: cp.Parameter) -> cp.Problem:
        self.constraints["leakages"] = leakage <= budget
        return cp.Problem(cp.Minimize(distortion), list(self.constraints.values()))

    def start(self) -> tuple[Named, Named]:
        """The best mixture of a constant mechanism and the one of least distortion; and the bound without any prior."""
        log_phi = np.tile(self.leakages.log_pi[:, None], self.cost.shape[1])
        return {"q": self.feasible(self.constant())}, {"weights": np.zeros(self.leakages.count), "log_phi": log_phi}

    def feasible(self, q: Floats) -> Floats:
        """Mixed with a constant mechanism until the budget holds, or with the one of least distortion until it is spent."""
        constant, least = self.constant(), self.least(self.cost)
        return self.mixed(least, q, self._allowed) if self._allowed(q) else self.mixed(q, constant, self._allowed)

    def _allowed(self, q: Floats) -> bool:
        return self.leakage(q) <= self.max_leakage

    def value(self, point: Mapping[str, Floats]) -> float:
        return self.distortion(point["q"])

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        weights, log_phi = duals.get("leakages"), self.posteriors(duals.get("posteriors"))
        if weights is None or log_phi is None or weights.size != self.leakages.count:
            return None
        return {"weights": np.maximum(weights.reshape(-1), 0.0), "log_phi": log_phi}

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        return self._bound(multipliers, 1.0)

    def _bound(self, multipliers: Mapping[str, Floats], scale: float) -> float:
        weights = scale * multipliers["weights"]
        scores = self.leakages.scores(weights, multipliers["log_phi"])
        return self.minimum(self.cost + scores) - self.max_leakage * float(weights.sum())

    def searched(self, multipliers: Named) -> Named:
        scale = polished(lambda trial: -self._bound(multipliers, trial), 1.0)
        return multipliers | {"weights": scale * multipliers["weights"]}

    def aim(self, scale: float) -> Aim:
        return Aim(self.leakages, self.cost / scale, limit=self.max_leakage)

    def from_interior(self, weights: Floats, scale: float) -> Named:
        return {"weights": weights * scale}
