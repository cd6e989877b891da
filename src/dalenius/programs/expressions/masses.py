"""Entropy of masses, expected distortion, letter masses; and what all expressions are given, checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from cvxcertify.errors import brief
from dalenius.errors import InputError
from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.model import WorstCaseLeakage
from dalenius.reduction import dataset_pairs

Data: TypeAlias = ArrayLike | cp.Expression
SUM = 1e-9  # how far a law may be from summing to 1


def derived(function: Callable[..., ArrayLike], shape: tuple[int, ...], *given: cp.Expression) -> cp.Expression:
    """A function of data: a constant, or a parameter that is computed from parameters, whatever their curvature would say."""

    def value() -> ArrayLike | None:
        values = [item.value for item in given]
        return None if any(v is None for v in values) else function(*values)

    if any(item.parameters() for item in given):
        return cp.CallbackParam(value, shape)
    return cp.Constant(value())


def matrix(name: str, expression: cp.Expression) -> cp.Expression:
    result = cp.Expression.cast_to_const(expression)
    if result.ndim != 2:
        raise InputError(f"{name}: expected a matrix, got shape {result.shape}")
    return result


def vector(name: str, expression: cp.Expression, size: int | None) -> cp.Expression:
    result = cp.Expression.cast_to_const(expression)
    if result.ndim != 1 or size not in (None, result.size):
        raise InputError(f"{name}: expected a vector{f' of {size}' if size else ''}, got shape {result.shape}")
    return result


def numbers(name: str, value: ArrayLike) -> Floats:
    try:
        if not np.iscomplexobj(value):
            return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name}: expected real numbers, got {brief(value)}")


def data(
    name: str, value: Data, shape: tuple[int | None, ...], *, law: bool = False, rows: bool = False
) -> cp.Expression:
    """Data as an expression without variables; numbers are checked, parameters have none yet."""
    given = value if isinstance(value, cp.Expression) else cp.Constant(numbers(name, value))
    if given.variables():
        raise InputError(f"{name}: expected numbers or parameters, got an expression in variables")
    if len(shape) != given.ndim or any(want not in (None, have) for want, have in zip(shape, given.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"{name}: expected shape ({wanted}), got {given.shape}")
    if not given.parameters():
        _check_numbers(name, np.asarray(given.value), law=law, rows=rows)
    return given


def _check_numbers(name: str, values: Floats, *, law: bool, rows: bool) -> None:
    if not np.isfinite(values).all():
        raise InputError(f"{name}: expected finite numbers")
    if (law or rows) and ((values < 0.0).any() or abs(values.sum(axis=1 if rows else None) - 1.0).max() > SUM):
        raise InputError(f"{name}: expected nonnegative numbers{' whose rows each' if rows else ' that'} sum to 1")


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

    >>> import cvxpy as cp
    >>> import numpy as np
    >>> float(expected_cost(cp.Constant(np.array([[0.9, 0.1], [0.1, 0.9]])), [[0.0, 0.5], [0.5, 0.0]]).value)
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
    >>> import numpy as np
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


def letter_masses(problem: WorstCaseLeakage, record: int, prior: ArrayLike) -> Floats:
    """Masses p(a,k) of (letter of a record, channel input) under a prior on datasets: what `leakage` needs.

    Parameters
    ----------
    problem : WorstCaseLeakage
        Its records and query (and whether channel inputs are datasets) matter, its numbers do not.
    record : int
    prior : (datasets,)
        In lexicographic order, record 0 slowest.

    Raises
    ------
    InputError
        If there is no such record, or the prior is no law on the datasets; or there are too many datasets to list.

    >>> import dalenius as dl
    >>> two = dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast(0.0))
    >>> letter_masses(two, 0, [0.4, 0.3, 0.2, 0.1]).tolist()
    [[0.4, 0.3], [0.1, 0.2]]
    """
    alphabets = problem.records.alphabets
    if record not in range(len(alphabets)):
        raise InputError(f"record: expected 0 to {len(alphabets) - 1}, got {record!r}")
    pairs, masses = dataset_pairs(problem, record), numbers("prior", prior)
    data("prior", masses, pairs.order.shape, law=True)
    return pairs.table(pairs.apply(masses))
