"""What both mechanism updates share: a mechanism as the variable, priors as data, leakage in exponential cones."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

import cvxpy as cp
import numpy as np

from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.base import CONIC, Floats, Named
from dalenius.programs.expressions import conic_leakages, expected_cost
from dalenius.programs.interior import Aim, interior_points
from dalenius.programs.leakages import Leakages
from dalenius.programs.mechanism import MechanismProgram

__all__ = ["Closest", "MechanismUpdate"]

HALVINGS = 60
LARGEST = 10**8  # numbers that all blocks of the Hessian may have
BLOCK = 60  # bytes that our own method takes for one of them


class MechanismUpdate(MechanismProgram):
    """The best mechanism Q(x,y) for a finite list of priors: what is known about it, and its cone model.

    With u_s = p_s Q and r_s = sum_a u_s(a,.) the leakage is I_s = H(pi_s) + sum_ay u_s log(u_s/r_s). The model has the output laws r_s
    as variables of their own, and its cones written out, whose multipliers are the posteriors: `expressions.conic_leakages`.

    The budget is a parameter. Priors and cost are part of the model: as parameters, cvxpy would keep a tensor with an entry for each
    of their products with the mechanism.
    """

    def __init__(self, priors: Sequence[Floats], cost: Floats, tied: TiedEntries | None, budget: float) -> None:
        self.charge(cost, tied)
        self.leakages = Leakages(self.name, priors, len(self.cost))
        self._budget(budget)
        super().__init__()

    def build(self) -> None:
        q = cp.Variable((self.tied.rows, self.cost.shape[1]), nonneg=True, name="q")
        leakages = conic_leakages(self.expression(q), self.leakages)
        self.variables = {"q": q} | leakages.variables
        self.parameters = {"budget": cp.Parameter(name="budget")}
        self.constraints = leakages.constraints | {"rows": cp.sum(q, axis=1) == 1}
        self.problem = self.model(leakages.values, expected_cost(q, self.tied_cost), self.parameters["budget"])
        self._write()

    @abstractmethod
    def model(self, leakage: cp.Expression, distortion: cp.Expression, budget: cp.Parameter) -> cp.Problem:
        """The problem, whose further constraints are added to `constraints`."""

    @abstractmethod
    def _budget(self, budget: float) -> None:
        """Check a budget and keep it."""

    @abstractmethod
    def _write(self) -> None:
        """Write the budget into its parameter."""

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
        """What else the program knows, by default nothing."""

    def _interior_points(self, scale: float) -> Iterator[tuple[Floats, Floats]]:
        """Until the time is up; none for entries tied across inputs, which couple the blocks of the Hessian, or for huge blocks."""
        inputs, outputs = self.cost.shape
        points = (
            interior_points(self.aim(scale))
            if self.tied.rows == inputs and inputs**2 * outputs <= min(LARGEST, self.room / BLOCK)
            else iter(())
        )
        slowest, before = 0.0, time.monotonic()
        while before + slowest < self.deadline and (point := next(points, None)) is not None:
            slowest, before = max(slowest, time.monotonic() - before), time.monotonic()
            yield point

    def leakage(self, q: Floats) -> float:
        """The largest I_s."""
        return float(self.leakages.values(self.mechanism({"q": q})).max())

    def posteriors(self, cone: Floats | None) -> Floats | None:
        """log(phi/pi) out of the multipliers of the cones; 0 where they say nothing."""
        if cone is None or cone.shape != (3, *self.leakages.masses.shape[:1], self.cost.shape[1]):
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio = cone[1] / cone[0] - 1.0 - self.leakages.log_pi[:, None]
            return self.leakages.normalised(np.where(cone[0] < 0.0, log_ratio, np.nan))

    def mixed(self, q: Floats, other: Floats, allowed: Callable[[Floats], bool]) -> Floats:
        """The first point on the way from q to the other that is allowed; the way must end among allowed ones."""
        if allowed(q):
            return q
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            share = 0.5 * (low + high)
            low, high = (low, share) if allowed((1.0 - share) * q + share * other) else (share, high)
        return (1.0 - high) * q + high * other


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
