"""Mutual information of variables: convex in a mechanism or a joint law, concave in a prior."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from dalenius.errors import InputError
from dalenius.information import entropy
from dalenius.programs.expressions.masses import Data, data, derived, matrix, vector
from dalenius.programs.mechanism import Leakages


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
