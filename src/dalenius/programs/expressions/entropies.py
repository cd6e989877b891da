"""Entropy of masses that are variables, and the bound that adversaries obey: concave."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.programs.expressions.data import SUM, Data, data, numbers

__all__ = ["concave_entropy", "entropy_at_least"]


def concave_entropy(
    p: cp.Expression | Floats, *, log_counts: Data | None = None, weights: Data | None = None
) -> cp.Expression:
    """H(p) = sum entr(p) + sum p log N in nats, where entry k of p is spread evenly over N_k datasets; each term times a weight.

    *Concave because* -p log p is, the second term is linear, and weights are at least 0. *DPP because* log N and the weights each
    multiply what has no parameters; both together may not be parameters.

    Parameters
    ----------
    p : any shape
        Masses, affine.
    log_counts : like p, optional
        log N, finite; by default all are 0.
    weights : like p, optional
        At least 0; by default all are 1.

    Raises
    ------
    InputError
        If shapes do not fit, or data have variables or are not finite.

    >>> import cvxpy as cp
    >>> p = cp.Variable(2, nonneg=True)
    >>> model = cp.Problem(cp.Maximize(concave_entropy(p, log_counts=np.log([1.0, 3.0]))), [cp.sum(p) == 1])
    >>> model.is_dcp(dpp=True)
    True
    >>> round(float(model.solve(solver="CLARABEL")), 4), round(float(np.log(4)), 4)
    (1.3863, 1.3863)
    """
    p = p if isinstance(p, cp.Expression) else cp.Constant(p)
    terms = cp.entr(p)
    if log_counts is not None:
        terms = terms + cp.multiply(data("log_counts", log_counts, p.shape), p)
    if weights is not None:
        terms = cp.multiply(data("weights", weights, p.shape), terms)
    return cp.sum(terms)


def entropy_at_least(p: cp.Expression, b: Data, *, log_counts: Data | None = None) -> list[cp.Constraint]:
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
    p = cp.Expression.cast_to_const(p)
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
