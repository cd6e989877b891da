"""Base of both mechanism updates: a mechanism as the variable, priors as data, leakage in exponential cones."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from dalenius.atoms import expected_cost
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.base import CONIC, Named
from dalenius.programs.mechanism import Leakages, MechanismProgram, conic_leakages

# A primal-dual interior-point method for both mechanism updates, for where conic solvers stall: they often do between 1e-7 and 1e-9.
#
# The Hessian of a sum of leakages is one block an output, so a Newton step costs a factorisation of (inputs, inputs) for every output,
# and one linear system in the row sums and the constraints. Iterates stay positive, so that the posterior of an output that dies out
# is known to full relative accuracy: that is what closes the bound.


STEPS = 120
BACK = 0.9  # share of the way to the boundary that a step may go: farther, and the linear model of log u is worthless
FASTEST = 0.02  # the smallest factor on the complementarity in one step
DONE = 1e-14


@dataclass(frozen=True)
class Aim:
    """Minimise, over mechanisms Q, the largest I_s with <cost, Q> <= budget; or <cost, Q> with all I_s <= limit.

    `budget` is None in the second case, `limit` in the first; the cost is scaled to a largest entry of 1.
    """

    leakages: Leakages
    cost: Floats
    budget: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class _Iterate:
    """Q > 0, the epigraph's t and slacks s > 0; multipliers v of the row sums, weights > 0 of the constraints and Z > 0 of Q > 0."""

    Q: Floats
    t: float
    s: Floats
    v: Floats
    weights: Floats
    Z: Floats

    def moved(self, step: float, to: _Iterate) -> _Iterate:
        return _Iterate(*(getattr(self, name) + step * getattr(to, name) for name in self.__dataclass_fields__))

    def room(self, to: _Iterate) -> float:
        """Longest step before a positive number reaches 0, at most 1 / BACK."""
        limit = 1.0 / BACK
        for name in ("Q", "Z", "s", "weights"):
            x, dx = getattr(self, name), getattr(to, name)
            if (down := dx < 0.0).any():
                limit = min(limit, float(np.min(-x[down] / dx[down])))
        return limit

    def complementarity(self) -> float:
        return float((np.sum(self.Q * self.Z) + self.s @ self.weights) / (self.Q.size + self.s.size))


def interior_points(aim: Aim) -> Iterator[tuple[Floats, Floats]]:
    """Mechanisms that approach the optimum, and multipliers of the leakages and then of the budget, until nothing is left to gain.

    Mehrotra's predictor and corrector from the uniform mechanism; pure Newton steps while the gradients lag behind. Nothing is
    promised: what comes is to be judged by closed forms.
    """
    inputs, outputs = aim.cost.shape
    constraints = aim.leakages.count + (aim.budget is not None)
    uniform, even = np.full((inputs, outputs), 1.0 / outputs), np.full(constraints, 1.0 / constraints)
    now = _Iterate(uniform, 1.0, np.ones(constraints), np.zeros(inputs), even, uniform / inputs)
    for _ in range(STEPS):
        with np.errstate(all="ignore"):
            try:
                newton = _Newton(aim, now)
                now = newton.step()
            except np.linalg.LinAlgError:
                return
            if not all(np.isfinite(getattr(now, name)).all() for name in ("Q", "weights", "Z", "s")):
                return
        yield now.Q, now.weights
        if newton.error <= DONE:
            return


