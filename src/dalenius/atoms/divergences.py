"""Divergences of two laws, jointly convex in both.

Each takes p and q of one shape: laws, or joint laws as matrices. Of a matrix p and a vector q it takes each row of p from q, a number
a row. Either may be numbers, a parameter, or an affine expression: constrain what varies to be a law. `joint_and_product` makes of a
mechanism the two joint laws whose divergence is an information.
"""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
from cvxpy.transforms.partial_optimize import PartialProblem

from dalenius.atoms.given import Data, affine, derived, factor, known, masses_of, matrix, number, repeated
from dalenius.errors import InputError, brief


def joint_and_product(mechanism: Data, prior: Data) -> tuple[cp.Expression, cp.Expression]:
    """The joint law u = p Q of secret and output, and the product pi r of its marginals: an information is their divergence.

    *Affine because* the prior is data. *DPP because* pi_a p_x is one parameter.

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

    The chi-square information of a fair bit that is reported right three times in four:

    >>> float(chi_square(*joint_and_product([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])).value)
    0.25
    """
    Q = matrix("mechanism", mechanism)
    p = masses_of(prior, Q.shape[0])
    apart = derived(lambda masses: np.outer(masses.sum(axis=1), masses.sum(axis=0)), p.shape, p)
    return p @ Q, apart @ Q


def divergence(p: Data, q: Data) -> cp.Expression:
    """D(p || q) = sum p log(p/q), Kullback and Leibler's (1951), in nats.

    *Convex because* rel_entr is, jointly. *DPP because* p and q enter affinely. Cone: exponential.

    Raises
    ------
    InputError
        If shapes do not fit, numbers are negative or not finite, or an expression is not affine.

    >>> round(float(divergence([0.5, 0.5], [0.25, 0.75]).value), 4)
    0.1438
    """
    p, q, axis = _pair(p, q)
    return cp.sum(cp.rel_entr(p, q), axis=axis)


def chi_square(p: Data, q: Data) -> cp.Expression:
    """sum (p - q)^2 / q, Pearson's (1900).

    *Convex because* x^2 / y is, jointly. *DPP because* p and q enter affinely; where q is a parameter, its roots and their inverses
    are parameters, too. Cone: second-order, one an entry.

    Raises
    ------
    InputError
        As `divergence`.

    >>> round(float(chi_square([0.5, 0.5], [0.25, 0.75]).value), 4)
    0.3333
    """
    p, q, axis = _pair(p, q)
    if q.parameters() and not q.variables():
        root, inverse = derived(np.sqrt, q.shape, q), derived(lambda law: 1.0 / np.sqrt(law), q.shape, q)
        return cp.sum(cp.square(cp.multiply(inverse, p) - root), axis=axis)
    return cp.sum(_entrywise(lambda x, y: cp.quad_over_lin(x - y, y), p, q), axis=axis)


def total_variation(p: Data, q: Data) -> cp.Expression:
    """sum |p - q|, from 0 to 2: without a factor 1/2, as everywhere in the package.

    *Convex because* |x - y| is. *DPP because* p and q enter affinely. Cone: linear.

    Raises
    ------
    InputError
        As `divergence`.

    >>> float(total_variation([0.5, 0.5], [0.25, 0.75]).value)
    0.5
    """
    p, q, axis = _pair(p, q)
    return cp.sum(cp.abs(p - q), axis=axis)


def hellinger(p: Data, q: Data) -> cp.Expression:
    """1 - sum sqrt(p q), the square of Hellinger's distance (1909), from 0 to 1.

    *Convex because* the geometric mean is concave. *DPP because* p and q enter affinely. Cone: second-order, one an entry.

    Raises
    ------
    InputError
        As `divergence`.

    >>> round(float(hellinger([0.5, 0.5], [0.25, 0.75]).value), 4)
    0.0341
    """
    p, q, axis = _pair(p, q)
    return 1.0 - cp.sum(_means(p, q, 0.5), axis=axis)


def jensen_shannon(p: Data, q: Data) -> cp.Expression:
    """(D(p || m) + D(q || m)) / 2 with m = (p + q) / 2, Lin's (1991), from 0 to log 2 nats.

    *Convex because* rel_entr is, jointly. *DPP because* p and q enter affinely. Cone: exponential.

    Raises
    ------
    InputError
        As `divergence`.

    >>> round(float(jensen_shannon([1.0, 0.0], [0.0, 1.0]).value), 4)
    0.6931
    """
    p, q, axis = _pair(p, q)
    return 0.5 * cp.sum(cp.rel_entr(p, 0.5 * (p + q)) + cp.rel_entr(q, 0.5 * (p + q)), axis=axis)


def hockey_stick(p: Data, q: Data, epsilon: Data) -> cp.Expression:
    """sum max(p - e^epsilon q, 0): the least delta with which p is (epsilon, delta)-close to q (Sason and Verdu 2016).

    *Convex because* the maximum of affine functions is. *DPP because* p enters affinely, and e^epsilon q is one parameter where q
    has no variables. Cone: linear.

    Parameters
    ----------
    p, q
    epsilon : float or cvxpy.Parameter
        In nats.

    Raises
    ------
    InputError
        As `divergence`, or if epsilon is no finite number.

    >>> round(float(hockey_stick([0.5, 0.5], [0.25, 0.75], np.log(1.5)).value), 4)
    0.125
    """
    p, q, axis = _pair(p, q)
    ratio = factor(epsilon)
    scaled = ratio * q if q.variables() else derived(lambda c, law: c * law, q.shape, ratio, q)
    return cp.sum(cp.pos(p - scaled), axis=axis)


