"""Intervals for models of one's own: planted optima, closed forms, honest statuses, clear errors."""

import json
import math
import statistics
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq

import planted
from campaigns import draws, each, thinned
from cvxcertify import Claim, InputError, ProofRefusedWarning, Standing, Termination, certify, search
from cvxcertify.check import check_interval
from liars import bent, broken, liar, swapped, wild

KINDS = list(planted.MAKERS)


def contains(found, value):
    """Exactly: fractions and doubles are compared as the numbers that they are."""
    return found.lower <= value <= found.upper


@pytest.mark.campaign(minutes=1)
def test_planted_optima_are_inside_narrow_intervals():
    """Over every cone; 1,000 models in the whole campaign."""
    gaps = []
    for seed in range(draws(15, 300, 1000)):
        case = planted.planted(np.random.default_rng(seed), KINDS[seed % len(KINDS)])
        found = certify(case.problem)
        assert found.status is Standing.INTERVAL, (seed, found)
        assert found.claim is Claim.MODEL
        assert contains(found, case.value), (seed, case.kind, case.value, found)
        gaps.append(found.gap)
    assert statistics.median(gaps) <= (1e-10 if len(gaps) >= 300 else 2e-10)


@pytest.mark.parametrize("solver", ["SCS", "CLARABEL"])
def test_every_solver_proves(solver):
    for seed in range(draws(3, 50)):
        case = planted.planted(np.random.default_rng(1000 + seed), KINDS[seed % len(KINDS)])
        found = certify(case.problem, solver=solver)
        assert contains(found, case.value), seed
        assert found.gap <= 1e-5 or case.value == 0, seed
        assert found.bound_by == found.point_by == solver


@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_of_entropies(seed):
    """The relative entropy with a linear cost is -log sum q exp(-c) at its least, the maximal entropy log n, ..."""
    rng = np.random.default_rng(seed)
    q, c = rng.dirichlet(np.ones(6)), rng.normal(size=6)
    p = cp.Variable(6)
    least = -math.log(math.fsum(q * np.exp(-c)))
    found = certify(cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(p, q)) + c @ p), [cp.sum(p) == 1]))
    assert found.lower - 1e-14 <= least <= found.upper + 1e-14
    assert found.gap <= 1e-7
    found = certify(cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1]))
    assert found.lower - 1e-14 <= math.log(6) <= found.upper + 1e-14
    assert found.gap <= 1e-7


x, y = cp.Variable(3, name="x"), cp.Variable(name="y")
AT = np.array([0.5, -0.25, 1.5])
M = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.25], [0.0, -0.25, 1.5]])
X = cp.Variable((3, 3), symmetric=True)
CONVEX = [
    cp.abs(x)[0],
    cp.sum(cp.exp(x)),
    cp.sum(cp.huber(x, 0.75)),
    cp.log_sum_exp(x),
    cp.sum(cp.logistic(x)),
    cp.max(x),
    cp.sum(cp.maximum(x, 0.125)),
    cp.norm1(x),
    cp.norm_inf(x),
    cp.norm(x, 2),
    cp.norm(x, 3),
    cp.sum_squares(x),
    cp.quad_over_lin(x, y),
    cp.sum_largest(x, 2),
    cp.sum(cp.power(cp.pos(x), 1.5)),
    cp.sum(cp.inv_pos(y + x)),
    cp.sum(cp.kl_div(x + 1, y)),
    cp.sum(cp.rel_entr(x + 1, y)),
    cp.rel_entr(x + 1, y)[1],
    cp.exp(x)[2],
    cp.sum(cp.xexp(cp.pos(x))),
    cp.sum(cp.cummax(x)),
    cp.lambda_max(X),
    cp.sigma_max(X),
    cp.normNuc(X),
    cp.matrix_frac(x, X),
    cp.tr_inv(X),
]
CONCAVE = [
    cp.sum(cp.entr(x + 1)),
    cp.sum(cp.log(x + 1)),
    cp.sum(cp.log1p(x)),
    cp.min(x),
    cp.sum(cp.minimum(x, 0.125)),
    cp.geo_mean(x + 1),
    cp.geo_mean(x + 1, [0.25, 0.5, 0.125]),
    cp.sum(cp.sqrt(x + 1)),
    cp.log_det(X),
]


