"""Exact membership in the cones, and multipliers moved into their duals."""

import math

import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from campaigns import draws
from cvxcertify.instance import Cone, exactly, triangle
from cvxcertify.membership import in_cone, in_dual, into_dual

CONES = [
    Cone("nonnegative", 2),
    Cone("second-order", 3),
    Cone("exponential", 3),
    Cone("semidefinite", 3),
    Cone("semidefinite", 6),
]
numbers = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-1e3, 1e3),
    st.floats(-1e-9, 1e-9),
    st.floats(allow_nan=False, allow_infinity=False),
)
rows = st.lists(numbers, min_size=6, max_size=6)


def inner(left, right):
    return sum((p * q for p, q in zip(left, right, strict=True)), fmpq(0))


@pytest.mark.parametrize("cone", CONES, ids=lambda cone: f"{cone.kind} {cone.size}")
@settings(max_examples=draws(20, 2000), deadline=None)
@given(values=rows)
@example(values=[-1e-300, 1e300, 1.0, 0.0, 0.0, 0.0])
@example(values=[-1.0, -800.0, 1e-300, 0.0, 0.0, 0.0])
@example(values=[0.0, -1.0, 5.0, 0.0, 0.0, 0.0])
def test_moved_multipliers_are_in_the_dual_and_stay_where_they_were_in_it(cone, values):
    z = [exactly(x) for x in values[: cone.size]]
    moved = into_dual(cone, z)
    assert in_dual(cone, moved)
    assert into_dual(cone, moved) == moved
    if in_dual(cone, z):
        assert moved == z


@pytest.mark.parametrize("cone", CONES, ids=lambda cone: f"{cone.kind} {cone.size}")
@settings(max_examples=draws(20, 2000), deadline=None)
@example(values=[-4.0480450661462123e123, 0.0, 1e-200, 0.0, 0.0, 0.0], others=[0.0] * 6)
@given(values=rows, others=rows)
def test_a_dual_multiplier_prices_no_member_of_the_cone_below_0(cone, values, others):
    """That of members, which are made from multipliers in the self-dual cones, and from the definition in the exponential one."""
    z = into_dual(cone, [exactly(x) for x in values[: cone.size]])
    if cone.kind == "exponential":
        x, y = others[0] % 7.0 - 3.0, abs(others[1]) % 5.0
        s = [
            exactly(x),
            exactly(y),
            exactly(math.nextafter(y * math.exp(x / y) * (1 + 1e-14), math.inf) if y > 1e-2 else 1e300),
        ]
        s = s if y > 1e-2 else [exactly(-abs(x)), fmpq(0), exactly(abs(others[2]))]
    else:
        s = into_dual(cone, [exactly(x) for x in others[: cone.size]])
    if cone.kind == "semidefinite":  # entries beside the diagonal count for two there
        s = [x if i == j else x / 2 for x, (i, j) in zip(s, triangle(cone.order), strict=True)]
    assert in_cone(cone, s)
    assert inner(z, s) >= 0


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_semidefinite_is_what_eigenvalues_say(size):
    rng = np.random.default_rng(size)
    for _ in range(draws(30, 500)):
        vectors = rng.integers(-3, 4, size=(size, int(rng.integers(0, size + 1))))
        matrix = (vectors @ vectors.T).astype(float)
        shifted = matrix - np.eye(size) * rng.choice([0.0, 2.0**-40])
        cone = Cone("semidefinite", size * (size + 1) // 2)
        inside = in_cone(cone, [exactly(shifted[i, j]) for i, j in triangle(size)])
        least = np.linalg.eigvalsh(matrix)[0]
        assert inside == (shifted is matrix or bool(np.all(shifted == matrix)) or least > 1e-9)


def test_ends_of_the_exponential_cone():
    exponential = Cone("exponential", 3)
    one = fmpq(1)
    assert in_cone(exponential, [fmpq(0), one, one])  # the boundary itself
    assert not in_cone(exponential, [fmpq(1, 10**30), one, one])
    assert in_cone(exponential, [fmpq(-1), fmpq(0), fmpq(0)])
    assert not in_cone(exponential, [fmpq(1, 10**30), fmpq(0), one])
    assert not in_cone(exponential, [fmpq(-1), fmpq(-1, 10**30), one])
    assert not in_cone(exponential, [fmpq(10**9), one, fmpq(10) ** 300])
    assert in_cone(exponential, [fmpq(-(10**9)), one, fmpq(1, 10**300)])
    assert in_dual(exponential, [-one, -one, one])
    assert not in_dual(exponential, [-one, -one - fmpq(1, 10**30), one])
    assert not in_dual(exponential, [fmpq(1, 10**30), one, one])
    assert in_dual(exponential, [fmpq(0), one, fmpq(0)])
