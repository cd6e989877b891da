"""A rival that is not the paper's: scipy's trust-region interior-point method (trust-constr) with analytic gradients and Hessians."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.baselines.family import Family
from dalenius.baselines.nonlinear import FLOOR, RecordProgram, need_cells, record_by_record
from dalenius.baselines.run import LeakageRun, Rest, need_positive
from dalenius.search.clock import Clock

__all__ = ["TrustConstrSettings", "trust_constr_run"]

Floats = NDArray[np.float64]
MAX_CELLS = 600  # its steps cost the cube of this
INSIDE = 1e-3  # share of the uniform law that takes a start off the boundary


@dataclass(frozen=True)
class TrustConstrSettings:
    """`tolerance` is scipy's ``gtol`` and ``barrier_tol``, `radius` its ``xtol``, `iterations` its ``maxiter``."""

    tolerance: float = 1e-9
    radius: float = 1e-12
    iterations: int = 500

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "radius", "iterations")


def trust_constr_run(
    family: Family,
    start: Floats | None = None,
    *,
    settings: TrustConstrSettings | None = None,
    clock: Clock | None = None,
) -> LeakageRun:
    """trust-constr from one start, for every kind of record in turn; the best point that it visited, repaired and judged.

    Parameters
    ----------
    family : Family
        `aggregated(problem)`, or a full joint law of few datasets.
    start : (size of the family,), optional
        The first law, mixed with a thousandth of the uniform one; from the uniform one, a stationary point of many problems, it may
        not move.
    settings : TrustConstrSettings, optional
    clock : Clock, optional

    Raises
    ------
    InputError
        If a record has more than 600 cells.

    >>> import dalenius as dl
    >>> from dalenius.baselines import aggregated
    >>> family = aggregated(dl.MaximalLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(1.0)))
    >>> round(trust_constr_run(family, family.random(np.random.default_rng(0))).value, 5)
    0.07954
    """
    need_cells("trust-constr", family, MAX_CELLS)
    from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, minimize  # takes long to import

    chosen = settings or TrustConstrSettings()

    def solver(program: RecordProgram, law: Floats) -> tuple[Floats, int, Rest]:
        shares = np.exp(program.log_shares)
        unit = np.sqrt(shares)  # p = unit x: the metric of the datasets; in p itself it stalls where counts are uneven

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
                ((1.0 - INSIDE) * law + INSIDE * shares) / unit,
                jac=True,
                hess=cost_curvature,
                method="trust-constr",
                bounds=Bounds(FLOOR / unit, 1.0 / unit, keep_feasible=True),
                constraints=[LinearConstraint(unit[None], 1.0, 1.0), spare],
                options={
                    "gtol": chosen.tolerance,
                    "barrier_tol": chosen.tolerance,
                    "xtol": chosen.radius,
                    "maxiter": int(chosen.iterations),
                },
            )
        return unit * found.x, int(found.nit), Rest.ITERATIONS if found.nit >= chosen.iterations else Rest.TOLERANCE

    return record_by_record("trust-constr", family, start, solver, clock)