@pytest.mark.parametrize("atom", thinned(CONVEX + CONCAVE, every=3), ids=lambda atom: str(atom)[:40])
def test_the_cones_of_an_atom_say_what_it_says(atom):
    """At a known point its value is the only one there is; these atoms count as exact."""
    goal = cp.Minimize(atom) if atom.is_convex() else cp.Maximize(atom)
    there = {variable.id for variable in atom.variables()}
    fixed = [variable == value for variable, value in ((x, AT), (y, 2.0), (X, M)) if variable.id in there]
    found = certify(cp.Problem(goal, fixed), gap=1e-6, solver="CLARABEL")
    assert found.claim is Claim.MODEL
    for variable, value in ((x, AT), (y, 2.0), (X, M)):
        variable.value = value
    assert found.lower - 1e-9 <= float(atom.value) <= found.upper + 1e-9
    end = found.lower if atom.is_convex() else found.upper
    assert abs(end - float(atom.value)) <= 1e-6 * (1.0 + abs(float(atom.value)))


@pytest.mark.parametrize(
    ("atom", "name"),
    [
        (cp.quad_form(x, M), "QuadForm"),
        (cp.sum(cp.power(x, 2.0001)), "PowerApprox"),
        (-cp.geo_mean(x + 1, [0.3, 0.3, 0.4]), "GeoMeanApprox"),
        (cp.sum(x) * cp.log(3.0), "log"),
        (cp.sum(cp.convolve(np.array([0.1, 0.3]), x)), "convolve"),
        (cp.perspective(cp.sum_squares(x), cp.Variable(nonneg=True, name="s")), "perspective"),
    ],
    ids=["decomposition", "exponent", "weights", "constant", "not read exactly", "unknown"],
)
def test_where_numbers_were_rounded_the_claim_is_about_the_conic_form(atom, name):
    found = certify(cp.Problem(cp.Minimize(atom), [x >= 0.1, x <= 1, *(v <= 2 for v in atom.variables())]), gap=1e-3)
    assert found.claim is Claim.CONIC_FORM
    assert name in found.rounded
    assert "of the conic form" in str(found)


def test_sums_of_doubles_are_not_rounded():
    """0.1 + 0.2 is not 0.3, and 0.1 and 0.2 are not even themselves: the optimum is 3 (0.1 + 0.2), exactly."""
    model = cp.Problem(cp.Maximize(0.1 * y + 0.2 * y), [y <= 3, y >= 0])
    assert contains(certify(model), 3 * (Fraction(0.1) + Fraction(0.2)))


def test_infeasible_and_unbounded_models_are_called_so_with_a_proof():
    infeasible = certify(cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x) <= 1, x[0] >= 1.5]))
    assert (infeasible.lower, infeasible.upper) == (math.inf, math.inf)
    assert (infeasible.status, infeasible.termination) == (Standing.INFEASIBLE, Termination.INFEASIBLE)
    assert certify(cp.Problem(cp.Maximize(cp.sum(x)), [cp.norm(x) <= 1, x[0] >= 1.5])).upper == -math.inf
    unbounded = certify(cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x[:2]) <= 1]))
    assert (unbounded.lower, unbounded.upper, unbounded.status) == (-math.inf, -math.inf, Standing.UNBOUNDED)
    for found in (infeasible, unbounded):
        assert check_interval(found.proof.encode()).proved


def test_a_missing_bound_names_the_variable():
    found = certify(cp.Problem(cp.Maximize(cp.log(y) - x[1]), [x[1] >= 0]))
    assert found.status is Standing.POINT_ONLY
    assert found.advice.startswith("no range is known of ")
    assert "y" in found.advice.split(":")[0].removeprefix("no range is known of ").split(", ")
    assert certify(cp.Problem(cp.Maximize(cp.log(y) - x[1]), [x[1] >= 0]), ranges={y: (0, 4)}).gap <= 1e-8


