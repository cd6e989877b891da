"""Problem 1 for one record as it is written, in the nonlinear mode of cvxpy: not convex, and its answer is a point without a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from cvxcertify.solvers import Attempt
from dalenius.information.arrays import Floats
from dalenius.programs.expressions import concave_entropy, entropy_at_least
from dalenius.programs.solvers import attempt


def solve_as_written(
    given: Sequence[Floats],
    log_uniform: Floats,
    max_knowledge: float,
    start: Floats,
    settings: dict[str, Any],
    *,
    time_limit: float | None = None,
) -> tuple[Attempt, int]:
    """max H(X_i) + H(Y) - H(X_i, Y) over priors p with H(p) >= b, in nats, by UNO from a start; what it says, and its iterations.

    The leakage is a difference of entropies, so no disciplined convex program states it. The point, named ``p``, is UNO's own: it is
    neither repaired nor judged here.

    Parameters
    ----------
    given : sequence of (cells of a letter, outputs)
        Q(y|a,k).
    log_uniform : (cells,)
        log(N(a,k)/|X|), letter after letter.
    max_knowledge : float
        log |X| - b.
    start : (cells,)
    settings : dict
        UNO's options.
    time_limit : float, optional
        Seconds.
    """
    p = cp.Variable(len(start), nonneg=True, value=start)
    stops = np.cumsum([len(Q) for Q in given]).tolist()
    parts = [p[stop - len(Q) : stop] for Q, stop in zip(given, stops, strict=True)]
    joint = [cp.Constant(Q.T) @ part for Q, part in zip(given, parts, strict=True)]
    letters = cp.hstack([cp.sum(part) for part in parts])
    released = cp.Constant(np.concatenate(given).T) @ p
    leakage = concave_entropy(letters) + concave_entropy(released) - cp.sum([concave_entropy(u) for u in joint])
    obeyed = entropy_at_least(p, -max_knowledge, log_counts=log_uniform)
    problem = cp.Problem(cp.Maximize(leakage), [cp.sum(p) == 1.0, *obeyed])
    chosen = {"nlp": True, "logger": "SILENT", **settings}
    answer = attempt(problem, {"p": p}, {}, "UNO", chosen, time_limit=time_limit)
    return answer, int(problem.solver_stats.num_iters or 0) if answer.point else 0
