"""Not the paper's: scipy's trust-region interior-point method (trust-constr), analytic gradients and Hessians, for Problem 1."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.baselines.nonlinear import LEAST_MASS, Answer, RecordProgram, Solver
from dalenius.baselines.run import Rest, need_positive
from dalenius.information.arrays import Floats

__all__ = ["TrustConstr"]

MOVED_INSIDE = 1e-3  # share of the uniform law that takes a start off the boundary


@dataclass(frozen=True)
class TrustConstr:
    """`tolerance` is scipy's ``gtol`` and ``barrier_tol``, `radius` its ``xtol``, `iterations` its ``maxiter``."""

    name: ClassVar[str] = "trust-constr"
    most_cells: ClassVar[int] = 600  # its steps cost the cube of this
    tolerance: float = 1e-9
    radius: float = 1e-12
    iterations: int = 500

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "radius", "iterations")

    def solver(self) -> Solver:
        """trust-constr with these settings; a start is mixed with a thousandth of the uniform law."""
        from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, minimize  # takes long to import

        def solve(program: RecordProgram, law: Floats) -> Answer:
            shares = np.exp(program.log_uniform)
            unit = np.sqrt(
                shares
            )  # p = unit x: the metric of the datasets; in p itself it stalls where counts are uneven

            def cost(x: Floats) -> tuple[float, Floats]:
                value, slope = program.cost(unit * x)
                return value, unit * slope

            def cost_curvature(x: Floats) -> Floats:
                return unit[:, None] * program.cost_curvature(unit * x) * unit

            spare = NonlinearConstraint(
                lambda x: program.spare(unit * x),
                0.0,
                np.inf,
                jac=lambda x: (unit * program.spare_slope(unit * x))[None],
                hess=lambda x, multiplier: multiplier[0] * unit[:, None] * program.spare_curvature(unit * x) * unit,
            )
            with warnings.catch_warnings():  # of singular Jacobians, where a law is at its bounds
                warnings.simplefilter("ignore")
                found = minimize(
                    cost,
                    ((1.0 - MOVED_INSIDE) * law + MOVED_INSIDE * shares) / unit,
                    jac=True,
                    hess=cost_curvature,
                    method="trust-constr",
                    bounds=Bounds(LEAST_MASS / unit, 1.0 / unit, keep_feasible=True),
                    constraints=[LinearConstraint(unit[None], 1.0, 1.0), spare],
                    options={
                        "gtol": self.tolerance,
                        "barrier_tol": self.tolerance,
                        "xtol": self.radius,
                        "maxiter": int(self.iterations),
                    },
                )
            rest = Rest.ITERATIONS if found.nit >= self.iterations else Rest.TOLERANCE
            return Answer(unit * found.x, int(found.nit), rest)

        return solve
