"""The mechanism update under a leakage budget: the least distortion under a finite list of priors (Problem 3's master program)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np
from scipy.sparse import coo_array, kron, vstack
from scipy.sparse import eye_array as eye

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.base import Named
from dalenius.programs.highs import METHODS, solved
from dalenius.programs.mechanism import Leakages
from dalenius.programs.mechanism_update import Aim, Closest, MechanismUpdate
from dalenius.programs.pairs import EPS
from dalenius.programs.polish import polished
from dalenius.search import Clock

RANK = 1e-12
PATIENCE = 10.0  # seconds


@dataclass(frozen=True)
class ZeroLeakage:
    """A point q, and z(a,y): c(x,y) + sum_a (p(a,x) - pi_a p(x)) z(a,y) has nearly the same least sum over mechanisms as <c, q>."""

    q: Floats
    slopes: Floats


def zero_leakage(leakages: Leakages, tied: TiedEntries, cost: Floats, seconds: float) -> ZeroLeakage | None:
    """Minimise <c, Q> where u_s(a,y) = pi_s(a) r_s(y) for all s, a and y. None where that fails, or takes longer.

    The conditions are combined to as many as are independent; if only constants satisfy them, there are inputs - 1 of these.
    """
    outputs, size = tied.outputs, tied.rows * tied.outputs
    laws = leakages.sums(leakages.masses)[leakages.owner]
    left, singular, right = np.linalg.svd(leakages.masses - leakages.pi[:, None] * laws, full_matrices=False)
    rank = int(np.sum(singular > RANK))
    numbers = tied.numbers.reshape(-1)
    choose = coo_array((np.ones(cost.size), (np.arange(cost.size), numbers)), shape=(cost.size, size)).tocsr()
    conditions = kron(right[:rank], eye(outputs)) @ choose if rank else np.zeros((0, size))
    rows = kron(eye(tied.rows), np.ones((1, outputs)))
    ends = np.concatenate([np.zeros(rank * outputs), np.ones(tied.rows)])
    clock = Clock(min(seconds, PATIENCE))
    found = solved(choose.T @ cost.reshape(-1), clock, METHODS[1:], A_eq=vstack([conditions, rows]), b_eq=ends)
    if found is None:
        return None
    q = np.maximum(found.x, 0.0).reshape(-1, outputs)
    slopes = (left[:, :rank] / singular[:rank]) @ -found.eqlin.marginals[: rank * outputs].reshape(rank, outputs)
    return ZeroLeakage(q / q.sum(axis=1, keepdims=True), slopes)


TINY = 1e-8  # budgets in nats for which leaking nothing is worth a look
NOTHING = (
    1e-26  # nats that a mechanism seems to leak by rounding; every budget is larger by this, for points and for bounds
)


class MinDistortionProgram(MechanismUpdate):
    """Minimise sum_xy c(x,y) Q(x,y) over mechanisms Q with I_s(Q) <= epsilon for all s; I_s is I(A; Y) under masses p_s(a,x), in nats.

    With one prior this is a distortion-rate problem. *Convex because* I_s is: relative entropy is, jointly, and u_s and r_s are
    affine in Q. *DPP because* epsilon is a right-hand side, and masses and costs multiply the mechanism only.
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
        epsilon >= 0, in nats. Both ends are for epsilon + 1e-26, which is what a mechanism that leaks nothing may seem to leak.
    tied : TiedEntries, optional
        Which entries of Q are one number; by default none. For additive noise modulo m, ``Additive().tied(m, m)``.
    changing : bool
        Whether priors and cost are parameters, too, which `set` takes.

    Raises
    ------
    InputError
        If shapes do not fit, a prior is none, or a number is negative or not finite.

    Notes
    -----
    Source: docs/theory.md; the source paper's Problem 3, there by its Algorithms 9 to 11.

    A fair bit that may be revealed to log 2 - h(0.1) is reported wrongly once in ten times:

    >>> exact = np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    >>> answer = MinDistortionProgram([0.5 * np.eye(2)], 0.5 * (1.0 - np.eye(2)), exact).solve()
    >>> bool(answer.lower <= 0.1 <= answer.upper), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "min_distortion"
    maximises: ClassVar[bool] = False

    def __init__(
        self,
        priors: Sequence[Floats],
        cost: Floats,
        max_leakage: float,
        *,
        tied: TiedEntries | None = None,
        changing: bool = False,
    ) -> None:
        self._zero_leakage: ZeroLeakage | None = None
        self._looked = False
        super().__init__(priors, cost, tied, max_leakage, changing)

    def _exchange(self, leakages: Leakages, cost: Floats | None) -> None:
        super()._exchange(leakages, cost)
        self._zero_leakage, self._looked = None, False

    def _budget(self, budget: float) -> None:
        if not 0.0 <= float(budget) < np.inf:
            raise InputError(f"min_distortion: expected a largest leakage of at least 0 nats, got {budget!r}")
        self.max_leakage = float(budget)

    def data(self) -> Mapping[str, Any]:
        return {"budget": self.max_leakage, **super().data()}

    def model(self, leakage: cp.Expression, distortion: cp.Expression, budget: cp.Parameter) -> cp.Expression:
        self.constraints["leakages"] = leakage <= budget
        return distortion

    def start(self) -> tuple[Named, Named]:
        """The best mixture of a constant mechanism and the one of least distortion; and the bound without any prior."""
        log_ratio = np.zeros((len(self.leakages.masses), self.cost.shape[1]))
        weights = np.zeros(self.leakages.count)
        return {"q": self.feasible(self.constant())}, {"weights": weights, "log_ratio": log_ratio}

    def feasible(self, q: Floats) -> Floats:
        """Mixed with a mechanism that leaks nothing until the budget holds, or with one of least distortion until it is spent."""
        start, end = (self.tied.cheapest(self.tied_cost, q), q) if self._excess(q) <= 0.0 else (q, self.leakless)
        return self.mixed(start, end, self._excess)

    def _excess(self, q: Floats) -> float:
        return self.leakage(q) - self.max_leakage - NOTHING

    @property
    def leakless(self) -> Floats:
        """The cheapest mechanism known to leak nothing."""
        return self.constant() if self._zero_leakage is None else self._zero_leakage.q

    def offer_more(self, best: Closest) -> None:
        """For tiny budgets: a linear program's best mechanism that leaks nothing, and its multipliers."""
        left = self.deadline - time.monotonic()
        if self.max_leakage > TINY or left <= 0.0:
            return
        if not self._looked:
            found, self._looked = zero_leakage(self.leakages, self.tied, self.cost, left), True
            self._zero_leakage = found if found is not None and self.leakage(found.q) <= NOTHING else None
        if self._zero_leakage is None:
            return
        best.offer({"q": self.feasible(best.point["q"])}, best.multipliers)
        best.offer({"q": self.feasible(self.leakless)}, best.multipliers)
        for size in 10.0 ** np.arange(16.0):
            log_ratio = np.log1p(np.maximum(self._zero_leakage.slopes / size, -0.9))
            raw = {"weights": np.full(self.leakages.count, size), "log_ratio": log_ratio}
            best.offer(best.point, self.searched(raw))

    def value(self, point: Mapping[str, Floats]) -> float:
        return self.distortion(point["q"])

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        weights, log_ratio = duals.get("leakages"), self.posteriors(duals.get("posteriors"))
        if weights is None or log_ratio is None or weights.size != self.leakages.count:
            return None
        return {"weights": np.maximum(weights.reshape(-1), 0.0), "log_ratio": log_ratio}

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        return self._bounds(multipliers)(1.0)

    def _bounds(self, multipliers: Mapping[str, Floats]) -> Callable[[float], float]:
        """The bound as a function of a factor on the weights."""
        scores, size = self.leakages.scores(multipliers["weights"], multipliers["log_ratio"])
        spent = (self.max_leakage + NOTHING) * (1.0 + EPS) * float(multipliers["weights"].sum())
        return lambda k: self.minimum(self.cost + k * scores, self.cost + k * size) - k * spent

    def searched(self, multipliers: Named) -> Named:
        bound = self._bounds(multipliers)
        scale = polished(lambda trial: -bound(trial), 1.0)
        return multipliers | {"weights": scale * multipliers["weights"]}

    def aim(self, scale: float) -> Aim:
        return Aim(self.leakages, self.cost / scale, limit=self.max_leakage)

    def from_interior(self, weights: Floats, scale: float) -> Named:
        return {"weights": weights * scale}
