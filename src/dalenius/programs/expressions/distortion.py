"""Distortion of a mechanism that is a variable: affine."""

from __future__ import annotations

import cvxpy as cp

from dalenius.programs.expressions.data import Data, data, derived, matrix

__all__ = ["expected_cost", "expected_distortion"]


def expected_cost(mechanism: cp.Expression, cost: Data) -> cp.Expression:
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

    >>> float(expected_cost(cp.Constant([[0.9, 0.1], [0.1, 0.9]]), [[0.0, 0.5], [0.5, 0.0]]).value)
    0.1
    """
    Q = matrix("mechanism", mechanism)
    return cp.sum(cp.multiply(data("cost", cost, Q.shape), Q))


def expected_distortion(mechanism: cp.Expression, law: Data, distortion: Data) -> cp.Expression:
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
    >>> from dalenius.information import entropy
    >>> from dalenius.programs.expressions import leakage
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
