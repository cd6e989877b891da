"""Several leakages in cones whose multipliers are posteriors, for the programs."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from dalenius.atoms.given import derived, matrix
from dalenius.information import x_log_x
from dalenius.programs.mechanism import Leakages


@dataclass(frozen=True)
class ConicLeakages:
    """I_s of several priors (`values`, (priors,)), with the variables and the constraints that state them, by name."""

    values: cp.Expression
    variables: dict[str, cp.Variable]
    constraints: dict[str, cp.Constraint]


def conic_leakages(
    mechanism: cp.Expression,
    leakages: Leakages,
    *,
    occurring: np.ndarray | None = None,
    masses: cp.Parameter | None = None,
) -> ConicLeakages:
    """I_s = H(pi_s) + sum_ay u_s log(u_s/r_s) of every prior, where u_s = p_s Q and r_s = sum_a u_s(a,.), in exponential cones.

    *Convex because* relative entropy is, jointly, and u_s and r_s are affine in Q; the priors are part of the model, or a parameter.

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
    masses : cvxpy.Parameter (rows, inputs), optional
        All priors, for a model that is solved again with others: cvxpy then keeps a number for each product of one with the mechanism.

    Returns
    -------
    ConicLeakages : variables `law` (priors, outputs) and `terms` (rows, outputs); constraints `posteriors` (the cones) and `laws`
    """
    Q = matrix("mechanism", mechanism)
    law = cp.Variable((leakages.count, Q.shape[1]), name="law")
    owned = np.asarray(leakages.owner[:, None] == np.arange(leakages.count), dtype=float)
    if masses is None:
        u, laws, entropies = leakages.masses @ Q, leakages.sums(leakages.masses) @ Q, leakages.letter_entropies()
    else:
        u = masses @ Q
        laws, entropies = owned.T @ u, derived(lambda p: -owned.T @ x_log_x(p.sum(axis=1)), (leakages.count,), masses)
    if occurring is None:
        terms = cp.Variable(u.shape, name="terms")
        cones, sums = cp.ExpCone(-terms, u, owned @ law), cp.sum(terms, axis=1)
    else:
        row, y = np.nonzero(occurring)
        terms = cp.Variable(row.size, name="terms")
        cones = cp.ExpCone(-terms, u[row, y], (owned @ law)[row, y])
        sums = np.asarray(row == np.arange(len(occurring))[:, None], dtype=float) @ terms
    constraints: dict[str, cp.Constraint] = {"posteriors": cones, "laws": law == laws}
    return ConicLeakages(owned.T @ sums + entropies, {"law": law, "terms": terms}, constraints)
