"""Not the paper's: Problem 1 as it is written, in cvxpy's nonlinear mode with the solver UNO (an optional extra)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar

import numpy as np

from dalenius.baselines.nonlinear import Answer, RecordProgram, Solver
from dalenius.baselines.run import Rest, need_positive
from dalenius.errors import InputError
from dalenius.information.arrays import Floats

__all__ = ["CvxpyNlp"]


@dataclass(frozen=True)
class CvxpyNlp:
    """`preset` and `iterations` are UNO's ``preset`` and ``max_iterations``.

    The preset ipopt is a primal-dual interior-point method; filtersqp, cvxpy's default, fails from most random starts. Where UNO
    gives up cvxpy hands nothing back, at a limit the last point: so the limit is low. What is left of the clock is UNO's own time
    limit, in seconds of the processor.
    """

    name: ClassVar[str] = "cvxpy-nlp"
    most_cells: ClassVar[int] = 4096  # some seconds for one record
    preset: str = "ipopt"
    iterations: int = 300

    def __post_init__(self) -> None:
        need_positive(self, "iterations")
        if self.preset not in ("ipopt", "filtersqp"):
            raise InputError(f"preset: expected ipopt or filtersqp, got {self.preset!r}")

    def solver(self) -> Solver:
        """UNO with these settings; `InputError` where it is not installed."""
        if find_spec("unopy") is None:
            raise InputError("cvxpy-nlp: the solver UNO is not installed; pip install 'dalenius[rivals]'")
        from dalenius.programs.as_written import solve_as_written  # takes long to import

        def solve(program: RecordProgram, law: Floats) -> Answer:
            left = program.log.clock.remaining
            if left <= 0.0:
                return Answer(law, 0, Rest.TIME)
            answer, steps = solve_as_written(
                [program.given[part] for part in program.parts],
                program.log_uniform,
                program.max_knowledge,
                law,
                {"preset": self.preset, "max_iterations": int(self.iterations)},
                time_limit=left if left < np.inf else None,
            )
            program.log.evaluations += steps
            cut = Rest.TIME if program.log.clock.expired else Rest.ITERATIONS if answer.point else Rest.REJECTED
            return Answer(answer.point.get("p", law), steps, Rest.TOLERANCE if answer.status == "optimal" else cut)

        return solve
