"""Costs, and limits as constraints."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxcertify.errors import brief
from dalenius.atoms.given import SUM, Data, affine, data, derived, factor, known, masses_of, matrix, numbers
from dalenius.atoms.guesses import exp_maximal_leakage
from dalenius.atoms.information import concave_entropy
from dalenius.errors import InputError
from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats


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
    """A list of constraints that say H >= b: sum entr(p) + sum p log N >= b, where entry k of p is spread evenly over N_k datasets.

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


def local_dp(mechanism: Data, epsilon: Data) -> cp.Constraint:
    """The constraint that says Q(x,y) <= e^epsilon Q(x',y) for all inputs: epsilon-local differential privacy.

    *Convex because* max_x Q is convex and min_x Q concave. *DPP because* e^epsilon is one parameter. Cone: linear, two rows an entry.
    Source: Kasiviswanathan et al. 2011.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine.
    epsilon : float or cvxpy.Parameter
        In nats.

    Raises
    ------
    InputError
        If the mechanism is no affine matrix, or epsilon is no finite number.

    Randomized response is the best that tells bits apart:

    >>> Q = cp.Variable((2, 2), nonneg=True)
    >>> model = cp.Problem(cp.Maximize(cp.trace(Q)), [cp.sum(Q, axis=1) == 1, local_dp(Q, np.log(3))])
    >>> round(float(model.solve(solver="CLARABEL")), 4)
    1.5
    """
    Q = matrix("mechanism", mechanism)
    return cp.max(Q, axis=0) <= factor(epsilon) * cp.min(Q, axis=0)


def pointwise_leakage_at_most(mechanism: Data, law: Data, epsilon: Data) -> cp.Constraint:
    """The constraint that says Q(x,y) <= e^epsilon sum_x' p_x' Q(x',y) for all inputs with p_x > 0: pointwise maximal leakage.

    *Convex because* they are linear. *DPP because* e^epsilon p is one parameter; then inputs without mass count, too. Cone: linear.
    Source: Saeidian et al. 2023.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine.
    law : (inputs,)
        p.
    epsilon : float or cvxpy.Parameter
        In nats.

    Raises
    ------
    InputError
        If shapes do not fit, the law is none, or epsilon is no finite number.

    >>> Q = cp.Variable((2, 2), nonneg=True)
    >>> limit = pointwise_leakage_at_most(Q, [0.5, 0.5], np.log(1.5))
    >>> round(float(cp.Problem(cp.Maximize(cp.trace(Q)), [cp.sum(Q, axis=1) == 1, limit]).solve(solver="CLARABEL")), 4)
    1.5
    """
    Q = matrix("mechanism", mechanism)
    p = data("law", law, (Q.shape[0],), law=True)
    most = derived(lambda ratio, masses: ratio * masses, p.shape, factor(epsilon), p)
    there = slice(None) if p.parameters() else np.flatnonzero(known(p))
    return Q[there] <= cp.reshape(most @ Q, (1, Q.shape[1]), order="C")


def maximal_leakage_at_most(mechanism: Data, epsilon: Data) -> cp.Constraint:
    """The constraint that says log sum_y max_x Q(x,y) <= epsilon: `exp_maximal_leakage` is at most e^epsilon.

    *Convex because* that is. *DPP because* e^epsilon is one parameter. Cone: linear. Source: Issa, Wagner and Kamath 2020.

    Raises
    ------
    InputError
        As `local_dp`.

    >>> Q = cp.Variable((2, 2), nonneg=True)
    >>> limit = maximal_leakage_at_most(Q, np.log(1.5))
    >>> round(float(cp.Problem(cp.Maximize(cp.trace(Q)), [cp.sum(Q, axis=1) == 1, limit]).solve(solver="CLARABEL")), 4)
    1.5
    """
    return exp_maximal_leakage(mechanism) <= factor(epsilon)


def maximal_correlation_at_most(mechanism: Data, prior: Data, rho: Data) -> cp.Constraint:
    """The constraint that says of the correlation of any functions of secret and output that it is at most rho.

    With u = p Q, the output law r and the law pi of the secret: [[rho^2 diag(pi) + (1 - rho^2) pi pi', u], [u', diag(r)]] is positive
    semidefinite, without its last letter, which follows: (1, ..., 1, -1, ..., -1) is in the kernel.

    *Convex because* the matrix is affine in the mechanism. *DPP because* its block without u is one parameter. Cone: semidefinite.
    Source: Renyi 1959; the second singular value of Witsenhausen 1975, by a Schur complement.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws: the condition needs it.
    prior : (inputs,) or (letters, inputs)
        The law of the inputs, which are the secret then, or masses of (letter, input).
    rho : float or cvxpy.Parameter
        From 0 to 1. With 0 the matrix has no interior.

    Raises
    ------
    InputError
        If shapes do not fit, the prior is no law, or rho is not from 0 to 1.

    >>> Q = cp.Variable((2, 2), nonneg=True)
    >>> limit = maximal_correlation_at_most(Q, [0.5, 0.5], 0.5)
    >>> round(float(cp.Problem(cp.Maximize(cp.trace(Q)), [cp.sum(Q, axis=1) == 1, limit]).solve(solver="CLARABEL")), 4)
    1.5
    """
    Q = matrix("mechanism", mechanism)
    p = masses_of(prior, Q.shape[0])
    bound = data("rho", rho, ())
    if not bound.parameters() and not 0.0 <= float(known(bound)) <= 1.0:
        raise InputError(f"rho: expected a number from 0 to 1, got {brief(rho)}")
    u, letters = p @ Q, p.shape[0] - 1
    law = cp.sum(u, axis=0)
    if not letters:  # one letter: no function of it varies
        return law >= 0
    block = derived(_correlated, (letters, letters), bound, p)
    return cp.bmat([[block, u[:-1]], [u[:-1].T, cp.diag(law)]]) >> 0


def _correlated(rho: float, masses: Floats) -> Floats:
    """rho^2 diag(pi) + (1 - rho^2) pi pi' without the last letter."""
    pi = masses.sum(axis=1)[:-1]
    return rho**2 * np.diag(pi) + (1.0 - rho**2) * np.outer(pi, pi)
