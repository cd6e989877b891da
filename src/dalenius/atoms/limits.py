"""Costs, and limits as constraints."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxcertify.errors import brief
from dalenius.atoms.given import SUM, Data, affine, data, derived, matrix, numbers
from dalenius.atoms.information import concave_entropy
from dalenius.errors import InputError
from dalenius.information import log_sum_exp


def expected_cost(mechanism: Data, cost: Data) -> cp.Expression:
    """sum_xy c(x,y) Q(x,y), where c(x,y) = p_x d(x,y): the law of the true data is in the cost.

    *Affine because* the cost is data, and so DPP.

    Parameters
    ----------
    mechanism, cost : (inputs, outputs)
        Q, affine, and c, finite.

    Raises
    ------
    InputError
        If shapes do not fit, or the cost has variables or is not finite.

    >>> import cvxpy as cp
    >>> import numpy as np
    >>> float(expected_cost(cp.Constant(np.array([[0.9, 0.1], [0.1, 0.9]])), [[0.0, 0.5], [0.5, 0.0]]).value)
    0.1
    """
    Q = matrix("mechanism", mechanism)
    return cp.sum(cp.multiply(data("cost", cost, Q.shape), Q))


def expected_distortion(mechanism: Data, law: Data, distortion: Data) -> cp.Expression:
    """E d(X, Y) = sum_xy p_x d(x,y) Q(x,y), in the units of d.

    *Affine because* law and distortion are data. *DPP because* their product is one parameter.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine.
    law : (inputs,)
        p.
    distortion : (inputs, outputs)
        d, finite; where an output is forbidden constrain `mechanism[x, y] == 0` instead of writing inf.

    Raises
    ------
    InputError
        If shapes do not fit, the law is none, or data have variables or are not finite.

    The least distortion that leaks at most a tenth of a nat:

    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from dalenius.information import entropy
    >>> from dalenius.atoms import leakage
    >>> masses = np.array([[0.5, 0.0], [0.0, 0.5]])
    >>> Q = cp.Variable((2, 2), nonneg=True)
    >>> wrong = expected_distortion(Q, [0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]])
    >>> model = cp.Problem(cp.Minimize(wrong), [cp.sum(Q, axis=1) == 1, leakage(Q, masses) <= 0.1])
    >>> flip = float(model.solve(solver="CLARABEL"))
    >>> round(float(np.log(2) - entropy([flip, 1.0 - flip])), 4)
    0.1
    """
    Q = matrix("mechanism", mechanism)
    p = data("law", law, (Q.shape[0],), law=True)
    d = data("distortion", distortion, Q.shape)
    weights = derived(lambda pi, matrix: pi[:, None] * matrix, Q.shape, p, d)
    return expected_cost(Q, weights)


def entropy_at_least(p: Data, b: Data, *, log_counts: Data | None = None) -> list[cp.Constraint]:
    """Constraints that say H >= b: sum entr(p) + sum p log N >= b, where entry k of p is spread evenly over N_k datasets.

    *Convex because* entropy is concave and bounded from below. *DPP because* b and log N enter affinely.

    Parameters
    ----------
    p : any shape
        Masses, affine. Constrain them to sum to 1.
    b : float
        In nats.
    log_counts : like p, optional
        log N; by default all are 0. Where it is -inf there is no dataset: that mass leaves the sum, and a second constraint makes
        it 0. For a `RecordChannel` take b = `-record.max_knowledge` and `record.log_uniform`: both sides less log |X|.

    Raises
    ------
    InputError
        If shapes do not fit, data are no numbers, or no law has this entropy.

    The most that an adversary can believe in one of four datasets who does not know one of two bits:

    >>> import cvxpy as cp
    >>> from dalenius.information import entropy
    >>> p = cp.Variable(4, nonneg=True)
    >>> model = cp.Problem(cp.Maximize(p[0]), [cp.sum(p) == 1, *entropy_at_least(p, np.log(2))])
    >>> model.is_dcp(dpp=True)
    True
    >>> top = float(model.solve(solver="CLARABEL"))
    >>> round(float(entropy([top, *[(1.0 - top) / 3.0] * 3])), 4), round(float(np.log(2)), 4)
    (0.6931, 0.6931)
    """
    p = affine("p", p)
    if isinstance(log_counts, cp.Expression):
        return [concave_entropy(p, log_counts=log_counts) >= b]
    logs = np.zeros(p.shape) if log_counts is None else numbers("log_counts", log_counts)
    if logs.shape != p.shape or np.isnan(logs).any() or (logs == np.inf).any():
        raise InputError(f"log_counts: expected numbers or -inf of shape {p.shape}, got {brief(log_counts)}")
    _check_reachable(b, float(log_sum_exp(logs.reshape(-1))))
    there = np.isfinite(logs)
    if there.all():
        return [concave_entropy(p, log_counts=logs) >= b]
    return [concave_entropy(p[there], log_counts=logs[there]) >= b, p[~there] == 0]


def _check_reachable(b: Data, most: float) -> None:
    """The largest entropy is log sum N; a solver handed more may call it optimal."""
    if isinstance(b, cp.Expression):
        return
    bound = numbers("b", b)
    if bound.ndim or not bound <= most + SUM:
        raise InputError(f"b: expected a number of nats of at most {most:.6g}, the largest entropy, got {b!r}")
