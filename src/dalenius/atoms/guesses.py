"""Atoms of guessing a secret from an output: vulnerability, maximal leakage, Sibson's information."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from dalenius.atoms.given import Data, data, derived, masses_of, matrix, number
from dalenius.errors import InputError, brief


def guessing(mechanism: Data, prior: Data) -> cp.Expression:
    """sum_y max_a u(a,y) with u = p Q: the probability that the best guess of the secret is right (posterior vulnerability).

    *Convex because* the maximum of affine functions is. *DPP because* the prior multiplies the mechanism only. Cone: linear.
    Source: Smith 2009; Alvim et al., The Science of Quantitative Information Flow, 2020.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws.
    prior : (inputs,) or (letters, inputs)
        The law of the inputs, which are the secret then, or masses of (letter, input).

    Raises
    ------
    InputError
        If shapes do not fit, or the prior is no law.

    >>> float(guessing([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).value)
    0.75
    """
    Q = matrix("mechanism", mechanism)
    return _guesses(masses_of(prior, Q.shape[0]) @ Q)


def bayes_advantage(mechanism: Data, prior: Data) -> cp.Expression:
    """`guessing` less max_a pi_a: by how much the output raises the probability of the best guess (additive leakage).

    *Convex because* `guessing` is. *DPP because* max_a pi_a is a parameter by itself. Cone: linear.

    Raises
    ------
    InputError
        As `guessing`.

    >>> float(bayes_advantage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).value)
    0.25
    """
    Q = matrix("mechanism", mechanism)
    p = masses_of(prior, Q.shape[0])
    return _guesses(p @ Q) - derived(lambda masses: masses.sum(axis=1).max(), (), p)


def exp_min_entropy_leakage(mechanism: Data, prior: Data) -> cp.Expression:
    """`guessing` over max_a pi_a: e to the min-entropy leakage (multiplicative leakage).

    *Convex because* `guessing` is. *DPP because* masses over max_a pi_a are one parameter. Cone: linear.

    Raises
    ------
    InputError
        As `guessing`.

    >>> float(exp_min_entropy_leakage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).value)
    1.5
    """
    Q = matrix("mechanism", mechanism)
    p = masses_of(prior, Q.shape[0])
    return _guesses(derived(lambda masses: masses / masses.sum(axis=1).max(), p.shape, p) @ Q)


def exp_maximal_leakage(mechanism: Data) -> cp.Expression:
    """sum_y max_x Q(x,y): e to the maximal leakage, which no prior on which every input is possible changes.

    *Convex because* the maximum of affine functions is; its logarithm is not, so that a limit of epsilon nats is one of e^epsilon
    (`maximal_leakage_at_most`). *DPP because* there are no data. Cone: linear. Source: Issa, Wagner and Kamath 2020.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine; of a secret its channel to the outputs, P(x|a) @ Q.

    Raises
    ------
    InputError
        If it is no affine matrix.

    >>> float(exp_maximal_leakage([[0.75, 0.25], [0.25, 0.75]]).value)
    1.5
    """
    return _guesses(matrix("mechanism", mechanism))


def sibson(mechanism: Data, law: Data, alpha: float) -> cp.Expression:
    """alpha/(alpha-1) log sum_y (sum_x p_x Q(x,y)^alpha)^(1/alpha), Sibson's information, in nats, for 0 < alpha < 1.

    *Convex because* an alpha-norm is concave below 1, and -log of what is concave is convex. *DPP because* p^(1/alpha) is one
    parameter. Cones: second-order, exponential. Source: Sibson 1969; Ho and Verdu 2015.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws.
    law : (inputs,)
        p.
    alpha : float
        Its cones are those of the nearest fraction with a denominator of at most 1024.

    Raises
    ------
    InputError
        If shapes do not fit, the law is none, or alpha is not between 0 and 1.

    >>> round(float(sibson([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], 0.5).value), 4)
    0.0693
    """
    order = number("alpha", alpha)
    if not 0.0 < order < 1.0:
        raise InputError(
            f"alpha: expected a number between 0 and 1, where Sibson's information is convex, got {brief(alpha)}; "
            "for 1 take leakage, above exp_sibson"
        )
    return order / (order - 1.0) * cp.log(_norms(mechanism, law, order))


def exp_sibson(mechanism: Data, law: Data, alpha: float) -> cp.Expression:
    """sum_y (sum_x p_x Q(x,y)^alpha)^(1/alpha) for alpha > 1: e to (1 - 1/alpha) times Sibson's information.

    *Convex because* an alpha-norm is; the information itself is only quasiconvex, so that a limit of epsilon nats is one of
    e^((1 - 1/alpha) epsilon). *DPP because* p^(1/alpha) is one parameter. Cone: second-order. Source: as `sibson`.

    Raises
    ------
    InputError
        As `sibson`, or if alpha is not above 1.

    >>> round(float(exp_sibson([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], 2.0).value), 4)
    1.118
    """
    order = number("alpha", alpha)
    if not 1.0 < order < np.inf:
        raise InputError(
            f"alpha: expected a finite number above 1, got {brief(alpha)}; below take sibson, for 1 leakage"
        )
    return _norms(mechanism, law, order)


def _guesses(masses: cp.Expression) -> cp.Expression:
    return cp.sum(cp.max(masses, axis=0))


def _norms(mechanism: Data, law: Data, alpha: float) -> cp.Expression:
    """sum_y |p^(1/alpha) Q_y|_alpha."""
    Q = matrix("mechanism", mechanism)
    p = data("law", law, (Q.shape[0],), law=True)
    weights = derived(lambda masses: masses ** (1.0 / alpha), p.shape, p, nonneg=True)
    return cp.sum(cp.hstack([cp.pnorm(cp.multiply(weights, column), alpha) for column in Q.T]))
