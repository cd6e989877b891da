"""Exact membership in the cones, and multipliers moved into their duals."""

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

import planted
from campaigns import draws
from cvxcertify.derive import derived
from cvxcertify.geometry import Geometry
from cvxcertify.instance import Instance, cone_of, exactly, triangle
from cvxcertify.linear import made_up
from cvxcertify.ranges import CUTOFF, outward, propagated

CONES = [
    cone_of("nonnegative", 2),
    cone_of("second-order", 3),
    cone_of("exponential", 3),
    cone_of("semidefinite", 3),
    cone_of("semidefinite", 6),
]
numbers = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-1e3, 1e3),
    st.floats(-1e-9, 1e-9),
    st.floats(allow_nan=False, allow_infinity=False),
)
rows = st.lists(numbers, min_size=6, max_size=6)


@pytest.mark.parametrize("cone", CONES, ids=lambda cone: f"{cone.kind} {cone.size}")
@settings(max_examples=draws(20, 2000), deadline=None)
@given(values=rows)
@example(values=[-1e-300, 1e300, 1.0, 0.0, 0.0, 0.0])
@example(values=[-1.0, -800.0, 1e-300, 0.0, 0.0, 0.0])
@example(values=[0.0, -1.0, 5.0, 0.0, 0.0, 0.0])
def test_moved_multipliers_are_in_the_dual_and_stay_where_they_were_in_it(cone, values):
    z = [exactly(x) for x in values[: cone.size]]
    moved = cone.into_dual(z)
    assert cone.dual_contains(moved)
    assert cone.into_dual(moved) == moved
    if cone.dual_contains(z):
        assert moved == z