def test_unbounded_variables_are_no_obstacle_in_themselves():
    """Least squares with a penalty, in variables without any bounds."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(8, 3)), rng.normal(size=8)
    assert certify(cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + cp.norm1(x)))).gap <= 1e-7


Q4 = np.array([0.125, 0.25, 0.25, 0.375])
p, q = cp.Variable(4, nonneg=True, name="p"), cp.Variable(4, nonneg=True, name="q")
S, T = cp.Variable((2, 2), symmetric=True), cp.Variable((3, 3), symmetric=True)
LAW = [cp.sum(p) == 1]
ON_THE_BOUNDARY = (  # models without a point strictly inside, and their least values
    (x[0], [cp.norm(x - AT) <= 0, x <= 9, x >= -9], 0.5),
    (x[0], [cp.sum_squares(x - AT) <= 0], 0.5),
    (cp.exp(x[0]) + x[1], [x[0] + x[1] <= 1, x[0] + x[1] >= 1, x >= -1, x <= 2], 2),
    (p[0], [cp.sum(cp.rel_entr(p, Q4)) <= 0, *LAW], 0.125),
    (p[0], [cp.sum(cp.kl_div(p, Q4)) <= 0], 0.125),
    (p[0] + 2 * q[1], [cp.sum(cp.rel_entr(p, q)) <= 0, *LAW, cp.sum(q) == 1, p >= 0.125, q >= 0.0625], 0.375),
    (p[0], [cp.quad_over_lin(p - Q4, 1.0) <= 0, *LAW], 0.125),
    (p[0], [cp.norm1(p - Q4) <= 0, *LAW], 0.125),
    (
        p[3] - p[0],
        [cp.sum(cp.rel_entr(p, cp.hstack([p[0] + p[1], p[0] + p[1], p[2] + p[3], p[2] + p[3]]) / 2)) <= 0, *LAW],
        -0.5,
    ),
    (S[0, 1], [S >> 0, cp.trace(S) == 0], 0),
    (S[0, 1] + S[1, 1], [S >> 0, S[0, 0] == 1, S[0, 1] == 1, S[1, 1] <= 1], 2),
    (S[0, 1], [cp.lambda_max(S) <= 1, cp.trace(S) >= 2], 0),
    (T[0, 1] + T[1, 2], [T >> 0, T[0, 0] == 0, T[1, 1] <= 1, T[2, 2] <= 1], -1),
    (x[2] + y, [cp.norm(x[:2]) <= y, y == 5 * x[2], x[0] == 3 * x[2], x[1] == 4 * x[2], x[2] >= 1, x[2] <= 4], 6),
    (x[0], [cp.exp(x[0]) <= x[1], x[1] <= 1, x[0] >= 0], 0),
    (-x[0], [cp.geo_mean(x) >= 1, x <= 1], -1),
    (-x[0], [cp.log(x[0]) >= 0, x[0] <= 1], -1),
)


@each("cost, constraints, value", *ON_THE_BOUNDARY, every=8)
def test_what_is_met_on_the_boundary_alone_has_an_interval(cost, constraints, value):
    """Of limits of 0, cones of which a face is left, matrices without full rank."""
    found = certify(cp.Problem(cp.Minimize(cost), constraints))
    assert contains(found, value)
    assert found.status is Standing.INTERVAL
    assert found.upper - found.lower <= 1e-4


def test_an_entry_that_is_0_costs_no_width():
    """A solver's 0 is below 0 by 1e-12: the rest of its point is as good as it was."""
    W = cp.Variable((3, 3), nonneg=True)
    parts = np.array([[0.25, 0.25, 0.0], [0.0, 0.25, 0.25]]) @ W
    leakage = cp.sum([cp.sum(cp.rel_entr(part, cp.sum(parts, axis=0) / 2)) for part in parts])
    wrong = cp.sum(cp.multiply(np.abs(np.subtract.outer(range(3), range(3))), W)) / 3
    found = certify(cp.Problem(cp.Minimize(leakage), [cp.sum(W, axis=1) == 1, wrong <= 0.3, W[0, 2] == 0]))
    assert found.gap <= 1e-6