def renyi(p: Data, q: Data, alpha: float) -> cp.Expression:
    """log( sum p^alpha q^(1-alpha) ) / (alpha - 1), Renyi's (1961), in nats, for 0 < alpha < 1.

    *Convex because* a weighted geometric mean is concave, and -log of what is concave is convex. It is `divergence` at 1, and at 2
    log(1 + `chi_square`), which is not convex. *DPP because* p and q enter affinely. Cones: second-order, exponential.

    Parameters
    ----------
    p, q
    alpha : float
        Its cones are those of the nearest fraction with a denominator of at most 1024.

    Raises
    ------
    InputError
        As `divergence`, or if alpha is not between 0 and 1.

    >>> round(float(renyi([0.5, 0.5], [0.25, 0.75], 0.5).value), 4)
    0.0693
    """
    order = number("alpha", alpha)
    if not 0.0 < order < 1.0:
        raise InputError(
            f"alpha: expected a number between 0 and 1, where Renyi's divergence is convex, got {brief(alpha)}; "
            "for 1 take divergence, for 2 chi_square"
        )
    p, q, axis = _pair(p, q)
    return cp.log(cp.sum(_means(p, q, order), axis=axis)) / (order - 1.0)


def f_divergence(p: Data, q: Data, f: Callable[[cp.Expression], cp.Expression]) -> cp.Expression:
    """sum q f(p/q) for any convex f (Csiszar 1963; Ali and Silvey 1966).

    *Convex because* q f(p/q) is the perspective of f, and of a known law q it is f of what is affine. *DPP because* p enters affinely
    where q is numbers; where q varies that is not promised. Cone: that of f. Where q varies it is cvxpy's perspective, entry by entry:
    the atoms above are quicker, have subgradients, and are evaluated without a solver.

    Parameters
    ----------
    p, q : of one shape
        Affine; numbers of q are positive, and q has no parameters.
    f : callable
        From a cvxpy expression to a convex one of its shape, entry by entry.

    Raises
    ------
    InputError
        As `divergence`, or if numbers of q are not positive, q has parameters, or f is not convex.

    >>> round(float(f_divergence([0.5, 0.5], [0.25, 0.75], lambda t: cp.square(t - 1.0)).value), 4)
    0.3333
    """
    p, q, axis = _pair(p, q)
    if q.parameters() or (q.is_constant() and not np.all(known(q) > 0.0)):
        raise InputError("q: expected positive numbers, or an expression of variables alone")
    if not q.is_constant():
        parts = [(p, q)] if axis is None else [(p[k], q[k]) for k in range(p.shape[0])]
        found = [_perspectives(*part, f) for part in parts]
        return found[0] if axis is None else cp.hstack(found)
    terms = _convex(f(cp.multiply(1.0 / known(q), p)), q.shape)
    return cp.sum(cp.multiply(known(q), terms), axis=axis)


def _convex(made: object, shape: tuple[int, ...]) -> cp.Expression:
    if not (isinstance(made, cp.Expression) and made.shape == shape and made.is_convex()):
        raise InputError(f"f: expected a convex function of cvxpy, entry by entry, got {brief(str(made))}")
    return made


def _perspectives(p: cp.Expression, q: cp.Expression, f: Callable[[cp.Expression], cp.Expression]) -> cp.Expression:
    """The sum of q f(p/q), as the least one of variables that are equal to p and q: the perspective is one of variables only."""
    x, s = [cp.Variable() for _ in range(p.size)], [cp.Variable(nonneg=True) for _ in range(q.size)]
    least = cp.Minimize(sum(cp.perspective(_convex(f(one), ()), scale) for one, scale in zip(x, s, strict=True)))
    equal = [cp.hstack(x) == cp.vec(p, order="C"), cp.hstack(s) == cp.vec(q, order="C")]
    outside = [variable for part in (p, q) for variable in part.variables()]
    return PartialProblem(cp.Problem(least, equal), [*x, *s], list(dict.fromkeys(outside)), cp.CLARABEL)


def _pair(p: Data, q: Data) -> tuple[cp.Expression, cp.Expression, int | None]:
    """Both, checked, of one shape, and the axis that is summed over: each row's by itself where q is a vector and p a matrix."""
    first, second = (_masses(name, value) for name, value in (("p", p), ("q", q)))
    if first.ndim == 2 and first.shape[1:] == second.shape:
        return first, repeated(second, first.shape[0]), 1
    if first.shape != second.shape or not first.ndim:
        raise InputError(f"q: expected the shape {first.shape} of p, or a law for all its rows, got {second.shape}")
    return first, second, None


def _masses(name: str, value: Data) -> cp.Expression:
    given = affine(name, value)
    if given.is_constant() and not given.parameters() and np.any(known(given) < 0.0):
        raise InputError(f"{name}: expected numbers of at least 0")
    return given


def _entrywise(
    function: Callable[[cp.Expression, cp.Expression], cp.Expression], p: cp.Expression, q: cp.Expression
) -> cp.Expression:
    """A function of two numbers, entry by entry."""
    flat = zip(cp.vec(p, order="C"), cp.vec(q, order="C"), strict=True)
    return cp.reshape(cp.hstack([function(x, y) for x, y in flat]), p.shape, order="C")


def _means(p: cp.Expression, q: cp.Expression, share: float) -> cp.Expression:
    """p^share q^(1-share)."""
    return _entrywise(lambda x, y: cp.geo_mean(cp.hstack([x, y]), [share, 1.0 - share]), p, q)
