"""Whoever solves the programs of a design, or of an alternating scheme: the same answers, from DCP models in exponential cones."""

import warnings
from collections import Counter

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.alternating import CycleWarning
from support import refuses

BITS = {"records": dl.Records(2, alphabet=2), "query": dl.Count()}
UNKNOWN = dl.EntropyAtLeast("0.5 max")
LISTED = dl.PriorSet([["1/4"] * 4, ["1/2", 0, 0, "1/2"], ["0.1", "0.6", "0.1", "0.2"]])
DESIGNS = {
    "leakage": dl.MinLeakage(distortion=dl.Absolute(), max_distortion="0.3", adversary=LISTED, **BITS),
    "distortion": dl.MinDistortion(distortion=dl.Absolute(), max_leakage="0.15 nats", adversary=LISTED, **BITS),
    "additive": support.design(
        dl.MinLeakage,
        dl.Records(2, alphabet=3),
        dl.ModularSum(3),
        dl.Hamming(),
        "0.3",
        dl.PriorSet([["1/9"] * 9, ["1/3", 0, 0, 0, "1/3", 0, 0, 0, "1/3"]]),
        mechanism="additive",
    ),
    "unlisted": dl.MinLeakage(distortion=dl.Absolute(), max_distortion="0.3", adversary=UNKNOWN, **BITS),
}
AUDIT = dl.WorstCaseLeakage(mechanism=dl.geometric(1.0, range=2), adversary=UNKNOWN, **BITS)


@pytest.fixture
def solved(monkeypatch):
    """Every model that is handed to cvxpy from now on: which solver, and the model."""
    seen, real = list[tuple[str, cp.Problem]](), cp.Problem.solve

    def solve(problem, *args, **settings):
        seen.append((settings["solver"], problem))
        return real(problem, *args, **settings)

    monkeypatch.setattr(cp.Problem, "solve", solve)
    return seen


def assert_conic(seen, solver):
    """DCP and DPP, with exponential cones in what the solver gets."""
    assert {name for name, _ in seen} == {solver}
    for problem in {id(problem): problem for _, problem in seen}.values():
        assert problem.is_dcp(dpp=True)
        assert problem.get_problem_data(cp.CLARABEL)[0]["dims"].exp > 0


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("name", [*list(DESIGNS)[:3], pytest.param("unlisted", marks=pytest.mark.thorough)])
def test_a_design_by_a_conic_solver_is_our_own(name, solver, solved):
    problem = DESIGNS[name]
    gap = 2e-2 if name == "unlisted" else 1e-4
    own = dl.solve(problem, solver="own", gap=gap, time_limit=60.0)
    assert not solved, "our own method has no cvxpy"
    conic = dl.solve(problem, solver=solver, gap=gap, time_limit=60.0)
    assert_conic(solved, solver.upper())
    (use,) = conic.solvers
    assert (use.block, use.solver) == ("min_distortion" if name == "distortion" else "min_leakage", solver)
    assert use.solves == len(solved) >= conic.rounds > 0
    assert "lower" in use.ends
    assert own.lower <= conic.upper
    assert conic.lower <= own.upper
    assert dl.verify(problem, conic.certificate).proved
    if name != "additive":  # entries that are tied across inputs are nothing for our own method
        assert [use.solver for use in own.solvers] == ["own"]
        assert "upper" in use.ends
        assert conic.gap <= gap


def test_left_to_itself_a_design_is_ours_and_clarabels_where_entries_are_tied(solved):
    result = dl.solve(DESIGNS["leakage"], gap=1e-4)
    assert not solved
    assert {use.solver for use in result.solvers} == {"own"}
    tied = dl.solve(DESIGNS["additive"], gap=1e-4)
    assert_conic(solved, "CLARABEL")
    assert {use.solver for use in tied.solvers if use.ends} == {"clarabel"}


