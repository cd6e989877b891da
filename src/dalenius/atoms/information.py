"""Entropies and informations as atoms, in nats."""

from __future__ import annotations

from collections.abc import Sequence

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from dalenius.atoms.given import (
    SUM,
    Data,
    affine,
    data,
    derived,
    known,
    masses_of,
    matrix,
    numbers,
    occurring,
    repeated,
    vector,
)
from dalenius.errors import InputError
from dalenius.information import entropy
from dalenius.information.arrays import Floats
from dalenius.model import WorstCaseLeakage
from dalenius.reduction import dataset_pairs


def concave_entropy(p: Data, *, log_counts: Data | None = None, weights: Data | None = None) -> cp.Expression:
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
    p = affine("p", p)
    terms = cp.entr(p)
    if log_counts is not None:
        terms = terms + cp.multiply(data("log_counts", log_counts, p.shape), p)
    if weights is not None:
        factors = data("weights", weights, p.shape)
        if not factors.is_nonneg():
            raise InputError("weights: expected numbers of at least 0, or cvxpy.Parameter(..., nonneg=True)")
        terms = cp.multiply(factors, terms)
    return cp.sum(terms)


def mutual_information(joint: Data, row_law: Data | None = None) -> cp.Expression:
    """I(A; Y) of a joint law whose rows have known sums: sum_ay u log(u / (pi_a r_y)) with r_y = sum_a u(a,y).

    *Convex because* relative entropy is jointly convex, and both u and pi_a r_y are affine in the joint law once pi is data. (If both
    marginals vary, I is neither convex nor concave.) *DPP because* parameters only multiply r.

    Parameters
    ----------
    joint : (letters, outputs)
        u, affine: a joint law; for a mechanism, whose rows are laws, take `leakage`. Constrain its rows to sum to `row_law`; where
        they do not, the expression is I + D(row sums || row_law), too large.
    row_law : (letters,)
        pi. For a known law of the columns hand in `joint.T`.

    Raises
    ------
    InputError
        If `row_law` is missing, has variables, is no law, or does not fit, or numbers as `joint` do not sum to 1.

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
    if u.is_constant() and not u.parameters() and abs(known(u).sum() - 1.0) > SUM:
        raise InputError(
            f"joint: expected a joint law, whose entries sum to 1, got the sum {known(u).sum():.6g}; of a mechanism take "
            "leakage(mechanism, prior)"
        )
    law = data("row_law", row_law, (u.shape[0],), law=True)
    if not law.parameters():  # cones of rows without mass are degenerate
        kept = np.flatnonzero(known(law) > 0.0)
        u, law = u[kept], law[kept]
    product = cp.reshape(law, (law.size, 1), order="C") @ cp.sum(u, axis=0, keepdims=True)
    return cp.sum(cp.rel_entr(u, product))


def leakage(mechanism: Data, prior: Data, *, output_law: cp.Expression | None = None) -> cp.Expression:
    """I(A; Y) between a letter and the release: H(pi) + sum_ay u log(u / r_y), u(a,y) = sum_k p(a,k) Q(k,y), r_y = sum_a u(a,y).

    *Convex because* relative entropy is jointly convex, u and r are affine in the mechanism, and pi_a = sum_k p(a,k) is data. *DPP
    because* the masses multiply the mechanism only, and H(pi) is a parameter by itself.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws: the formula needs it.
    prior : (letters, inputs) or (inputs,)
        Masses p(a,k) of the pairs of letter and channel input: `letter_masses` makes them from a prior on datasets, and
        `AggregatedRecord.lift` from masses on (letter, class). Letters without mass drop out. Or the law of the inputs, which are the
        letters then: I(X; Y).
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
    >>> from dalenius.atoms import expected_distortion
    >>> wrong = expected_distortion(Q, masses.sum(axis=0), [[0.0, 1.0], [1.0, 0.0]])
    >>> model = cp.Problem(cp.Minimize(leakage(Q, masses)), [cp.sum(Q, axis=1) == 1, wrong <= 0.1])
    >>> model.is_dcp(dpp=True)
    True
    >>> round(float(model.solve(solver="CLARABEL")), 4), round(float(np.log(2) - entropy([0.1, 0.9])), 4)
    (0.3681, 0.3681)
    """
    Q = matrix("mechanism", mechanism)
    p = masses_of(prior, Q.shape[0])
    spread = derived(lambda masses: entropy(masses.sum(axis=1)), (), p)
    u = p @ Q
    r = cp.sum(u, axis=0) if output_law is None else vector("output_law", output_law, Q.shape[1])
    return cp.sum(cp.rel_entr(u, repeated(r, u.shape[0]))) + spread


def information_of_prior(prior: Data, channel: Data) -> cp.Expression:
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


def conditional_entropy(joint: Data) -> cp.Expression:
    """H(A | B) of a joint law u(a,b): -sum_ab u log(u / sum_a u).

    *Concave because* relative entropy is jointly convex, and the marginal is affine in u. *DPP because* there are no data.
    Source: Cover and Thomas, Elements of Information Theory, 2006, 2.2.

    Parameters
    ----------
    joint : (letters, outputs)
        u, affine; both marginals may vary. Constrain it to be a law.

    Raises
    ------
    InputError
        If it is no affine matrix.

    >>> round(float(conditional_entropy([[0.25, 0.25], [0.0, 0.5]]).value), 4), round(0.75 * float(entropy([1 / 3, 2 / 3])), 4)
    (0.4774, 0.4774)
    """
    u = matrix("joint", joint)
    return -cp.sum(cp.rel_entr(u, repeated(cp.sum(u, axis=0), u.shape[0])))


def conditional_information(mechanism: Data, priors: Sequence[Data]) -> cp.Expression:
    """I(A; Y | W) of a secret given what somebody knows: H(A | W) + sum_way u log(u(w,a,y) / r(w,y)), u = p Q, r = sum_a u.

    *Convex because* relative entropy is, jointly, and u and r are affine in the mechanism. *DPP because* the masses multiply the
    mechanism only, and H(A | W) is a parameter by itself. Source: Cover and Thomas 2006, 2.5.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws.
    priors : sequence of (letters, inputs)
        Masses p(w,a,x), a matrix a value of W, whose sum over all is 1.

    Raises
    ------
    InputError
        If shapes do not fit, or the masses are negative or do not sum to 1.

    One of two fair bits whose parity is released, given the other: all of it.

    >>> priors = [[[0.25, 0.0], [0.0, 0.25]], [[0.0, 0.25], [0.25, 0.0]]]
    >>> round(float(conditional_information(np.eye(2), priors).value), 4)
    0.6931
    """
    Q = matrix("mechanism", mechanism)
    parts = [data("priors", part, (None, Q.shape[0])) for part in priors]
    data("priors", cp.hstack([cp.vec(part, order="C") for part in parts]), (None,), law=True)
    spread = derived(lambda *masses: sum(_of_letters(part) for part in masses), (), *parts)
    return spread - sum(conditional_entropy(occurring(part) @ Q) for part in parts)


def _of_letters(masses: Floats) -> float:
    """H(A, W = w) - H(W = w), what a value of W adds to H(A | W)."""
    return float(entropy(masses.sum(axis=1)) - entropy(masses.sum(keepdims=True).ravel()))


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
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast(0))
    >>> letter_masses(two, 0, [0.4, 0.3, 0.2, 0.1]).tolist()
    [[0.4, 0.3], [0.1, 0.2]]
    """
    alphabets = problem.records.alphabets
    if record not in range(len(alphabets)):
        raise InputError(f"record: expected 0 to {len(alphabets) - 1}, got {record!r}")
    pairs, masses = dataset_pairs(problem, record), numbers("prior", prior)
    data("prior", masses, pairs.order.shape, law=True)
    return pairs.table(pairs.apply(masses))
