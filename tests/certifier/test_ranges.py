"""Ranges of columns contain every feasible point that they are about."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
from flint import fmpq

import planted
from campaigns import draws
from cvxcertify.derive import derived
from cvxcertify.instance import Cone, Instance, as_float, exactly
from cvxcertify.ranges import CUTOFF, outward, propagated

KINDS = list(planted.MAKERS)
ONE, ZERO = fmpq(1), fmpq(0)


def inside(state, x):
    ends = zip(state.low, state.high, x, strict=True)
    return all((low is None or low <= value) and (high is None or value <= high) for low, high, value in ends)


def test_optima_are_in_their_ranges():
    """With the cutoff at the optimal value itself, too."""
    for seed in range(draws(10, 300)):
        case = planted.planted(np.random.default_rng(seed), KINDS[seed % len(KINDS)])
        model = derived(case.problem)
        case.problem.solve(solver="CLARABEL")
        value = -case.value if model.maximises else case.value
        for cutoff in (None, fmpq(value.numerator, value.denominator) + fmpq(1, 10**6)):
            state = propagated(model.instance, cutoff)
            assert not state.empty
            own = case.problem.variables()[0]
            for j, x in enumerate(own.value.tolist()):
                assert as_float(state.low[j]) - 1e-6 <= x <= as_float(state.high[j]) + 1e-6, (seed, j)


def test_laws_have_ranges_without_being_told():
    p = cp.Variable((2, 3), nonneg=True)
    state = propagated(derived(cp.Problem(cp.Minimize(cp.sum(p)), [cp.sum(p, axis=1) == 1])).instance)
    assert set(state.low) == {ZERO}
    assert set(state.high) == {ONE}


def test_cones_tell_ranges():
    """t >= |u| of u; x <= z/e and y of an exponential cone; entries of a matrix with a known diagonal."""
    identity = tuple({j: ONE} for j in range(3))
    none = (ZERO,) * 3

    def known(kind, caps):
        cones = (Cone("nonnegative", len(caps)), Cone(kind, 3))
        rows = tuple({j: fmpq(sign)} for j, sign, _ in caps)
        ends = tuple(fmpq(end) for _, _, end in caps)
        return propagated(Instance(none, ZERO, (*rows, *identity), (*ends, *none), cones, ("a", "b", "c")))

    cone = known("second-order", [(0, -1, 4)])
    assert (cone.low, cone.high) == ([0, -4, -4], [4, 4, 4])
    cone = known("exponential", [(2, -1, 8), (0, 1, 1)])
    assert (cone.low, cone.high) == ([-1, 0, 0], [3, 24, 8])
    cone = known("semidefinite", [(0, -1, 4), (2, -1, 2)])
    assert (cone.low, cone.high) == ([0, -3, 0], [4, 3, 2])


def test_an_exponential_cone_is_within_its_ranges():
    rng = np.random.default_rng(0)
    for _ in range(draws(100, 5000)):
        x, y = rng.normal() * 4.0, rng.exponential() * 3.0
        z = y * np.exp(min(x / y, 700.0)) * (1.0 + rng.exponential())
        assert x <= 0.375 * z * (1 + 1e-12)
        assert y <= max(-x, 3.0 * z) * (1 + 1e-12)


def test_no_point_leaves_no_range():
    y = cp.Variable()
    state = propagated(derived(cp.Problem(cp.Minimize(y), [y >= 1, y <= 0])).instance)
    assert state.empty
    assert CUTOFF not in state.steps


def test_rounding_goes_outward_and_is_short():
    rng = np.random.default_rng(0)
    for _ in range(200):
        value = exactly(rng.normal() * 10.0 ** rng.uniform(-300, 300)) / 3
        low, high = outward(value, False), outward(value, True)
        assert low <= value <= high
        assert abs(high - low) <= abs(value) * fmpq(1, 2**20)
        assert int(low.p).bit_length() <= 25 or int(low.q) == 1
    assert Fraction(int(outward(fmpq(3), True).p)) == 3