def test_every_block_of_an_alternating_audit_by_a_conic_solver(solved):
    own = dl.solve(AUDIT, method="alternating", solver="own", gap=1e-2, time_limit=60.0)
    assert not solved
    conic = dl.solve(AUDIT, method="alternating", solver="clarabel", gap=1e-2, time_limit=60.0)
    assert_conic(solved, "CLARABEL")
    assert sum(use.solves for use in conic.solvers) == len(solved) > 0
    assert {use.block for use in conic.solvers} <= {"posterior", "marginal", "row", "conditionals"}
    assert {use.solver for use in own.solvers} == {"own"}
    plain = dl.solve(AUDIT, gap=1e-2, time_limit=60.0)
    assert not plain.solvers
    assert max(r.lower for r in (own, conic, plain)) <= min(r.upper for r in (own, conic, plain))


def test_both_blocks_of_an_alternating_design_by_a_conic_solver(solved):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CycleWarning)
        result = dl.solve(DESIGNS["leakage"], method="alternating", solver="clarabel", gap=5e-2, time_limit=10.0)
    assert_conic(solved, "CLARABEL")
    (alternation,) = result.alternating
    assert set(alternation.gains) == {"mechanism", "adversary"}
    assert Counter(use.block for use in result.solvers) == {"min_leakage": 1}
    best = dl.solve(DESIGNS["leakage"], gap=1e-3, time_limit=60.0)
    assert result.lower <= best.upper
    assert best.lower <= result.upper


@pytest.mark.parametrize("name", ["leakage", "distortion"])
def test_a_solver_that_answers_nonsense_costs_width_and_nothing_else(name, monkeypatch):
    truth = dl.solve(DESIGNS[name], gap=1e-3, time_limit=60.0)
    rng = np.random.default_rng(3)

    def lie(problem, *_, **__):
        for variable in problem.variables():
            variable.save_value(np.abs(rng.normal(size=variable.shape)))
        for constraint in problem.constraints:
            for dual in constraint.dual_variables:
                dual.save_value(rng.normal(size=dual.shape))
        problem._status = "optimal"

    monkeypatch.setattr(cp.Problem, "solve", lie)
    result = dl.solve(DESIGNS[name], solver="clarabel", gap=1e-3, time_limit=0.5)
    assert result.lower <= truth.upper
    assert truth.lower <= result.upper
    assert dl.verify(DESIGNS[name], result.certificate).proved


# ---------------------------------------------------------------- what has no meaning is refused


test_what_has_no_meaning_is_refused = refuses(
    (AUDIT, {"solver": "clarabel"}, "an audit has programs to solve only where the alternating scheme searches"),
    (AUDIT, {"solver": "simplex"}, "solver: expected one of auto, own, clarabel, mosek, scs; got 'simplex'"),
    (AUDIT, {"solver": None}, "solver: expected one of"),
    (AUDIT, {"method": "exchange"}, "method: of an audit expected alternating, or none; got 'exchange'"),
    (
        dl.WorstCaseLeakage(**BITS, adversary=dl.ProductPriors(), mechanism=dl.geometric(1.0, range=2)),
        {"method": "alternating"},
        "leave it out, the leakage is computed",
    ),
    (
        dl.MinDistortion(
            records=dl.Records(1, alphabet=2), query=dl.Identity(), distortion=dl.Hamming(), privacy=dl.LocalDP(1)
        ),
        {"solver": "clarabel"},
        ["a design under", "privacy", "is a linear program"],
    ),
    by=lambda problem, options: dl.solve(problem, **options),
)


def test_a_solver_that_is_not_there_is_refused_before_any_work(monkeypatch, solved):
    monkeypatch.setattr("cvxcertify.solvers.installed", lambda: frozenset(["CLARABEL"]))
    for problem, options in ((DESIGNS["leakage"], {}), (AUDIT, {"method": "alternating"})):
        for solver in ("mosek", "scs"):
            with pytest.raises(dl.errors.InputError, match=f"{solver.upper()} is not installed; pip install {solver}"):
                dl.solve(problem, solver=solver, **options)
    assert not solved
