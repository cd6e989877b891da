"""Affine expressions in exact numbers are what the modelling language says of them, up to its rounding."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array

from cvxcertify.affine import CONSTANT, Exactly
from cvxcertify.instance import as_float

rng = np.random.default_rng(0)
x, y, Z = cp.Variable(4, name="x"), cp.Variable(name="y"), cp.Variable((2, 3), name="Z")
A, B = rng.normal(size=(3, 4)), rng.normal(size=(3, 2))
p = cp.Parameter(4, value=rng.normal(size=4))
EXPRESSIONS = {
    "matrix": A @ x + 1.5,
    "sparse": csr_array(A) @ x - y,
    "both sides": B @ Z,
    "right": Z @ A[:, :2],
    "vectors": rng.normal(size=4) @ x,
    "columns": Z.T @ rng.normal(size=2),
    "elementwise": cp.multiply(rng.normal(size=(2, 3)), Z) - Z / 3.0,
    "sums": cp.sum(Z, axis=1) + cp.sum(Z, axis=0)[:2] + cp.sum(x) + cp.sum(Z, axis=0, keepdims=True)[0, 1],
    "stacked": cp.hstack([x, y, cp.vec(Z, order="F")]),
    "blocks": cp.bmat([[Z, np.ones((2, 1))], [np.zeros((1, 3)), cp.reshape(y, (1, 1), order="F")]]),
    "pieces": cp.vstack([Z[0, ::-1], Z[1, [2, 0, 1]]]),
    "chosen": Z[np.array([[True, False, True], [False, True, False]])],
    "reshaped": cp.reshape(Z, (3, 2), order="C") + cp.reshape(Z, (3, 2), order="F"),
    "diagonals": cp.diag(x) + cp.diag(cp.diag(cp.reshape(cp.hstack([x, x, x, x]), (4, 4), order="C"))),
    "beside": cp.diag(x[:2], 1) + cp.diag(x[:2], -1),
    "trace": cp.trace(Z @ A[:, :2]),
    "running": cp.cumsum(Z, axis=1) + cp.cumsum(Z, axis=0),
    "upper": cp.upper_tri(cp.reshape(cp.hstack([x, x[:5]]), (2, 4), order="F")[:, :2]),
    "differences": cp.diff(x),
    "kronecker": cp.kron(B, Z),
    "convolution": cp.convolve(np.array([1.0, 2.0]), x),
    "parameters": cp.multiply(p, x) + p,
    "promoted": y + Z,
    "transposed": Z.T,
    "three axes": cp.sum(cp.Variable((2, 2, 3)), axis=(0, 2)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_forms_evaluate_to_the_expression(name):
    expression = EXPRESSIONS[name]
    variables, starts, count = expression.variables(), {}, 0
    for variable in variables:
        starts[variable.id] = count
        count += variable.size
        variable.value = rng.normal(size=variable.shape)
    point = np.concatenate([np.asarray(variable.value).reshape(-1) for variable in variables])
    read = Exactly(starts)
    forms = read.forms(expression)
    values = [sum(as_float(a) * (1.0 if j == CONSTANT else point[j]) for j, a in form.items()) for form in forms]
    assert values == pytest.approx(np.asarray(expression.value).reshape(-1, order="F"), abs=1e-12)
    assert bool(read.rounded) == (name in ("kronecker", "convolution"))


def test_coefficients_are_exact():
    thrice = y * 0.1 + y * 0.1 + y * 0.1
    (form,) = Exactly({y.id: 0}).forms(thrice)
    assert Fraction(int(form[0].p), int(form[0].q)) == 3 * Fraction(0.1) != Fraction(0.1 + 0.1 + 0.1)
    (product,) = Exactly({y.id: 0}).forms(cp.Constant(0.1) * (cp.Constant(0.3) * y))
    assert Fraction(int(product[0].p), int(product[0].q)) == Fraction(0.1) * Fraction(0.3)
