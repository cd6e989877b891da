"""Models of cvxpy for others than our own programs: Problem 1 for one record as it is written, noise on a lattice, covariances."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxcertify.solvers import Attempt
from dalenius.information.arrays import Floats
from dalenius.programs.solvers import attempt
from dalenius.programs.written import Term, Written


def solve_as_written(
    written: Written, start: Floats, settings: dict[str, Any], *, time_limit: float | None = None
) -> tuple[Attempt, int]:
    """A program of entropies over equations, by UNO from a start; what it says, and its iterations.

    A difference of entropies is no disciplined convex program. The point, named ``p``, is UNO's own: it is neither repaired nor judged
    here.

    Parameters
    ----------
    written : Written
    start : (free,)
    settings : dict
        UNO's options.
    time_limit : float, optional
        Seconds.
    """
    p = cp.Variable(len(start), nonneg=True, value=start)

    def value(term: Term) -> cp.Expression:
        return -(term.weights @ cp.entr(p if term.of is None else term.of @ p))

    limits = [value(limit.term) + limit.linear @ p <= limit.at_most for limit in written.limits]
    equations = written.rows[0] @ p == written.rows[1]
    problem = cp.Problem(cp.Maximize(cp.sum([value(term) for term in written.terms])), [equations, *limits])
    chosen = {"nlp": True, "logger": "SILENT", **settings}
    answer = attempt(problem, {"p": p}, {}, "UNO", chosen, time_limit=time_limit)
    return answer, int(problem.solver_stats.num_iters or 0) if answer.point else 0


def lattice_noise(information: float, most: int, reach: int, step: float, power: float | None) -> cp.Problem:
    """Minimise E Z^2 over laws p of noise Z such that inputs X reveal at most so many nats: I(X; X + Z) <= information.

    X and Z are multiples of `step`, at most `most` and `reach` of them from 0, E X^2 <= power if that is given; p and the law q of the
    outputs are symmetric without loss, and their variables are by distance from 0. In cones: D( p(. - x) || q ) - lam x^2 <= t for
    every x, and t + lam power <= information. *Convex because* relative entropy is so in both laws together. *Enough because* of the
    minimax theorem.

    Variables, in this order: p, q, told (inputs, places): the summands of the divergences; lam and t with a power.

    >>> model = lattice_noise(0.1, 1, 12, 1.0, None)
    >>> round(float(model.solve(solver="CLARABEL")), 4)
    4.5071
    """
    far, places, inputs = reach + most, np.arange(-reach, reach + 1), np.arange(most + 1)
    p, q = cp.Variable(reach + 1, nonneg=True, name="p"), cp.Variable(far + 1, nonneg=True, name="q")
    told = cp.Variable((inputs.size, places.size), name="told")
    twice, both = np.full(far + 1, 2.0), np.abs(places[None] + inputs[:, None]).reshape(-1)
    twice[0] = 1.0
    above = np.tile(np.eye(reach + 1)[np.abs(places)], (inputs.size, 1)) @ p
    below = np.eye(far + 1)[both] @ q
    limits = [twice[: reach + 1] @ p == 1, twice @ q == 1, cp.ExpCone(-cp.vec(told, order="C"), above, below)]
    if power is None:
        limits.append(cp.sum(told, axis=1) <= information)
    else:
        lam, t = cp.Variable(nonneg=True, name="lam"), cp.Variable(name="t")
        limits.append(cp.sum(told, axis=1) - lam * (inputs * step) ** 2 <= t)
        limits.append(t + lam * power <= information)
    squares = (np.arange(reach + 1) * step) ** 2
    return cp.Problem(cp.Minimize((twice[: reach + 1] * squares) @ p), limits)


def correlated(form: Floats, least: Floats, correlation: Floats) -> cp.Problem:
    """Maximise sum form_ij S_ij over positive semidefinite S with least_i <= S_ii <= 1 and |S_ij| <= correlation_ij sqrt(S_ii S_jj).

    *Convex because* the geometric mean of two numbers is concave: that is a second-order cone, and a bound where both are 1.

    Of two numbers with variances 1 and a correlation of at most 1/2 the sum has at most the variance 3:

    >>> model = correlated(np.ones((2, 2)), np.ones(2), np.full((2, 2), 0.5))
    >>> round(float(model.solve(solver="CLARABEL")), 6)
    3.0
    """
    covariance, fixed = cp.Variable(form.shape, PSD=True, name="covariance"), least >= 1.0
    own = cp.diag(covariance)
    limits = [own[fixed] == 1.0] if fixed.any() else []  # as two inequalities they would have nothing between them
    if not fixed.all():
        limits += [own[~fixed] <= 1.0, own[~fixed] >= least[~fixed]]
    for i, j in zip(*np.tril_indices(len(least), -1), strict=True):
        entry, most = covariance[i, j], correlation[i, j]
        if most == 0.0:
            limits.append(entry == 0.0)
        elif fixed[i] and fixed[j]:
            limits += [entry <= most, entry >= -most]
        else:
            limits.append(cp.SOC(most * (own[i] + own[j]), cp.hstack([2.0 * entry, most * (own[i] - own[j])])))
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(form, covariance))), limits)
