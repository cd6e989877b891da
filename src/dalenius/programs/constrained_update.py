"""The mechanism update of a design with constraints of its own: one program for least leakage, least distortion, and least excess."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, NoReturn

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_matrix, hstack

from dalenius.atoms import expected_cost
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.base import Named
from dalenius.programs.demands import Demands, Levels, demanded, size_of
from dalenius.programs.highs import METHODS, solved
from dalenius.programs.mechanism import Leakages, MechanismProgram, conic_leakages
from dalenius.programs.pairs import EPS, rounding
from dalenius.search import Clock


class ConstrainedUpdate(MechanismProgram):
    """Minimise <c, Q> + sum_l worth_l t_l over mechanisms Q that meet `demands`, I_s(Q) <= limit_s + rate_s t_l(s), <c_k, Q> <= t_0.

    I_s is I(A; Y) under masses p_s(a,x), in nats; those without a level are at most limit_s. So a design with constraints or an
    objective of its own has one kind of master program: its least leakage (c = 0, one level for the adversary's priors, limits 0), its
    least distortion (no level), a weighted sum of leakages and distortions (a level for each leakage), the largest of several (one
    level, with charges), or by how much it must break its budgets of leakage (c = 0, one level for all).
    *Convex because* relative entropy is, jointly, and all else is linear or a norm. *DPP because* nothing in it is a parameter.
    *Bound because* for weights lambda_s, eta_k >= 0 that leave nothing of any level (`Levels`), any laws phi_s(.|y) of the letter,
    mu >= 0 of the inequalities A q <= h, nu of the equations B q = e, and (t_k, u_k) with |u_k| <= t_k of the cones
    |F_k q + f_k| <= F_k0 q + f_k0

        value >= sum_x min_y [ c + sum_s lambda_s g_s + sum_k eta_k c_k + A'mu + B'nu - sum_k (t_k F_k0 + u_k F_k) ](x,y)
                 - sum_s lambda_s limit_s - mu h - nu e - sum_k (t_k f_k0 + u_k f_k),
        g_s(x,y) = sum_a p_s(a,x) log( phi_s(a|y) / pi_s(a) ),

    the minimum over the entries that need not be 0: what is given away is never negative for such a mechanism.

    Parameters
    ----------
    priors : sequence of (letters, inputs)
        p_s, with sum 1; the numbers of letters may differ. None at all leaves a linear or second-order cone program.
    limits : (priors,)
        In nats.
    levels : Levels
        Which priors raise what level; the costs c_k that are charged to the first one.
    cost : (inputs, outputs)
        c(x,y) >= 0.
    demands : Demands
        Its anchor must keep the limits of what has no level.
    tied : TiedEntries, optional
        Which entries of Q are one number; by default none.

    Attributes
    ----------
    Q : cvxpy.Expression (inputs, outputs)
        The mechanism, for constraints of one's own.

    Raises
    ------
    InputError
        If shapes do not fit, a prior is none, or a number is not finite.

    Notes
    -----
    Source: docs/theory.md; the source paper has no constraints but its budgets.

    A fair bit, reported wrongly at most once in ten times, and as often where it is 0 as where it is 1:

    >>> from dalenius.programs.demands import LinearRows
    >>> from dalenius.programs.demands import Levels
    >>> rows = LinearRows(csr_matrix([[0, 0.5, 0.5, 0], [0, 1.0, -1.0, 0]]), np.array([0.1, 0.0]), np.array([False, True]))
    >>> demands = Demands(rows, np.ones((2, 2), dtype=bool), np.array([[0.95, 0.05], [0.05, 0.95]]))
    >>> answer = ConstrainedUpdate([0.5 * np.eye(2)], [0.0], Levels.of([True]), np.zeros((2, 2)), demands).solve()
    >>> exact = np.log(2) + 0.9 * np.log(0.9) + 0.1 * np.log(0.1)
    >>> bool(answer.lower <= exact <= answer.upper), answer.gap < 1e-7
    (True, True)
    """

    name: ClassVar[str] = "constrained_update"
    maximises: ClassVar[bool] = False

    def __init__(
        self,
        priors: Sequence[Floats],
        limits: Sequence[float] | Floats,
        levels: Levels,
        cost: Floats,
        demands: Demands,
        *,
        tied: TiedEntries | None = None,
    ) -> None:
        self.charge(cost, tied)
        self.demands, self.support = demands, demands.support
        self.leakages = Leakages(self.name, priors, len(self.cost)) if len(priors) else None
        self.limits, self.levels, self.raised = np.asarray(limits, dtype=float), levels, levels.raised
        self._check(len(priors))
        self.unit = float(size_of(max([float(abs(self.tied_cost).max()), *levels.worth])))
        self.tied_charges = np.array([self.tied.sums(charge) for charge in levels.charges]).reshape(
            -1, *self.support.shape
        )
        super().__init__()

    def _check(self, priors: int) -> None:
        entries = self.tied_cost.size
        shapes = [self.limits.shape == self.levels.rates.shape == self.raised.shape == (priors,)]
        shapes += [self.support.shape == self.tied_cost.shape]
        shapes += [charge.shape == self.cost.shape for charge in self.levels.charges]
        shapes += [self.demands.rows.matrix.shape[1] == entries, self.demands.anchor.shape == self.tied_cost.shape]
        if not all(shapes) or not np.all(np.isfinite(self.limits)):
            raise InputError(
                f"{self.name}: expected a limit and a level for each of {priors} priors, and demands and charges on {entries} entries"
            )
        if not all(taken.any() for taken in self.levels.matrix):
            raise InputError(f"{self.name}: expected levels that each have a prior, or the first one a charge")

    # ------------------------------------------------------------ the model

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}; Q {self.cost.shape} is an expression>"

    def set(self, *data: object, **named: object) -> NoReturn:
        """Say that its data are no parameters."""
        raise InputError("set: the data of a design with constraints are no parameters; make its block anew")

    def build(self) -> cp.Expression:
        flat, self.variables, self.constraints = demanded(self.demands.rows, self.demands.cones, self.support)
        q = cp.reshape(flat, self.support.shape, order="C")
        objective = expected_cost(q, self.tied_cost)
        if len(self.levels.worth):
            objective = objective + self._add_levels(q)
        self.Q = cp.reshape(flat[self.tied.numbers.reshape(-1)], self.cost.shape, order="C")
        if self.leakages is not None:
            self._add_leakages(self.Q, self.leakages)
        variables, constraints = self.demands.secrets.model(self.Q)
        self.variables |= variables
        self.constraints |= constraints
        return objective

    def _add_levels(self, q: cp.Expression) -> cp.Expression:
        """The levels and what is charged to the first one; what they are worth."""
        levels = cp.Variable(len(self.levels.worth), name="levels")
        self.variables["levels"] = levels
        if len(self.tied_charges):
            charged = cp.hstack([expected_cost(q, charge) for charge in self.tied_charges])
            self.constraints["charges"] = charged <= levels[0]
        return cp.sum(cp.multiply(self.levels.worth, levels))

    def _add_leakages(self, Q: cp.Expression, leakages: Leakages) -> None:
        """The leakages, and what they may be."""
        conic = conic_leakages(Q, leakages, occurring=self._occurring)
        self.variables |= conic.variables
        self.constraints |= conic.constraints
        allowed = cp.Constant(self.limits)
        if "levels" in self.variables:
            allowed = allowed + self.levels.matrix[:, : leakages.count].T @ self.variables["levels"]
        self.constraints["leakages"] = conic.values <= allowed

    @property
    def _occurring(self) -> np.ndarray:
        """Possible pairs of letters and outputs: (rows of masses, outputs)."""
        assert self.leakages is not None
        allowed = self.tied.expand(np.asarray(self.support, dtype=float))
        return (self.leakages.masses > 0.0) @ allowed > 0.0

    # ------------------------------------------------------------ points

    def start(self) -> tuple[Named, Named]:
        """The anchor; and no multipliers but even weights."""
        rows, masses = self.demands.rows, 0 if self.leakages is None else len(self.leakages.masses)
        weights, charged = self.levels.scaled(np.zeros(self.limits.shape), np.zeros(len(self.tied_charges)))
        nothing = {"prices": np.zeros(len(rows.ends)), "log_ratio": np.zeros((masses, self.cost.shape[1]))}
        cones = {f"cone{k}": np.zeros(len(cone.offset)) for k, cone in enumerate(self.demands.cones)}
        secrets = self.demands.secrets.start(self.cost.shape[1])
        return {"q": self.demands.anchor}, {"weights": weights, "charged": charged} | nothing | cones | secrets

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clipped, normalised, on the equations, and mixed with the anchor until everything is met."""
        if "z" not in raw:
            return None
        q = np.zeros(self.support.shape)
        q[self.support] = np.maximum(raw["z"], 0.0)
        sums = q.sum(axis=1, keepdims=True)
        if not np.all(sums > 0.0):
            return None
        return {"q": self.mixed(self.demands.met_by(q / sums), self.demands.anchor, self._above)}

    def _above(self, q: Floats) -> float:
        """By how much something that is not raised is above its limit, at most."""
        return float(
            np.max(self._excess(q)[~self.raised], initial=self.demands.secrets.excess(self.mechanism({"q": q})))
        )

    def _excess(self, q: Floats) -> Floats:
        """I_s - limit_s."""
        return np.zeros(0) if self.leakages is None else self.leakages.values(self.mechanism({"q": q})) - self.limits

    def value(self, point: Mapping[str, Floats]) -> float:
        charged = np.sum(self.tied_charges * point["q"], axis=(1, 2))
        return self.distortion(point["q"]) + self.levels.value(self._excess(point["q"]), charged)

    # ------------------------------------------------------------ multipliers

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        found = self.start()[1] | {"prices": self.demands.rows.prices(duals)}
        for k in range(len(self.demands.cones)):
            if f"parts{k}" in duals:
                found[f"cone{k}"] = _in_cone(duals[f"parts{k}"])
        if "charges" in duals:
            found["charged"] = np.maximum(duals["charges"], 0.0)
        if self.leakages is not None:
            weights, log_ratio = duals.get("leakages"), self._posteriors(duals.get("posteriors"))
            if weights is None or log_ratio is None:
                return None
            found |= {"weights": np.maximum(weights, 0.0), "log_ratio": log_ratio}
        return found | self.demands.secrets.project(duals, self.cost.shape[1])

    def _posteriors(self, cone: Floats | None) -> Floats | None:
        """log(phi/pi) out of the multipliers of the cones; tiny at outputs that a letter never has."""
        assert self.leakages is not None
        occurring = self._occurring
        if cone is None or cone.shape != (3, int(occurring.sum())):
            return None
        return self.leakages.posteriors(cone, occurring)

    def scaled(self, multipliers: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """The weights of the priors, and what is charged, so that nothing of the levels is left."""
        return self.levels.scaled(multipliers["weights"], multipliers["charged"])

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        matrix, size, spent, terms = self._lagrangian(multipliers)
        least = np.where(self.support, self.tied.sums(matrix - EPS * size) - EPS * terms, np.inf).min(axis=1)
        return float(np.sum(least)) - rounding(least) - spent

    def lift_needed(self, multipliers: Mapping[str, Floats]) -> float:
        """By how much entries that must be 0 fall below the least of the others in a row, at most: what would keep them out."""
        matrix, size, _, terms = self._lagrangian(multipliers)
        folded, rounded = self.tied.sums(matrix), self.tied.sums(EPS * size) + EPS * terms
        least = np.where(self.support, folded, np.inf).min(axis=1, keepdims=True)
        return float(np.max(np.where(self.support, 0.0, least - folded + 2.0 * rounded), initial=0.0))

    def _lagrangian(self, multipliers: Mapping[str, Floats]) -> tuple[Floats, Floats, float, Floats]:
        """The matrix inside the minimum, the size of what is rounded in it, by inputs; what is subtracted; sizes by entries of q."""
        rows, matrix, size, spent = self.demands.rows, self.cost, self.cost, [0.0]
        weights, charged = self.scaled(multipliers)
        for eta, charge in zip(charged, self.levels.charges, strict=True):
            matrix, size = matrix + eta * charge, size + eta * charge
        if self.leakages is not None:
            scores, sizes = self.leakages.scores(weights, multipliers["log_ratio"])
            matrix, size, spent = matrix + scores, size + sizes, [*(weights * self.limits)]
        told, more, taken = self.demands.secrets.given_away(multipliers)
        matrix, size, spent = matrix + told, size + more, [*spent, taken]
        prices = multipliers["prices"]
        added, terms = rows.priced(prices), rows.sizes(prices)
        spent += [*(prices * rows.ends)]
        for k, cone in enumerate(self.demands.cones):
            both = _in_cone(multipliers[f"cone{k}"])
            added, terms = added - cone.matrix.T @ both, terms + abs(cone.matrix).T @ abs(both)
            spent += [*(both * cone.offset)]
        spread = self.tied.expand(added.reshape(self.support.shape)) / self._times
        total = float(np.sum(spent)) + EPS * float(np.sum(np.abs(spent)))
        return matrix + spread, size, total, terms.reshape(self.support.shape)

    @property
    def _times(self) -> Floats:
        """Number of entries of Q that are the same entry of q as each."""
        return self.tied.expand(self.tied.sums(np.ones(self.cost.shape)))

    # ------------------------------------------------------------ the best multipliers for given posteriors

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """For given posteriors the bound is concave and piecewise linear in all else: a linear program has its largest value."""
        if self.demands.cones or self.wanted == np.inf:
            return point, multipliers
        turned = multipliers | self.demands.secrets.turned(multipliers)
        return point, self._best_prices(turned) or multipliers

    def _best_prices(self, multipliers: Named) -> Named | None:
        """Maximise sum_x v_x - prices ends - weights limits where v_x is at most every supported entry of the matrix."""
        rows, count, secrets = self.demands.rows.even, len(self.support), self.demands.secrets
        used, chosen = np.flatnonzero(self.support), secrets.used(multipliers)
        added, behind = self._weighed(multipliers, chosen)
        entries = np.arange(used.size), used // self.support.shape[1]
        owner = csr_matrix((np.ones(used.size), entries), shape=(used.size, count))
        taken = np.pad(self.levels.matrix, ((0, 0), (count + len(rows.ends), len(chosen))))
        free = [(None, None)] * count + [(None if equal else 0.0, None) for equal in rows.equal]
        found = solved(
            np.concatenate([-np.ones(count), rows.ends, behind]),
            Clock(self.deadline - time.monotonic()),
            METHODS[:1],
            A_ub=hstack([owner, -rows.matrix.T.tocsr()[used], -csr_matrix(added)]).tocsr(),
            b_ub=self.tied_cost.reshape(-1)[used] / self.unit,
            bounds=free + [(0.0, None)] * len(behind),
            **({"A_eq": csr_matrix(taken), "b_eq": self.levels.worth / self.unit} if len(taken) else {}),
        )
        if found is None:
            return None
        parts = np.cumsum([len(rows.ends), len(self.limits), len(self.tied_charges)])
        prices, weights, charged, shares = np.split(self.unit * found.x[count:], parts)
        better = {
            "prices": self.demands.rows.valid(prices),
            "weights": np.maximum(weights, 0.0),
            "charged": np.maximum(charged, 0.0),
        }
        return multipliers | better | secrets.weighted(chosen, np.maximum(shares, 0.0), multipliers)

    def _weighed(self, multipliers: Named, chosen: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
        """Priors, charges and tangents with weights of 1: what they add to supported entries (entries, weights), and subtract."""
        gradients, shape = list[Floats](), self.cost.shape
        if self.leakages is not None:
            gradients = self.leakages.gradients(self.leakages.normalised(multipliers["log_ratio"]))
        tangents = [self.demands.secrets.alone(k, i, multipliers) for k, i in chosen]
        told = (self.tied.sums(np.broadcast_to(matrix, shape)) for matrix, _ in tangents)
        added = [each[self.support] for each in (*map(self.tied.sums, gradients), *self.tied_charges, *told)]
        behind = [*self.limits, *np.zeros(len(self.tied_charges)), *(spent for _, spent in tangents)]
        return np.reshape(added, (len(added), np.count_nonzero(self.support))).T, np.array(behind)


def _in_cone(both: Floats) -> Floats:
    """(t, u) with |u| <= t, the nearest in u."""
    t, length = max(float(both[0]), 0.0), float(np.linalg.norm(both[1:]))
    return np.concatenate([[t], both[1:] * min(1.0, t * (1.0 - 1e-15) / length) if length > 0.0 else both[1:]])
