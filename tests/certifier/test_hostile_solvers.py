"""Solvers that lie about a model of one's own: whatever they say, no bound is wrong, and nothing crashes."""

import json
import math

import cvxpy as cp
import numpy as np
import pytest

import planted
from campaigns import draws
from cvxcertify import Standing, certify
from cvxcertify.check import check_interval

HONEST = cp.Problem.solve
KINDS = list(planted.MAKERS)
STATUSES = ("optimal", "optimal_inaccurate", "user_limit", "infeasible", "unbounded", "None")


def wild(rng, shape, _):
    """Numbers of all sizes and signs."""
    kind = rng.integers(5)
    if kind == 0:
        return rng.normal(size=shape)
    if kind == 1:
        return rng.choice([-1.0, 1.0], size=shape) * 10.0 ** rng.uniform(-320, 308, size=shape)
    if kind == 2:
        return np.where(rng.random(shape) < 0.7, 0.0, rng.random(shape))
    if kind == 3:
        return np.full(shape, rng.choice([0.0, 1.0, -1.0, 5e-324, 1e308]))
    return np.where(rng.random(shape) < 0.2, np.nan, 1.0)


def broken(rng, shape, _):
    """What is no array of numbers of this shape."""
    choices = [
        "garbage",
        {"x": 3},
        None,
        np.array([]),
        np.ones((*shape, 2)),
        np.full(shape, 1j),
        np.array([None], dtype=object),
    ]
    return choices[rng.integers(len(choices))]


def bent(rng, _, honest):
    """Nearly the truth, and better than it."""
    honest = np.asarray(honest, dtype=float)
    return (
        honest * (1.0 + 10.0 ** rng.uniform(-12, 0) * rng.choice([-1.0, 1.0]))
        + 10.0 ** rng.uniform(-12, -1) * rng.normal()
    )


def swapped(rng, _, honest):
    """The right numbers in the wrong places, or with the wrong sign."""
    honest = np.asarray(honest, dtype=float)
    return rng.choice([-1.0, 1.0]) * rng.permutation(honest.reshape(-1)).reshape(honest.shape)


def liar(rng, lie):
    """Says what `lie` makes of the shape and of the honest number."""

    def solve(problem, *args, **rest):
        HONEST(problem, *args, **rest)
        for variable in problem.variables():
            variable.save_value(
                lie(rng, variable.shape, variable.value if variable.value is not None else np.zeros(variable.shape))
            )
        for constraint in problem.constraints:
            for dual in constraint.dual_variables:
                dual.save_value(lie(rng, dual.shape, dual.value if dual.value is not None else np.zeros(dual.shape)))
        problem._status = rng.choice(STATUSES)

    return solve


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
        x, z = (wild(rng, (size,), None) for size in (len(proof["columns"]), sum(size for _, size in proof["cones"])))
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
                    dual.save_value(np.abs(wild(rng, dual.shape, None)))
            problem._status, problem._value = "infeasible", math.inf

        with monkeypatch.context() as patch:
            patch.setattr(cp.Problem, "solve", says_infeasible)
            found = certify(case.problem, solver="CLARABEL")
        assert found.status not in (Standing.INFEASIBLE, Standing.UNBOUNDED)
        assert holds(found, case.value)
