"""Information quantities as DCP expressions, for the programs and for models of one's own.

Each is affine, convex or concave, and says why. All in nats. Data are numbers, or cvxpy parameters where the model is to be solved
again with other numbers (every expression is DPP). What a solver says about such a model is evidence of nothing: evaluate its answer
with `dalenius.information`, or ask a `Program`, which proves its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from cvxcertify.errors import brief
from dalenius.errors import InputError
from dalenius.information import entropy, log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.model import WorstCaseLeakage
from dalenius.programs.mechanism import Leakages
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


def mutual_information(joint: cp.Expression, row_law: Data | None = None) -> cp.Expression:
    """I(A; Y) of a joint law whose rows have known sums: sum_ay u log(u / (pi_a r_y)) with r_y = sum_a u(a,y).

    *Convex because* relative entropy is jointly convex, and both u and pi_a r_y are affine in the joint law once pi is data. (If both
    marginals vary, I is neither convex nor concave.) *DPP because* parameters only multiply r.

    Parameters
    ----------
    joint : (letters, outputs)
        u, affine. Constrain its rows to sum to `row_law`; where they do not, the expression is I + D(row sums || row_law), too large.
    row_law : (letters,)
        pi. For a known law of the columns hand in `joint.T`.

    Raises
    ------
    InputError
        If `row_law` is missing, has variables, is no law, or does not fit.

    The least information about a fair bit that tells it right nine times in ten:

    >>> import cvxpy as cp
    >>> fair = np.array([0.5, 0.5])
    >>> joint = cp.Variable((2, 2), nonneg=True)
    >>> model = cp.Problem(
    ...     cp.Minimize(mutual_information(joint, fair)),
    ...     [cp.sum(joint, axis=1) == fair, cp.trace(joint) >= 0.9])
    >>> model.is_dcp(dpp=True)
    True
    >>> round(float(model.solve(solver="CLARABEL")), 4), round(float(np.log(2) - entropy([0.1, 0.9])), 4)
    (0.3681, 0.3681)
    """
    if row_law is None:
        raise InputError(
            "mutual_information: neither convex nor concave where both marginals vary; give row_law (and constrain the rows to sum to "
            "it), or use information_of_prior for a known channel and a variable prior"
        )
    u = matrix("joint", joint)
    law = data("row_law", row_law, (u.shape[0],), law=True)
    u, law = _occurring(u, law)
    product = cp.reshape(law, (law.size, 1), order="C") @ cp.sum(u, axis=0, keepdims=True)
    return cp.sum(cp.rel_entr(u, product))


def leakage(mechanism: cp.Expression, prior: Data, *, output_law: cp.Expression | None = None) -> cp.Expression:
    """I(A; Y) between a letter and the release: H(pi) + sum_ay u log(u / r_y), u(a,y) = sum_k p(a,k) Q(k,y), r_y = sum_a u(a,y).

    *Convex because* relative entropy is jointly convex, u and r are affine in the mechanism, and pi_a = sum_k p(a,k) is data. *DPP
    because* the masses multiply the mechanism only, and H(pi) is a parameter by itself.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws: the formula needs it.
    prior : (letters, inputs)
        Masses p(a,k) of the pairs of letter and channel input: `letter_masses` makes them from a prior on datasets, and
        `AggregatedRecord.lift` from masses on (letter, class). Letters without mass drop out.
    output_law : (outputs,), optional
        A variable for r, constrained to be a law: the expression is then I + D(pi Q || r), which is I at the minimum, and conic
        solvers are much faster from 50 outputs on.

    Raises
    ------
    InputError
        If shapes do not fit, or the masses have variables, are negative, or do not sum to 1.

    The least leakage of a fair bit that is reported wrongly at most once in ten times:

    >>> import cvxpy as cp
    >>> masses = np.array([[0.5, 0.0], [0.0, 0.5]])
    >>> Q = cp.Variable((2, 2), nonneg=True)
    >>> from dalenius.programs.expressions import expected_distortion
    >>> wrong = expected_distortion(Q, masses.sum(axis=0), [[0.0, 1.0], [1.0, 0.0]])
    >>> model = cp.Problem(cp.Minimize(leakage(Q, masses)), [cp.sum(Q, axis=1) == 1, wrong <= 0.1])
    >>> model.is_dcp(dpp=True)
    True
    >>> round(float(model.solve(solver="CLARABEL")), 4), round(float(np.log(2) - entropy([0.1, 0.9])), 4)
    (0.3681, 0.3681)
    """
    Q = matrix("mechanism", mechanism)
    p = data("prior", prior, (None, Q.shape[0]), law=True)
    law = cp.sum(p, axis=1)
    spread = derived(lambda pi: entropy(pi), (), law)
    u, law = _occurring(p @ Q, law)
    r = cp.sum(u, axis=0) if output_law is None else vector("output_law", output_law, Q.shape[1])
    product = np.ones((u.shape[0], 1)) @ cp.reshape(r, (1, r.size), order="C")
    return cp.sum(cp.rel_entr(u, product)) + spread


@dataclass(frozen=True)
class ConicLeakages:
    """I_s of several priors (`values`, (priors,)), with the variables and the constraints that state them, by name."""

    values: cp.Expression
    variables: dict[str, cp.Variable]
    constraints: dict[str, cp.Constraint]


def conic_leakages(
    mechanism: cp.Expression, leakages: Leakages, *, occurring: np.ndarray | None = None
) -> ConicLeakages:
    """I_s = H(pi_s) + sum_ay u_s log(u_s/r_s) of every prior, where u_s = p_s Q and r_s = sum_a u_s(a,.), in exponential cones.

    *Convex because* relative entropy is, jointly, and u_s and r_s are affine in Q; the priors are part of the model.

    What `leakage` states for one prior, for a solver whose multipliers are to prove something. The output laws r_s are variables
    of their own: conic solvers are some 25 times faster then at 100 x 100, because a cone touches one of them instead of all
    inputs. The cones (-terms, u, r), terms >= u log(u/r), are written out, not left to an atom, because their multipliers
    (alpha, beta, gamma) are the posteriors: log phi = beta/alpha - 1, to full accuracy where phi itself, or the mass of the output,
    is tiny.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws: the formula needs it.
    leakages : Leakages
        The priors.
    occurring : (rows, outputs) of bool, optional
        Which letters may have which outputs; elsewhere u is 0 whatever the mechanism, and a cone would have no interior. `terms` and
        `posteriors` are then vectors, of the marked entries row by row.

    Returns
    -------
    ConicLeakages : variables `law` (priors, outputs) and `terms` (rows, outputs); constraints `posteriors` (the cones) and `laws`
    """
    Q = matrix("mechanism", mechanism)
    law = cp.Variable((leakages.count, Q.shape[1]), name="law")
    owned = np.asarray(leakages.owner[:, None] == np.arange(leakages.count), dtype=float)
    defined = law == leakages.sums(leakages.masses) @ Q
    if occurring is None:
        terms = cp.Variable((len(leakages.masses), Q.shape[1]), name="terms")
        cones, sums = cp.ExpCone(-terms, leakages.masses @ Q, owned @ law), cp.sum(terms, axis=1)
    else:
        row, y = np.nonzero(occurring)
        terms = cp.Variable(row.size, name="terms")
        cones = cp.ExpCone(-terms, (leakages.masses @ Q)[row, y], (owned @ law)[row, y])
        sums = np.asarray(row == np.arange(len(occurring))[:, None], dtype=float) @ terms
    values = owned.T @ sums + leakages.letter_entropies()
    constraints: dict[str, cp.Constraint] = {"posteriors": cones, "laws": defined}
    return ConicLeakages(values, {"law": law, "terms": terms}, constraints)


def information_of_prior(prior: cp.Expression, channel: Data) -> cp.Expression:
    """I(X; Y) of a prior through a known channel: H(p R) - sum_x p_x H(R_x).

    *Concave because* entropy is, p R is affine, and the second term is linear. *DPP because* the channel multiplies the prior only,
    and its row entropies are a parameter by themselves.

    Parameters
    ----------
    prior : (inputs,)
        p, affine. Constrain it to be a law.
    channel : (inputs, outputs)
        R, row-stochastic.

    Raises
    ------
    InputError
        If shapes do not fit, or the channel has variables or rows that are no laws.

    The capacity of a binary symmetric channel:

    >>> import cvxpy as cp
    >>> p = cp.Variable(2, nonneg=True)
    >>> model = cp.Problem(cp.Maximize(information_of_prior(p, [[0.9, 0.1], [0.1, 0.9]])), [cp.sum(p) == 1])
    >>> model.is_dcp(dpp=True)
    True
    >>> round(float(model.solve(solver="CLARABEL")), 4), round(float(np.log(2) - entropy([0.1, 0.9])), 4)
    (0.3681, 0.3681)
    """
    p = vector("prior", prior, None)
    R = data("channel", channel, (p.size, None), rows=True)
    rows = derived(lambda matrix: entropy(matrix, axis=1), (p.size,), R)
    return cp.sum(cp.entr(p @ R)) - rows @ p


def _occurring(u: cp.Expression, law: cp.Expression) -> tuple[cp.Expression, cp.Expression]:
    """The rows that have mass, as far as that is known: cones of rows without mass are degenerate."""
    if law.parameters():
        return u, law
    kept = np.flatnonzero(np.asarray(law.value) > 0.0)
    return (u, law) if kept.size == law.size else (u[kept], law[kept])
