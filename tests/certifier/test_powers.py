"""Power cones are exponential ones with exact weights: the same points, and claims about the model where the weights are."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

from campaigns import draws, each
from cvxcertify import Claim, Standing, certify
from cvxcertify.derive import derived

x, y = cp.Variable(3, name="x"), cp.Variable(2, name="y")
AT = np.array([0.5, 0.25, 1.5])
THIRD = 1.0 / 3.0
ATOMS = (
    (cp.sum(cp.power(x, 3, approx=False)), True),
    (cp.power(x[0], -0.7, approx=False), True),
    (cp.power(x[0], -0.5, approx=False), True),
    (cp.pnorm(x, 3, approx=False), True),
    (cp.pnorm(x, 1.7, approx=False), True),
    (-cp.pnorm(x, 0.5, approx=False), True),
    (-cp.geo_mean(x, approx=False), True),
    (-cp.geo_mean(x, [0.3, 0.3, 0.4], approx=False), True),
    (-cp.sum(cp.power(x, THIRD, approx=False)), True),
    (cp.power(x[0], 3, approx=False) - cp.power(x[0], THIRD, approx=False), False),  # 1/3, and the double next to it
)


@each("atom, exact", *ATOMS, every=3)
def test_an_atom_has_its_value(atom, exact):
    found = certify(cp.Problem(cp.Minimize(atom), [x == AT]), gap=1e-6)
    x.value = AT
    assert found.claim is (Claim.MODEL if exact else Claim.CONIC_FORM)
    assert found.lower - 1e-12 <= float(atom.value) <= found.upper + 1e-12
    assert found.gap <= 1e-6


def stacked(bases, z, weights):
    """The same cone as its three constraints have it: along columns, along rows, and by itself."""
    yield cp.PowConeND(bases, z, weights)
    yield cp.PowConeND(bases.T, z, weights.T, axis=1)
    yield cp.PowConeND(bases[:, 0], z[0], weights[:, 0])
    if len(weights) == 2:
        yield cp.PowCone3D(bases[0], bases[1], z, weights[0])
        yield cp.PowCone3DApprox(bases[0], bases[1], z, weights[0])


def test_a_cone_has_the_points_of_its_definition():
    """Just inside there is a point, and just outside there is none; faces where a member is 0 belong to it."""
    rng = np.random.default_rng(0)
    for _ in range(draws(1, 25)):
        size = int(rng.integers(2, 4))
        weights = (
            np.array([[0.125, 0.75], [0.875, 0.25]])
            if size == 2
            else np.array([[0.5, 0.25], [0.25, 0.125], [0.25, 0.625]])
        )
        bases, z = cp.Variable((size, 2)), cp.Variable(2)
        at = np.where(rng.random((size, 2)) < 0.1, 0.0, rng.exponential(size=(size, 2)))
        edge = np.prod(at**weights, axis=0) * rng.choice([-1.0, 1.0], size=2)
        for k, (cone, beyond) in enumerate(itertools.product(stacked(bases, z, weights), (False, True))):
            if k % 3 and draws(0, 1) == 0:
                continue
            there = edge * (1 + 1e-6) + np.where(edge < 0, -1e-6, 1e-6) if beyond else edge * (1 - 1e-6)
            found = certify(cp.Problem(cp.Minimize(cp.sum(z)), [cone, bases == at, z == there]), solver="CLARABEL")
            assert found.status is not (Standing.INTERVAL if beyond else Standing.INFEASIBLE), (k, at, there)
            if np.all(at):  # else there is no inner point
                assert found.status is (Standing.INFEASIBLE if beyond else Standing.INTERVAL), (k, at, there)


def test_weights_that_do_not_add_up_are_said_to_be_rounded():
    cone = cp.PowConeND(x, y[0], np.full(3, THIRD))
    assert derived(cp.Problem(cp.Maximize(y[0]), [cone])).rounded == ("PowConeND",)
    tiny = cp.PowCone3D(x[0], x[1], y[0], 1e-20)
    assert derived(cp.Problem(cp.Maximize(y[0]), [tiny])).rounded == ()


@pytest.mark.parametrize("weight", [0.5, 0.3, THIRD])
def test_the_largest_is_the_product(weight):
    found = certify(cp.Problem(cp.Maximize(y[0] - y[1]), [cp.PowCone3D(x[:2], x[1:], y, weight), x <= [4, 2, 8]]))
    ends = 4**weight * 2 ** (1 - weight), 2**weight * 8 ** (1 - weight)
    assert found.lower - 1e-12 <= sum(ends) <= found.upper + 1e-12
    assert found.gap <= 1e-8