@pytest.mark.parametrize("cone", CONES, ids=lambda cone: f"{cone.kind} {cone.size}")
@settings(max_examples=draws(20, 2000), deadline=None)
@example(values=[-4.0480450661462123e123, 0.0, 1e-200, 0.0, 0.0, 0.0], others=[0.0] * 6)
@example(values=[0.0] * 6, others=[-0.0625, 285.02001104802434, 0.0, 0.0, 0.0, 0.0])
@given(values=rows, others=rows)
def test_a_dual_multiplier_prices_no_member_of_the_cone_below_0(cone, values, others):
    """That of members, which are made from multipliers in the self-dual cones, and from the definition in the exponential one."""
    z = cone.into_dual([exactly(x) for x in values[: cone.size]])
    if cone.kind == "exponential":
        x, y = others[0] % 7.0 - 3.0, abs(others[1]) % 5.0
        s = [
            exactly(x),
            exactly(y),
            exactly(y * math.exp(x / y) * (1 + 1e-12) if y > 1e-2 else 1e300),  # exp is off by 400 ulps there
        ]
        s = s if y > 1e-2 else [exactly(-abs(x)), fmpq(0), exactly(abs(others[2]))]
    else:
        s = cone.into_dual([exactly(x) for x in others[: cone.size]])
    if cone.kind == "semidefinite":  # entries beside the diagonal count for two there
        s = [x if i == j else x / 2 for x, (i, j) in zip(s, triangle(cone.order), strict=True)]
    assert cone.contains(s)
    assert sum((p * q for p, q in zip(z, s, strict=True)), fmpq(0)) >= 0


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_semidefinite_is_what_eigenvalues_say(size):
    rng = np.random.default_rng(size)
    for _ in range(draws(30, 500)):
        vectors = rng.integers(-3, 4, size=(size, int(rng.integers(0, size + 1))))
        matrix = (vectors @ vectors.T).astype(float)
        shifted = matrix - np.eye(size) * rng.choice([0.0, 2.0**-40])
        cone = cone_of("semidefinite", size * (size + 1) // 2)
        inside = cone.contains([exactly(shifted[i, j]) for i, j in triangle(size)])
        least = np.linalg.eigvalsh(matrix)[0]
        assert inside == (shifted is matrix or bool(np.all(shifted == matrix)) or least > 1e-9)


def test_ends_of_the_exponential_cone():
    exponential = cone_of("exponential", 3)
    one = fmpq(1)
    assert exponential.contains([fmpq(0), one, one])  # the boundary itself
    assert not exponential.contains([fmpq(1, 10**30), one, one])
    assert exponential.contains([fmpq(-1), fmpq(0), fmpq(0)])
    assert not exponential.contains([fmpq(1, 10**30), fmpq(0), one])
    assert not exponential.contains([fmpq(-1), fmpq(-1, 10**30), one])
    assert not exponential.contains([fmpq(10**9), one, fmpq(10) ** 300])
    assert exponential.contains([fmpq(-(10**9)), one, fmpq(1, 10**300)])
    assert exponential.dual_contains([-one, -one, one])
    assert not exponential.dual_contains([-one, -one - fmpq(1, 10**30), one])
    assert not exponential.dual_contains([fmpq(1, 10**30), one, one])
    assert exponential.dual_contains([fmpq(0), one, fmpq(0)])


# The cones in doubles agree with the exact ones; a step that is short in the local norm stays inside.


SHAPES = (
    cone_of("zero", 2),
    cone_of("nonnegative", 2),
    cone_of("second-order", 4),
    cone_of("exponential", 3),
    cone_of("semidefinite", 6),
)
SIZE = sum(cone.size for cone in SHAPES)
ALL = Instance((fmpq(0),), fmpq(0), ({},) * SIZE, (fmpq(0),) * SIZE, SHAPES, ("x",))


def outside(z):
    """The kinds of cones whose duals these multipliers are certainly not in."""
    parts = zip(ALL.cones, ALL.places, strict=True)
    return [cone.kind for cone, places in parts if not cone.dual_contains([exactly(z[row]) for row in places])]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_short_steps_from_the_inside_stay_inside(scale):
    geometry, rng = Geometry(ALL), np.random.default_rng(0)
    for _ in range(draws(30, 1000)):
        z = geometry.inward(rng.normal(size=SIZE) * scale, 10.0 ** rng.uniform(-6, 0) * scale)
        assert geometry.inside(z)
        assert not outside(z)
        reach = geometry.reach(z)
        step = rng.normal(size=reach.shape[1])
        assert not outside(z + reach @ (0.999 * step / np.linalg.norm(step)))


def test_the_reach_is_as_long_as_it_can_be_in_some_direction():
    """Twice the way along the ray towards the tip leaves the dual cone, up to the cone's parameter."""
    geometry, rng = Geometry(ALL), np.random.default_rng(1)
    z = geometry.inward(rng.normal(size=SIZE), 0.1)
    reach = geometry.reach(z)
    for cone, places in list(zip(ALL.cones, ALL.places, strict=True))[1:]:
        far = np.zeros(SIZE)
        far[places.start : places.stop] = -z[places.start : places.stop]
        least = np.linalg.lstsq(reach.toarray(), far, rcond=None)[0]
        assert np.linalg.norm(least) == pytest.approx(
            {"exponential": 3, "semidefinite": 3}.get(cone.kind, 2) ** 0.5, rel=1e-6
        )


def test_inward_leaves_what_is_inside():
    geometry, rng = Geometry(ALL), np.random.default_rng(2)
    z = geometry.inward(rng.normal(size=SIZE), 0.5)
    assert geometry.inward(z, 1e-3) == pytest.approx(z, abs=1e-12)


# What sparse equations lack is made up for exactly, by unknowns that can be changed.


def test_solutions_are_exact_with_dependent_equations_too():
    rng = np.random.default_rng(0)
    for _ in range(draws(30, 1000)):
        height, width = int(rng.integers(1, 7)), int(rng.integers(6, 12))
        A = np.where(rng.random((height, width)) < 0.5, rng.normal(size=(height, width)), 0.0)
        equations = [{j: exactly(x) for j, x in enumerate(row.tolist()) if x} for row in A]
        d = [exactly(x) for x in rng.normal(size=width).tolist()]
        equations.append({j: 3 * x for j, x in equations[0].items()})  # says what the first one says
        lacks = [sum((x * d[j] for j, x in equation.items()), fmpq(0)) for equation in equations]
        found = made_up(equations, lacks, rng.random(width) + 0.1)
        assert found is not None
        assert all(
            sum((x * found.get(j, fmpq(0)) for j, x in equation.items()), fmpq(0)) == lack
            for equation, lack in zip(equations, lacks, strict=True)
        )


def test_what_contradicts_itself_has_no_solution():
    equations = [{0: fmpq(1), 1: fmpq(1)}, {0: fmpq(2), 1: fmpq(2)}]
    assert made_up(equations, [fmpq(1), fmpq(3)], np.ones(2)) is None


def test_unknowns_that_cannot_be_changed_are_not():
    equations = [{0: fmpq(1), 1: fmpq(1), 2: fmpq(5)}]
    assert made_up(equations, [fmpq(2)], np.array([0.0, 1.0, 0.0])) == {1: 2}
    assert made_up(equations, [fmpq(2)], np.zeros(3)) is None
    assert made_up(equations, [fmpq(0)], np.zeros(3)) == {}


# Ranges of columns contain every feasible point that they are about.


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
        value = -case.value if model.maximises else case.value
        for cutoff in (None, fmpq(value.numerator, value.denominator) + fmpq(1, 10**6)):
            state = propagated(model.instance, cutoff)
            assert not state.empty
            for j, x in enumerate(case.x.tolist()):
                assert state.low[j] <= exactly(x) <= state.high[j], (seed, j)


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
        cones = (cone_of("nonnegative", len(caps)), cone_of(kind, 3))
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
