"""The relaxation of Problem 1 on a box of posteriors, of conditionals, or of both: concave, with a `joint` leaf as its proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import cvxpy as cp
import numpy as np

from dalenius.atoms import concave_entropy
from dalenius.errors import InputError
from dalenius.information import entropy, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.secants import intercept, secant, tighten
from dalenius.programs.base import Named, Program
from dalenius.programs.pairs import EPS, Pairs, rounding
from dalenius.programs.polish import polished
from dalenius.programs.solvers import attempt, ladder

Side = Literal["posterior", "conditional"]
SIDES: tuple[Side, ...] = ("posterior", "conditional")
LEAST = 1e-9  # the least multiplier of the entropy bound where theta > 0, and with both sides the least theta
WIDER = 1e-14  # so much wider than they are given boxes are, for both ends of the interval: so a point can be told to be inside one


class NodeRelaxation(Program):
    """Maximise t <= both concave majorants of I(A; Y) over masses p(a,k) in a box with H(p) >= b. In nats.

    H(p) = -sum p log p + sum p log N. With u(a,y) = sum_k p(a,k) R(k,y), r(y) = sum_a u(a,y), pi_a = sum_k p(a,k), and
    alpha + beta v the secant of v log v on a range,

        posterior:    I = H(pi) + sum u log(u/r)   <= H(pi) + sum_ay alpha(a,y) r(y) + beta(a,y) u(a,y)   on low r <= u <= high r,
        conditional:  I = H(r) + sum u log(u/pi)   <= H(r) + sum_ay alpha(a,y) pi_a + beta(a,y) u(a,y)    on low pi <= u <= high pi.

    *Convex because* v log v is below its secant on the range, so that only concave entropies are left; boxes are cones in (u, r)
    and (u, pi). *DPP because* boxes, secants and b enter affinely; R and N are part of the model.
    *Bound because* for theta in [0,1], mu >= 0, any slopes and any law r^ the two are weighted by 1 - theta and theta, -sum r log r is
    at most -sum r log r^, and mu (H(p) - b) >= 0 is added. With A and B the least intercepts of lines of slope sigma above
    (1-theta) v log v on the posteriors' ranges, and of slope kappa above theta v log v on the conditionals',

        s(a,k) = sum_y R(k,y) [sum_a' A(a',y) + sigma(a,y) - theta log r^(y)],
        psi_a  = sum_y B(a,y) + mu log sum_k N(a,k) exp((s(a,k) + sum_y R(k,y) kappa(a,y)) / mu),
        I <= tau log sum_a exp(psi_a / tau) - mu b,    tau = 1 - theta + mu,

    which is the `joint` leaf of docs/certificate-format.md with one row leaf a letter. For mu = 0 its limit is taken, max_k;
    a leaf with theta > 0 and mu = 0 is another bound, of I but not of this relaxation, and one with theta = 0 has no kappa:
    `project` and `improve` keep mu >= 1e-9 where theta > 0, and with both sides theta >= 1e-9.

    The lower end is the relaxation's value at a prior in the box: an upper bound of that prior's leakage, *no* bound of the problem's.
    It is -inf where no prior in the box was found.

    Parameters
    ----------
    rows : (classes, outputs)
        R, row-stochastic.
    log_counts : (letters, classes)
        log N(a,k), or log(N(a,k)/|X|) with b - log |X| for b, which avoids cancellation; -inf where a pair does not exist.
    entropy_bound : float
        b in nats.
    posterior, conditional : pair of (letters, outputs), or None
        Ends of the ranges of phi(a|y) and of K_a(y); None for all that is possible. Both are tightened by their sums being 1, and then
        made wider by 1e-14, so that a point in the box can be told from one that rounding put there.
    sides : sequence of "posterior", "conditional"
        Which majorants, each with its box: ("posterior",) has theta = 0, ("conditional",) theta = 1, both any theta.

    Raises
    ------
    InputError
        If shapes do not fit, a letter has no class, a box is empty, or no prior at all has this entropy.

    Notes
    -----
    Source: docs/theory.md, "posterior boxes", and the row secants of the joint leaf.

    >>> flip = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> node = NodeRelaxation(flip, np.zeros((2, 2)), 1.0, sides=("posterior",))
    >>> answer = node.solve()
    >>> bool(answer.lower <= answer.upper), answer.gap < 1e-8, round(answer.upper, 4)  # the secant of v log v on [0, 1] is 0
    (True, True, 0.6931)
    """

    name: ClassVar[str] = "node"
    maximises: ClassVar[bool] = True

    def __init__(
        self,
        rows: Floats,
        log_counts: Floats,
        entropy_bound: float,
        *,
        posterior: tuple[Floats, Floats] | None = None,
        conditional: tuple[Floats, Floats] | None = None,
        sides: tuple[Side, ...] = SIDES,
    ) -> None:
        self.pairs = Pairs(self.name, rows, log_counts)
        if not self.pairs.live.all():
            raise InputError("node: expected a class for every letter; leave out letters that have none")
        if not sides or any(side not in SIDES for side in sides):
            raise InputError(f"node: expected some of the sides {', '.join(SIDES)}, got {sides!r}")
        self.sides = tuple(side for side in SIDES if side in sides)
        self.occurs = self.pairs.rows[self.pairs.index].any(axis=0)
        self.cones = {side: self._cones(side) for side in SIDES}
        self.set(entropy_bound, posterior=posterior, conditional=conditional)
        super().__init__()

    def set(
        self,
        entropy_bound: float,
        *,
        posterior: tuple[Floats, Floats] | None = None,
        conditional: tuple[Floats, Floats] | None = None,
    ) -> None:
        """Another bound and box; solving again does not canonicalise again."""
        if not self.pairs.largest >= entropy_bound - 1e-12 * (1.0 + abs(entropy_bound)):
            raise InputError(f"node: no prior has entropy {entropy_bound:.6g}; the largest is {self.pairs.largest:.6g}")
        self.b = float(entropy_bound)
        self.centre: Floats | None = None
        given = {"posterior": posterior, "conditional": conditional}
        self.boxes = {side: self._box(side, given[side]) for side in SIDES}
        self.lines = {side: _lines(*self.boxes[side]) for side in SIDES}
        self.write()

    def _ranges(self, side: Side) -> tuple[Floats, Floats]:
        """All that is possible: 0 to 1 for posteriors, the least to the largest entry of a letter's rows for conditionals."""
        shape = (self.pairs.live.size, self.pairs.rows.shape[1])
        if side == "posterior":
            return np.zeros(shape), np.ones(shape)
        own = self.pairs.exists[:, :, None]
        return np.where(own, self.pairs.rows, np.inf).min(axis=1), np.where(own, self.pairs.rows, -np.inf).max(axis=1)

    def _box(self, side: Side, given: tuple[Floats, Floats] | None) -> tuple[Floats, Floats]:
        """The given ranges within what is possible, tightened."""
        least, most = self._ranges(side)
        low, high = (np.asarray(x, dtype=float) for x in (given if given is not None else (least, most)))
        if low.shape != least.shape or high.shape != least.shape or np.isnan(low + high).any():
            raise InputError(f"node: expected ranges {least.shape} of the {side}s, got {low.shape}, {high.shape}")
        low, high = tighten(np.maximum(low, least), np.minimum(high, most), SIDES.index(side))
        if np.any(low > high):
            raise InputError(f"node: the box of {side}s is empty")
        return np.maximum(low - WIDER, least), np.minimum(high + WIDER, most)

    def build(self) -> cp.Expression:
        pairs, size = self.pairs, self.pairs.letter.size
        self.p, t, b = cp.Variable(size, nonneg=True, name="p"), cp.Variable(name="t"), cp.Parameter(name="b")
        self.variables = {"p": self.p, "t": t}
        parameters = {"entropy_bound": b}
        own = concave_entropy(self.p, log_counts=pairs.flat(pairs.log_counts))
        self.constraints = {"total": cp.sum(self.p) == 1, "entropy": own >= b}
        laws = {"posterior": pairs.members(), "conditional": pairs.rows[pairs.index][:, self.occurs].T}
        for side in self.sides:
            parameters[f"{side}_gains"] = gains = cp.Parameter(size)
            majorant = concave_entropy(laws[side] @ self.p) + gains @ self.p
            self.constraints[side] = t <= majorant
            u, total = self.cones[side]
            low, high = cp.Parameter(len(u), nonneg=True), cp.Parameter(len(u), nonneg=True)
            parameters |= {f"{side}_low": low, f"{side}_high": high}
            self.constraints[f"{side}_low"] = u @ self.p >= cp.multiply(low, total @ self.p)
            self.constraints[f"{side}_high"] = u @ self.p <= cp.multiply(high, total @ self.p)
        self.parameters = parameters
        return t

    def _cones(self, side: Side) -> tuple[Floats, Floats]:
        """Matrices that take p to u(a,y) and to what bounds it, r(y) or pi_a; (letters * outputs that occur, pairs)."""
        rows = self.pairs.rows[self.pairs.index][:, self.occurs].T
        own = self.pairs.members()[:, None, :]
        u = own * rows[None]
        total = np.broadcast_to(rows[None] if side == "posterior" else own, u.shape)
        return u.reshape(-1, self.pairs.letter.size), total.reshape(-1, self.pairs.letter.size)

    def data(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {"entropy_bound": self.b}
        for side in self.sides:
            found[f"{side}_gains"] = self.pairs.flat(self._scores(side))
            for end, box in zip(("low", "high"), self.boxes[side], strict=True):
                found[f"{side}_{end}"] = np.maximum(box[:, self.occurs].ravel(), 0.0)
        return found

    def _scores(self, side: Side) -> Floats:
        """Scores of a unit of p(a,k) by the secants."""
        alpha, beta = self.lines[side]
        if side == "posterior":
            return (alpha.sum(axis=0) + beta) @ self.pairs.rows.T
        return alpha.sum(axis=1)[:, None] + beta @ self.pairs.rows.T

    def start(self) -> tuple[Named, Named]:
        """The prior of the largest entropy, feasible if it is in the box, and no multipliers of the box."""
        theta = float(self.sides == ("conditional",))
        outputs = {"sigma": (1.0 - theta) * self.lines["posterior"][1], "kappa": theta * self.lines["conditional"][1]}
        law = self.pairs.uniform.sum(axis=0) @ self.pairs.rows
        multipliers = {"theta": np.array(theta), "mu": np.array(theta * LEAST), "law": law}
        return {"p": self.pairs.uniform}, multipliers | outputs

    def inside(self, p: Floats) -> bool:
        """True if p has enough entropy and is in the box, whatever doubles round."""
        if not self.pairs.missing(p) <= self.pairs.allowed(self.b):
            return False
        flat = self.pairs.flat(p)
        return all(
            bool(np.all(first @ flat - second @ flat >= EPS * (first + second) @ flat))
            for first, second in self._rooms()
        )

    def _rooms(self) -> list[tuple[Floats, Floats]]:
        """Pairs of matrices with first p >= second p: u and low total, high total and u, at the ends of ranges that are no truisms."""
        rooms = []
        for side in self.sides:
            u, total = self.cones[side]
            ends = (x[:, self.occurs].ravel() for x in (*self.boxes[side], *self._ranges(side)))
            low, high, least, most = ends
            below, above = low > least, high < most
            rooms += [(u[below], low[below, None] * total[below]), (high[above, None] * total[above], u[above])]
        return rooms

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clip, normalise, and mix with a prior inside (all constraints are concave) by as little as is needed, if there is one."""
        p = self.pairs.masses(raw.get("p"))
        if p is None or self.inside(p):
            return None if p is None else {"p": p}
        centre = self._inside()
        if not self.inside(centre):
            return {"p": p}
        low, high = -36.0, 0.0  # the share's logarithm
        for _ in range(20):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.inside(_between(p, centre, np.exp(middle))) else (middle, high)
        return {"p": _between(p, centre, np.exp(high))}

    def _inside(self) -> Floats:
        """The prior of the largest entropy if it is inside, otherwise one with room on all sides, as far as a solver finds one."""
        if self.centre is None:
            self.centre = self.pairs.uniform
            if not self.inside(self.centre):
                self.centre = self._centred()
        return self.centre

    def _centred(self) -> Floats:
        """Maximise the least room."""
        p, room = cp.Variable(self.pairs.letter.size, nonneg=True), cp.Variable()
        spare = concave_entropy(p, log_counts=self.pairs.flat(self.pairs.log_counts)) - self.b
        rooms = [cp.min((first - second) @ p) >= room for first, second in self._rooms() if len(first)]
        problem = cp.Problem(cp.Maximize(room), [cp.sum(p) == 1, spare >= room, *rooms])
        name, settings = next(ladder("auto"))
        made = attempt(problem, {"p": p}, {}, name, settings, time_limit=10.0)
        found = self.pairs.masses(made.point.get("p"))
        return self.pairs.uniform if found is None else found

    def value(self, point: Mapping[str, Floats]) -> float:
        """The smaller majorant; -inf where the prior is outside."""
        p = point["p"]
        if not self.inside(p):
            return -np.inf
        laws = {"posterior": p.sum(axis=1), "conditional": p.sum(axis=0) @ self.pairs.rows}
        return min(float(entropy(laws[side]) + np.sum(self._scores(side) * p)) for side in self.sides)

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        """theta from the two majorants' multipliers, slopes from the secants' and the boxes', and mu clipped."""
        if any(name not in duals for name in self.constraints):
            return None
        theta = self._theta(duals)
        slopes = {}
        for side, name, weight in zip(SIDES, ("sigma", "kappa"), (1.0 - theta, theta), strict=True):
            slopes[name] = weight * self.lines[side][1]
            if side in self.sides:
                price = np.maximum(duals[f"{side}_low"], 0.0) - np.maximum(duals[f"{side}_high"], 0.0)
                slopes[name][:, self.occurs] += price.reshape(self.pairs.live.size, -1)
        return {
            "theta": np.array(theta),
            "mu": np.maximum(duals["entropy"].reshape(()), LEAST * (theta > 0.0)),
        } | slopes

    def _theta(self, duals: Mapping[str, Floats]) -> float:
        if len(self.sides) == 1:
            return float(self.sides == ("conditional",))
        first, second = (float(np.maximum(duals[side], 0.0)) for side in SIDES)
        return max(second / (first + second), LEAST) if first + second > 0.0 else 0.5

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """The output law of the point, and a search for the multiplier of the entropy bound near the given one."""
        law = point["p"].sum(axis=0) @ self.pairs.rows
        better = multipliers | {"law": (1.0 - 1e-14) * law + 1e-14 * self.occurs / self.occurs.sum()}
        least = LEAST * (float(multipliers["theta"]) > 0.0)
        mu = polished(lambda mu: self.bound(better | {"mu": np.array(mu)}), float(multipliers["mu"]), least)
        return point, better | {"mu": np.array(mu)}

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        theta, mu = float(multipliers["theta"]), float(multipliers["mu"])
        if theta > 0.0 and "law" not in multipliers:
            return np.inf
        sigma, kappa = multipliers["sigma"], multipliers["kappa"]
        A = _intercepts(1.0 - theta, sigma, *self.boxes["posterior"])
        B = _intercepts(theta, kappa, *self.boxes["conditional"])
        gain = A.sum(axis=0) + sigma - (theta * self._log_law(multipliers["law"]) if theta > 0.0 else 0.0)
        gains = B.sum(axis=1) + self.pairs.gains((gain + kappa) @ self.pairs.rows.T, mu)
        return self.pairs.maximum(gains, 1.0 - theta, mu, self.b) + rounding(A, B, sigma, kappa)

    def _log_law(self, law: Floats) -> Floats:
        """log r^, 0 where an output never occurs, -inf where only the law says so."""
        total = law.sum()
        with np.errstate(divide="ignore"):
            return np.where(self.occurs, np.log(np.maximum(law, 0.0) / total), 0.0)


def _between(p: Floats, centre: Floats, share: float) -> Floats:
    """p for a share of 0, exactly the centre for 1."""
    return (1.0 - share) * p + share * centre


def _lines(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Intercepts and slopes of the secants of v log v, above it at both ends also by rounding."""
    slope = secant(low, high)[1]
    return intercept(slope, low, high), slope


def _intercepts(weight: float, slope: Floats, low: Floats, high: Floats) -> Floats:
    """The least A with weight v log v <= A + slope v on [low, high]."""
    return intercept(slope, low, high, lambda v: weight * x_log_x(v))