def test_values_are_of_the_certified_point_and_the_model_is_left_alone():
    P = cp.Variable((2, 2), PSD=True, name="P")
    same = cp.Variable(2, name="P", nonneg=True)
    P.value, same.value = np.eye(2), np.array([7.0, 7.0])
    model = cp.Problem(cp.Maximize(P[0, 1] - same[0]), [cp.trace(P) <= 2, same[1] == 0.5, same[0] <= 1])
    found = certify(model)
    assert found.values["P"] == pytest.approx(np.ones((2, 2)), abs=1e-6)
    assert found.values["P_2"] == pytest.approx([0.0, 0.5], abs=1e-6)
    assert P.value.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert same.value.tolist() == [7.0, 7.0]
    assert model.status is None


def test_matrices_keep_their_rows_and_columns():
    A = np.arange(1.0, 7.0).reshape(2, 3) / 8.0
    Z = cp.Variable((2, 3), name="Z")
    found = certify(cp.Problem(cp.Minimize(cp.sum(cp.multiply(A, Z))), [Z >= A, Z <= 4]))
    assert found.values["Z"] == pytest.approx(A, abs=1e-7)
    assert contains(found, sum(Fraction(a) ** 2 for a in A.reshape(-1).tolist()))


def test_parameters_are_taken_as_they_are():
    most = cp.Parameter(name="most")
    model = cp.Problem(cp.Maximize(most * y), [y <= most])
    with pytest.raises(InputError, match="most has no value"):
        certify(model)
    most.value = 0.1
    assert contains(certify(model), Fraction(0.1) ** 2)


def test_a_proof_is_a_file_that_the_checker_reads(tmp_path):
    found = certify(cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 3]))
    verdict = check_interval(found.write(tmp_path / "interval.json").read_bytes())
    assert verdict.proved
    assert Fraction(found.lower) <= verdict.lower <= verdict.upper <= Fraction(found.upper)
    assert str(found).startswith(" .. ".join(found.ends))


@pytest.mark.parametrize(("end", "part"), [("lower", "bound"), ("upper", "mixed")])
def test_an_end_that_the_checker_refuses_is_infinite(end, part, monkeypatch):
    """A defect here costs an end, and never makes it wrong."""
    model = cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 3])
    honest = getattr(search, part)

    def better(*given, **named):
        found = honest(*given, **named)
        step = fmpq(1, 1000) * (1 if end == "lower" else -1)
        return found if found is None or found.value is None else replace(found, value=found.value + step)

    monkeypatch.setattr(search, part, better)
    with pytest.warns(ProofRefusedWarning):
        found = certify(model)
    assert (found.lower, found.upper).count(math.inf) + (found.lower, found.upper).count(-math.inf) == 1
    assert math.isinf(getattr(found, end))
    assert found.termination is Termination.PROOF_REFUSED
    assert found.lower <= math.sqrt(3) <= found.upper


def test_no_time_is_no_interval_and_no_error():
    found = certify(cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 3]), time_limit=0)
    assert (found.lower, found.upper) == (-math.inf, math.inf)
    assert (found.status, found.termination) == (Standing.NOTHING, Termination.TIME_LIMIT)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: "min x", "expected a cvxpy.Problem"),
        (lambda: cp.Problem(cp.Minimize(cp.sqrt(y))), "the objective, .*not DCP"),
        (lambda: cp.Problem(cp.Minimize(y), [y >= 0, cp.sqrt(y) <= 1]), "constraint 1, .*not DCP"),
        (lambda: cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, integer=True, name="n")))), "n is integer"),
        (lambda: cp.Problem(cp.Minimize(cp.abs(cp.Variable(complex=True, name="w")))), "w is complex"),
        (lambda: cp.Problem(cp.Minimize(cp.Constant(1.0))), "no variables"),
        (
            lambda: cp.Problem(cp.Minimize(y), [cp.constraints.RelEntrConeQuad(y, y + 1, y - 1, 2, 2)]),
            "RelEntrConeQuad.*only zero, nonnegative, second-order",
        ),
        (lambda: cp.Problem(cp.Minimize(np.inf * y), [y >= 0]), "finite numbers"),
        (lambda: cp.Problem(cp.Minimize(y), [y >= np.nan]), "or NaN"),
        (lambda: cp.Problem(cp.Minimize(y), [y >= cp.Parameter(name="least")]), "parameter least has no value"),
    ],
    ids=["text", "objective", "constraint", "integer", "complex", "constant", "cone", "infinite", "NaN", "parameter"],
)
def test_what_cannot_be_certified_is_refused_by_name(make, words):
    with pytest.raises(InputError, match=words):
        certify(make())


