"""A rival that is not the paper's: sequential quadratic programming (scipy's SLSQP) with analytic gradients, aggregated Problem 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.baselines.family import Family
from dalenius.baselines.nonlinear import FLOOR, RecordProgram, need_cells, record_by_record
from dalenius.baselines.run import LeakageRun, Rest, need_positive
from dalenius.search.clock import Clock

__all__ = ["SlsqpSettings", "slsqp_run"]

Floats = NDArray[np.float64]
MAX_CELLS = 600  # its steps cost the cube of this


@dataclass(frozen=True)
class SlsqpSettings:
    """`tolerance` and `iterations` are scipy's ``ftol`` and ``maxiter``."""

    tolerance: float = 1e-10
    iterations: int = 500

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations")


def slsqp_run(
    family: Family,
    start: Floats | None = None,
    *,
    settings: SlsqpSettings | None = None,
    clock: Clock | None = None,
) -> LeakageRun:
    """SLSQP from one start, for every kind of record in turn; the best point that it visited, repaired and judged.

    Parameters
    ----------
    family : Family
        `aggregated(problem)`, or a full joint law of few datasets.
    start : (size of the family,), optional
        The first law; from the uniform one, a stationary point of many problems, it may not move.
    settings : SlsqpSettings, optional
    clock : Clock, optional

    Raises
    ------
    InputError
        If a record has more than 600 cells.

    >>> import dalenius as dl
    >>> from dalenius.baselines import aggregated
    >>> family = aggregated(dl.MaximalLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(1.0)))
    >>> round(slsqp_run(family, family.random(np.random.default_rng(0))).value, 5)
    0.07954
    """
    need_cells("slsqp", family, MAX_CELLS)
    from scipy.optimize import minimize  # takes long to import

    chosen = settings or SlsqpSettings()

    def solver(program: RecordProgram, law: Floats) -> tuple[Floats, int, Rest]:
        found = minimize(
            program.cost,
            law,
            jac=True,
            method="SLSQP",
            bounds=[(FLOOR, 1.0)] * len(law),
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": np.ones_like},
                {"type": "ineq", "fun": program.spare, "jac": program.spare_slope},
            ],
            options={"ftol": chosen.tolerance, "maxiter": int(chosen.iterations)},
        )
        return found.x, int(found.nit), Rest.ITERATIONS if found.nit >= chosen.iterations else Rest.TOLERANCE

    return record_by_record("slsqp", family, start, solver, clock)
