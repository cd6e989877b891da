"""Not the paper's: sequential quadratic programming (scipy's SLSQP) with analytic gradients, for Problem 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.baselines.nonlinear import LEAST_MASS, Answer, RecordProgram, Solver
from dalenius.baselines.run import Rest, need_positive
from dalenius.information.arrays import Floats

__all__ = ["Slsqp"]


@dataclass(frozen=True)
class Slsqp:
    """`tolerance` and `iterations` are scipy's ``ftol`` and ``maxiter``."""

    name: ClassVar[str] = "slsqp"
    most_cells: ClassVar[int] = 600  # its steps cost the cube of this
    tolerance: float = 1e-10
    iterations: int = 500

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations")

    def solver(self) -> Solver:
        """SLSQP with these settings."""
        from scipy.optimize import minimize  # takes long to import

        def solve(program: RecordProgram, law: Floats) -> Answer:
            found = minimize(
                program.cost,
                law,
                jac=True,
                method="SLSQP",
                bounds=[(LEAST_MASS, 1.0)] * len(law),
                constraints=[
                    {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": np.ones_like},
                    {"type": "ineq", "fun": program.spare, "jac": program.spare_slope},
                ],
                options={"ftol": self.tolerance, "maxiter": int(self.iterations)},
            )
            return Answer(found.x, int(found.nit), Rest.ITERATIONS if found.nit >= self.iterations else Rest.TOLERANCE)

        return solve
