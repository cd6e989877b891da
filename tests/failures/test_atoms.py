"""Atoms of what is not convex, of data that are none, and of parameters that have no value."""

import math

import cvxpy as cp
import numpy as np
import pytest

from dalenius import atoms
from dalenius.errors import InputError
from dalenius.programs import certify
from support import refuses

Q = cp.Variable((2, 2), nonneg=True)
p = cp.Variable(2, nonneg=True)
FAIR = np.array([0.5, 0.5])
NOT_A_NUMBER = [math.nan, 0.5]

test_bad_input_is_refused = refuses(
    # curvature and sign
    (lambda: atoms.divergence(cp.square(p), FAIR), "p: expected an affine expression, got one that cvxpy calls convex"),
    (lambda: atoms.chi_square(p, cp.sqrt(p)), "q: expected an affine expression, got one that cvxpy calls concave"),
    (lambda: atoms.leakage(cp.multiply(Q, Q), FAIR), "mechanism: expected an affine expression"),
    (lambda: atoms.conditional_entropy(cp.inv_pos(Q)), "joint: expected an affine expression"),
    (lambda: atoms.entropy_at_least(cp.square(p), 0.1), "p: expected an affine expression"),
    (
        lambda: atoms.concave_entropy(p, weights=cp.Parameter(2)),
        "weights: expected numbers of at least 0, or cvxpy.Parameter",
    ),
    (lambda: atoms.concave_entropy(p, weights=[1.0, -1.0]), "weights: expected numbers of at least 0"),
    (lambda: atoms.renyi(p, FAIR, 2.0), "alpha: expected a number between 0 and 1"),
    (lambda: atoms.renyi(p, FAIR, math.nan), "alpha: expected a finite number"),
    (lambda: atoms.sibson(Q, FAIR, 1.0), "alpha: expected a number between 0 and 1"),
    (lambda: atoms.exp_sibson(Q, FAIR, 0.5), "alpha: expected a finite number above 1"),
    (lambda: atoms.f_divergence(p, FAIR, cp.sqrt), "f: expected a convex function"),
    (lambda: atoms.f_divergence(p, FAIR, cp.sum), "f: expected a convex function of cvxpy, entry by entry"),
    (lambda: atoms.f_divergence(p, FAIR, lambda t: 0.0), "f: expected a convex function"),
    (lambda: atoms.f_divergence(p, p, cp.sqrt), "f: expected a convex function"),
    (lambda: atoms.f_divergence(p, cp.Parameter(2, nonneg=True), cp.square), "q: expected positive numbers"),
    (lambda: atoms.f_divergence(p, [1.0, 0.0], cp.square), "q: expected positive numbers"),
    (lambda: atoms.maximal_correlation_at_most(Q, FAIR, 1.5), "rho: expected a number from 0 to 1"),
    (lambda: atoms.maximal_correlation_at_most(Q, FAIR, -0.5), "rho: expected a number from 0 to 1"),
    # numbers that are none
    (lambda: atoms.divergence(p, NOT_A_NUMBER), "q: expected finite numbers"),
    (lambda: atoms.total_variation(NOT_A_NUMBER, p), "p: expected finite numbers"),
    (lambda: atoms.divergence(p, [1.5, -0.5]), "q: expected numbers of at least 0"),
    (lambda: atoms.divergence(p, "law"), "q: expected real numbers"),
    (lambda: atoms.leakage(Q, NOT_A_NUMBER), "prior: expected finite numbers"),
    (lambda: atoms.leakage([[math.nan, 0.0], [0.0, 1.0]], FAIR), "mechanism: expected finite numbers"),
    (lambda: atoms.hockey_stick(p, FAIR, math.inf), "epsilon: expected finite numbers"),
    (lambda: atoms.local_dp(Q, "1 bit"), "epsilon: expected real numbers"),
    (lambda: atoms.local_dp(Q, [1.0, 2.0]), "epsilon: expected shape ()"),
    (lambda: atoms.maximal_leakage_at_most(Q, math.nan), "epsilon: expected finite numbers"),
    (lambda: atoms.pointwise_leakage_at_most(Q, [0.5, 0.6], 1.0), "law: expected nonnegative numbers that sum to 1"),
    (
        lambda: atoms.conditional_information(Q, [np.eye(2), np.eye(2)]),
        "priors: expected nonnegative numbers that sum to 1",
    ),
    (
        lambda: atoms.mutual_information(np.eye(2), FAIR),
        "joint: expected a joint law, whose entries sum to 1, got the sum 2; of a",
    ),
    # shapes
    (lambda: atoms.divergence(p, [0.2, 0.3, 0.5]), "q: expected the shape (2,) of p"),
    (lambda: atoms.hellinger(0.5, 0.5), "q: expected the shape () of p"),
    (lambda: atoms.guessing(p, FAIR), "mechanism: expected a matrix"),
    (lambda: atoms.guessing(Q, [0.2, 0.3, 0.5]), "prior: expected shape (2)"),
    (lambda: atoms.joint_and_product(Q, Q), "prior: expected numbers or parameters"),
)


def test_a_parameter_without_a_value_is_named():
    epsilon, law = cp.Parameter(name="epsilon"), cp.Parameter(2, nonneg=True, name="law")
    limits = {
        "epsilon": atoms.local_dp(Q, epsilon),
        "epsilon, law": atoms.pointwise_leakage_at_most(Q, law, epsilon),
    }
    for limit in limits.values():
        with pytest.raises(InputError, match=r"parameter (epsilon|law|epsilon, law) has no value"):
            certify(cp.Problem(cp.Minimize(Q[0, 1]), [cp.sum(Q, axis=1) == 1, limit]))
    with pytest.raises(ValueError, match="real"):
        epsilon.value = math.nan
