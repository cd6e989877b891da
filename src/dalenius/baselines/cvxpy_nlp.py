"""A rival that is not the paper's: Problem 1 as it is written, in cvxpy's nonlinear mode with the solver UNO (an optional extra)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from dalenius.baselines.family import Family
from dalenius.baselines.nonlinear import RecordProgram, need_cells, record_by_record
from dalenius.baselines.run import LeakageRun, Rest, need_positive
from dalenius.errors import InputError
from dalenius.search.clock import Clock

__all__ = ["CvxpyNlpSettings", "cvxpy_nlp_run"]

Floats = NDArray[np.float64]
MAX_CELLS = 4096  # some seconds for one record


@dataclass(frozen=True)
class CvxpyNlpSettings:
    """`preset` and `iterations` are UNO's ``preset`` and ``max_iterations``.

    The preset ipopt is a primal-dual interior-point method; filtersqp, cvxpy's default, fails from most random starts. Where UNO
    gives up cvxpy hands nothing back, at a limit the last point: so the limit is low.
    """

    preset: str = "ipopt"
    iterations: int = 300

    def __post_init__(self) -> None:
        need_positive(self, "iterations")
        if self.preset not in ("ipopt", "filtersqp"):
            raise InputError(f"preset: expected ipopt or filtersqp, got {self.preset!r}")


def cvxpy_nlp_run(
    family: Family,
    start: Floats | None = None,
    *,
    settings: CvxpyNlpSettings | None = None,
    clock: Clock | None = None,
) -> LeakageRun:
    """UNO through cvxpy from one start, for every record of the family in turn; the best point that it returned, repaired and judged.

    Parameters
    ----------
    family : Family
        `full_joint(problem)` or `aggregated(problem)`.
    start : (size of the family,), optional
        The first law; from the uniform one, a stationary point of many problems, it may not move.
    settings : CvxpyNlpSettings, optional
    clock : Clock, optional
        What is left of it is UNO's own time limit, in seconds of the processor.

    Raises
    ------
    InputError
        If UNO is not installed, or a record has more than 4096 cells.
    """
    if find_spec("unopy") is None:
        raise InputError("cvxpy-nlp: the solver UNO is not installed; pip install 'dalenius[rivals]'")
    need_cells("cvxpy-nlp", family, MAX_CELLS)
    chosen = settings or CvxpyNlpSettings()

    def solver(program: RecordProgram, law: Floats) -> tuple[Floats, int, Rest]:
        from dalenius.programs.as_written import solve_as_written  # takes long to import

        left = program.log.clock.remaining
        if left <= 0.0:
            return law, 0, Rest.TIME
        answer, steps = solve_as_written(
            [program.given[part] for part in program.parts],
            program.log_shares,
            program.deficit,
            law,
            {"preset": chosen.preset, "max_iterations": int(chosen.iterations)},
            time_limit=left if left < np.inf else None,
        )
        program.log.evaluations += steps
        cut = Rest.TIME if program.log.clock.expired else Rest.ITERATIONS if answer.point else Rest.REJECTED
        return answer.point.get("p", law), steps, Rest.TOLERANCE if answer.status == "optimal" else cut

    return record_by_record("cvxpy-nlp", family, start, solver, clock)