@dataclass
class _Newton:
    """The linearised optimality conditions at one iterate.

    With f_j the constraints, e_j = 1 where the epigraph bounds them, and F = <cost, Q> or t the objective:

        sum_j weights_j grad f_j + grad F - v - Z = 0,   e . weights = 1 (with an epigraph),
        sum_y Q = 1,   f_j - e_j t + s_j = end_j,   Q Z = s weights = target.
    """

    aim: Aim
    at: _Iterate
    error: float = field(init=False)

    def __post_init__(self) -> None:
        aim, at, leakages = self.aim, self.at, self.aim.leakages
        u = leakages.masses @ at.Q
        self.r = leakages.sums(u)
        log_ratio, values = leakages.log_ratios(at.Q), leakages.values(at.Q)
        gradients = leakages.gradients(log_ratio)
        self.e = np.full(leakages.count, float(aim.limit is None))
        ends = np.full(leakages.count, aim.limit or 0.0)
        if aim.budget is not None:
            gradients.append(aim.cost)
            values, ends = np.append(values, np.sum(aim.cost * at.Q)), np.append(ends, aim.budget)
            self.e = np.append(self.e, 0.0)
        self.gradients = np.array(gradients)
        objective = aim.cost if aim.limit is not None else 0.0
        self.r_dual = objective + np.tensordot(at.weights, self.gradients, 1) - at.v[:, None] - at.Z
        self.r_t = 1.0 - float(self.e @ at.weights) if aim.limit is None else 0.0
        self.r_rows, self.r_values = at.Q.sum(axis=1) - 1.0, values - self.e * at.t - ends + at.s
        self.mu = at.complementarity()
        residuals = [abs(x).max() for x in (self.r_rows, self.r_values, self.r_dual)]
        self.error = float(max(self.mu * at.Q.size, *residuals))
        self._factorise(u)

    def _factorise(self, u: Floats) -> None:
        """The blocks M_y of Hessian and barrier, M^-1 of the constraints' gradients, and the system K that is left."""
        at, leakages, (inputs, outputs) = self.at, self.aim.leakages, self.at.Q.shape
        scaled, pulls = at.weights[leakages.owner][:, None] / u, at.weights[: leakages.count, None] / self.r
        M = leakages.squares(scaled, pulls)
        M[:, np.arange(inputs), np.arange(inputs)] += (at.Z / at.Q).T
        self.M, size = M, inputs + len(at.s)
        rows = np.broadcast_to(np.eye(inputs), (outputs, inputs, inputs))
        right = -self.gradients.transpose(2, 1, 0)
        if leakages.few:
            inverse = np.linalg.inv(M)
            self.solved = np.concatenate([inverse, inverse @ right], axis=2)
        else:
            self.solved = np.linalg.solve(M, np.concatenate([rows, right], axis=2))
        self.K = np.zeros((size + 1, size + 1))
        self.K[:inputs, :size] = self.solved.sum(axis=0)
        flat: Floats | sparse.csr_matrix = self.gradients.transpose(0, 2, 1).reshape(len(at.s), -1)
        flat = sparse.csr_matrix(flat) if leakages.few else flat
        self.K[inputs:size, :size] = flat @ self.solved.reshape(outputs * inputs, -1)
        self.K[inputs:size, inputs:size] -= np.diag(at.s / at.weights)
        self.K[inputs:size, -1] = self.K[-1, inputs:size] = -self.e
        self.K[-1, -1] = float(self.aim.limit is not None)

    def direction(self, push_Q: Floats, push_s: Floats) -> _Iterate:
        """The solution for Q Z = push_Q and s weights = push_s."""
        at, inputs = self.at, len(self.at.v)
        free = self._solve((push_Q / at.Q - at.Z - self.r_dual).T[..., None])[..., 0].T
        wanted = at.s - push_s / at.weights - self.r_values
        wanted -= np.tensordot(self.gradients, free, axes=([1, 2], [0, 1]))
        x = np.linalg.solve(self.K, np.concatenate([-self.r_rows - free.sum(axis=1), wanted, [-self.r_t]]))
        dQ, dw = free + (self.solved @ x[:-1]).T, x[inputs:-1]
        ds, dZ = (push_s - at.s * dw) / at.weights - at.s, (push_Q - at.Z * dQ) / at.Q - at.Z
        return _Iterate(dQ, float(x[-1]), ds, x[:inputs], dw, dZ)

    def _solve(self, right: Floats) -> Floats:
        """M^-1 of a column for every output, refined once."""
        inverse = self.solved[:, :, : len(self.at.v)]
        x = inverse @ right
        return x + inverse @ (right - self.M @ x)

    def step(self) -> _Iterate:
        at, mu = self.at, self.mu
        zero_Q, zero_s = np.zeros_like(at.Q), np.zeros_like(at.s)
        if float(abs(self.r_dual * at.Q).max()) <= mu:  # centred enough for second order
            guess = self.direction(zero_Q, zero_s)
            after = at.moved(min(1.0, at.room(guess)), guess).complementarity()
            target = mu * max((max(after, 0.0) / mu) ** 3, FASTEST)
            to = self.direction(target - guess.Q * guess.Z, target - guess.s * guess.weights)
        else:
            to = self.direction(zero_Q + mu, zero_s + mu)
        return at.moved(min(1.0, BACK * at.room(to)), to)


