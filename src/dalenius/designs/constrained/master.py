"""The master program of a design with constraints, for listed priors of its own adversary: for other people's solvers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalenius.designs.constrained.interior import Inside
from dalenius.designs.constrained.region import Region
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.model.design_problem import DesignProblem
from dalenius.programs import ConstrainedUpdate
from dalenius.reduction import Orbits
from dalenius.search import Limits, Run

__all__ = ["constrained_master"]


def constrained_master(problem: DesignProblem, priors: Sequence[Floats]) -> ConstrainedUpdate:
    """On the problem's own inputs, with its budget and rows, and without limits of leakage to further adversaries.

    Parameters
    ----------
    priors : sequence of (letters, inputs)
        Of the design's own adversary.

    Raises
    ------
    InputError
        If there are second-order cones; if no mechanism was found that meets the rows; or, of a least distortion, none that leaks
        nothing.
    """
    region = Region(problem, Orbits.of(problem, lambda *_: False), Run.of(Limits(time_limit=None)))
    if not isinstance(region.found, Inside):
        raise InputError("program: no mechanism was found that meets the constraints; solve the model, which says why")
    if region.cones:
        raise InputError(
            "program: second-order cones cannot be exported; leave these constraints out, or solve the model"
        )
    anchor, limit, raised = region.found.q, 0.0, True
    cost = np.zeros_like(problem.cost)
    if isinstance(problem, MinDistortion):
        cost = problem.input_law[:, None] * problem.cost
        limit, raised = problem.max_leakage_nats if len(priors) else 0.0, False
        if len(priors):
            if region.constant is None:
                raise InputError(
                    "program: no mechanism that leaks nothing meets the constraints; export a min_leakage model"
                )
            anchor = region.matrix(region.constant)
    count = len(priors)
    return ConstrainedUpdate(priors, [limit] * count, [raised] * count, cost, region.demands(anchor), tied=region.tied)