@pytest.mark.parametrize("solver", ["own", "simplex"])
def test_solvers_that_cannot_solve_it(solver):
    with pytest.raises(InputError, match="solver: "):
        certify(cp.Problem(cp.Minimize(cp.norm(x))), solver=solver)


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ({"x": (0, 1)}, "expected variables of the problem"),
        ({y: (0, 1)}, "expected variables of the problem"),
        ({x: 3}, "expected \\(low, high\\) for x"),
        ({x: (0, np.ones(4))}, "arrays of shape \\(3,\\)"),
        ({x: (1, 0)}, "low <= high"),
    ],
    ids=["name", "foreign", "one number", "shape", "order"],
)
def test_ranges_that_are_none(ranges, words):
    with pytest.raises(InputError, match=words):
        certify(cp.Problem(cp.Minimize(cp.norm(x))), ranges=ranges)


# Solvers that lie about a model of one's own: whatever they say, no bound is wrong, and nothing crashes.


def holds(found, value):
    """Whether the interval contains the value, and is what its proof proves."""
    return found.lower <= value <= found.upper and (
        found.status is Standing.NOTHING or check_interval(found.proof.encode()).proved
    )


@pytest.mark.parametrize("lie", [wild, broken, bent, swapped])
def test_no_lie_moves_a_bound_past_the_truth(lie, monkeypatch):
    for seed in range(draws(2, 75)):
        rng = np.random.default_rng(seed)
        case = planted.planted(rng, KINDS[seed % len(KINDS)])
        with monkeypatch.context() as patch:
            patch.setattr(cp.Problem, "solve", liar(rng, lie))
            found = certify(case.problem, solver="CLARABEL")
        assert holds(found, case.value), (seed, lie.__name__, case.value, found)


def test_made_up_numbers_from_outside():
    for seed in range(draws(3, 100)):
        rng = np.random.default_rng(seed)
        case = planted.planted(rng, KINDS[seed % len(KINDS)])
        first = certify(case.problem, time_limit=0)
        assert first.status is Standing.NOTHING
        proof = json.loads(first.proof)
        x, z = (wild(rng, (size,)) for size in (len(proof["columns"]), sum(size for _, size in proof["cones"])))
        found = certify(case.problem, x=x, z=z, solver="CLARABEL")
        assert holds(found, case.value), (seed, found)


def test_a_solver_that_dies_or_says_nothing_leaves_no_interval(monkeypatch):
    case = planted.planted(np.random.default_rng(0), "exponential")

    def dies(*_, **__):
        raise BaseException("panicked")

    for solve in (dies, lambda *_, **__: None):
        monkeypatch.setattr(cp.Problem, "solve", solve)
        found = certify(case.problem)
        assert found.status is Standing.NOTHING
        assert found.advice.startswith("no solver brought anything usable")


def test_a_feasible_model_is_never_called_infeasible(monkeypatch):
    """Though every solver says so, with any multipliers."""
    for seed in range(draws(3, 50)):
        rng = np.random.default_rng(seed)
        case = planted.planted(rng, KINDS[seed % len(KINDS)])

        def says_infeasible(problem, *_, rng=rng, **__):
            for variable in problem.variables():
                variable.save_value(None)
            for constraint in problem.constraints:
                for dual in constraint.dual_variables:
                    dual.save_value(np.abs(wild(rng, dual.shape)))
            problem._status, problem._value = "infeasible", math.inf

        with monkeypatch.context() as patch:
            patch.setattr(cp.Problem, "solve", says_infeasible)
            found = certify(case.problem, solver="CLARABEL")
        assert found.status not in (Standing.INFEASIBLE, Standing.UNBOUNDED)
        assert holds(found, case.value)