LARGEST = 10**8  # numbers that all blocks of the Hessian may have
BLOCK = 60  # bytes that our own method takes for one of them


class MechanismUpdate(MechanismProgram):
    """The best mechanism Q(x,y) for a finite list of priors: what is known about it, and its cone model.

    With u_s = p_s Q and r_s = sum_a u_s(a,.) the leakage is I_s = H(pi_s) + sum_ay u_s log(u_s/r_s). The model has the output laws r_s
    as variables of their own, and its cones written out, whose multipliers are the posteriors: `conic_leakages`.

    The budget is a parameter. Priors and cost are part of the model unless it is `changing`: as parameters, cvxpy keeps a tensor with
    an entry for each of their products with the mechanism, and the first solve takes up to twice as long.
    """

    def __init__(
        self, priors: Sequence[Floats], cost: Floats, tied: TiedEntries | None, budget: float, changing: bool
    ) -> None:
        self.changing = changing
        self.charge(cost, tied)
        self.leakages = Leakages(self.name, priors, len(self.cost))
        self._budget(budget)
        super().__init__()

    def build(self) -> cp.Expression:
        q = cp.Variable((self.tied.rows, self.cost.shape[1]), nonneg=True, name="q")
        self.parameters = {"budget": cp.Parameter(name="budget")}
        masses, cost = None, self.tied_cost
        if self.changing:
            masses = cp.Parameter(self.leakages.masses.shape, nonneg=True, name="masses")
            cost = cp.Parameter(self.tied_cost.shape, nonneg=True, name="cost")
            self.parameters |= {"masses": masses, "cost": cost}
        leakages = conic_leakages(self.expression(q), self.leakages, masses=masses)
        self.variables = {"q": q} | leakages.variables
        self.constraints = leakages.constraints | {"rows": cp.sum(q, axis=1) == 1}
        return self.model(leakages.values, expected_cost(q, cost), self.parameters["budget"])

    def data(self) -> Mapping[str, Any]:
        return {"masses": self.leakages.masses, "cost": self.tied_cost} if self.changing else {}

    def set(self, budget: float, *, priors: Sequence[Floats] | None = None, cost: Floats | None = None) -> None:
        """Another budget; of a program that is `changing` also other priors with the same letters, another cost.

        Solving again does not canonicalise again.

        Raises
        ------
        InputError
            If priors or a cost come to a program that is not `changing`, other letters occur, or what comes is none.
        """
        if not (priors is None and cost is None):
            self._exchange(self.leakages if priors is None else Leakages(self.name, priors, len(self.cost)), cost)
        self._budget(budget)
        self.write()

    def _exchange(self, leakages: Leakages, cost: Floats | None) -> None:
        if not self.changing:
            raise InputError(f"{self.name}: priors and cost are part of this model; make it with changing=True")
        if not np.array_equal(leakages.owner, self.leakages.owner):
            raise InputError(
                f"{self.name}: expected priors with as many letters that occur as before; make a new program"
            )
        self.charge(self.cost if cost is None else cost, self.tied)
        self.leakages = leakages

    @abstractmethod
    def model(self, leakage: cp.Expression, distortion: cp.Expression, budget: cp.Parameter) -> cp.Expression:
        """The objective; further constraints are added to `constraints`."""

    @abstractmethod
    def _budget(self, budget: float) -> None:
        """Check a budget and keep it."""

    @abstractmethod
    def feasible(self, q: Floats) -> Floats:
        """A point made feasible, and better where that is a matter of mixing."""

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clip, normalise, and mix with a mechanism that has budget to spare."""
        q = self.laws(raw)
        return None if q is None else {"q": self.feasible(q)}

    @abstractmethod
    def searched(self, multipliers: Named) -> Named:
        """The best multipliers that one search in a scalar finds near the given ones."""

    @abstractmethod
    def aim(self, scale: float) -> Aim:
        """The program for our own interior-point method, with the cost divided by `scale`."""

    @abstractmethod
    def from_interior(self, weights: Floats, scale: float) -> dict[str, Floats]:
        """Its multipliers as those of the program's constraints."""

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """A search near the multipliers."""
        return point, self.searched(multipliers)

    def own(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """A search near the multipliers; and where that leaves the interval too wide, our own interior-point method."""
        best = Closest(self, point, self.searched(multipliers))
        if best.width > self.wanted:
            self.offer_more(best)
        scale = float(self.cost.max()) or 1.0
        for Q, weights in self._interior_points(scale) if best.width > self.wanted else ():
            raw = self.from_interior(weights, scale) | {"log_ratio": self.leakages.log_ratios(Q)}
            best.offer({"q": self.feasible(Q / Q.sum(axis=1, keepdims=True))}, self.searched(raw))
            if best.width <= 0.1 * self.wanted:
                break
        return best.point, best.multipliers

    @property
    def conic_bytes(self) -> float:
        return float(CONIC * self.leakages.masses.size * self.cost.shape[1])

    def offer_more(self, best: Closest) -> None:
        """Offer what else the program knows, by default nothing."""

    def _interior_points(self, scale: float) -> Iterator[tuple[Floats, Floats]]:
        """Until the time is up, or it is stopped; none where tied entries couple the blocks of the Hessian, or these are huge."""
        inputs, outputs = self.cost.shape
        points = (
            interior_points(self.aim(scale))
            if self.tied.rows == inputs and inputs**2 * outputs <= min(LARGEST, self.room / BLOCK)
            else iter(())
        )
        slowest, before = 0.0, time.monotonic()
        while before + slowest < self.deadline and not self.stopped() and (point := next(points, None)) is not None:
            slowest, before = max(slowest, time.monotonic() - before), time.monotonic()
            yield point

    def leakage(self, q: Floats) -> float:
        """The largest I_s."""
        return float(self.leakages.values(self.mechanism({"q": q})).max())

    def posteriors(self, cone: Floats | None) -> Floats | None:
        """log(phi/pi) out of the multipliers of the cones; 0 where they say nothing."""
        shape = len(self.leakages.masses), self.cost.shape[1]
        if cone is None or cone.shape != (3, *shape):
            return None
        return self.leakages.posteriors(cone.reshape(3, -1), np.ones(shape, dtype=bool))


class Closest:
    """The best point and the best multipliers so far, and how far apart they are, relative to the larger."""

    def __init__(self, program: MechanismUpdate, point: Named, multipliers: Named) -> None:
        self.program, self.point, self.multipliers = program, point, multipliers
        self.value, self.bound = program.value(point), program.bound(multipliers)

    @property
    def width(self) -> float:
        return (self.value - self.bound) / max(abs(self.value), abs(self.bound), 1e-9)

    def offer(self, point: Named, multipliers: Named) -> None:
        value, bound = self.program.value(point), self.program.bound(multipliers)
        if value < self.value:
            self.point, self.value = point, value
        if bound > self.bound:
            self.multipliers, self.bound = multipliers, bound
