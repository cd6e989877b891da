"""The master of designs with constraints: against both mechanism updates, and against cvxpy's own atoms; bad input."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_matrix

import instances
from campaigns import draws, each
from dalenius.atoms import leakage
from dalenius.errors import InputError
from dalenius.programs import ConstrainedUpdate, MinDistortionProgram, MinLeakageProgram
from dalenius.programs.demands import Demands, Levels, LinearRows

PRIORS = [np.array([[0.4, 0.1, 0.0], [0.0, 0.2, 0.3]]), np.full((2, 3), 1 / 6)]
COST = (1.0 - np.eye(3)) / 3.0


def budget_row(most):
    return LinearRows(csr_matrix(COST.reshape(1, -1)), np.array([most]), np.array([False]))


def test_without_constraints_it_is_a_mechanism_update():
    inside = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    demands = Demands(budget_row(0.3), np.ones((3, 3), dtype=bool), inside)
    constant = Demands(LinearRows.none(9), inside > 0.0, np.full((3, 3), 1 / 3))
    one_level, none = Levels.of([True] * 2), Levels.of([False] * 2)
    for one, other in (
        (
            ConstrainedUpdate(PRIORS, [0.0] * 2, one_level, np.zeros((3, 3)), demands),
            MinLeakageProgram(PRIORS, COST, 0.3),
        ),
        (ConstrainedUpdate(PRIORS, [0.1] * 2, none, COST, constant), MinDistortionProgram(PRIORS, COST, 0.1)),
    ):
        found, truth = one.solve(solver="CLARABEL"), other.solve(solver="CLARABEL")
        instances.assert_honest(found, truth)
        assert found.gap < 1e-7


def test_own_constraints_are_about_its_mechanism_and_data_are_not_set():
    demands = Demands(budget_row(0.3), np.ones((3, 3), dtype=bool), np.full((3, 3), 0.1) + 0.7 * np.eye(3))
    update = ConstrainedUpdate(PRIORS, [0.0] * 2, Levels.of([True] * 2), np.zeros((3, 3)), demands)
    assert "Q (3, 3) is an expression" in repr(update)
    cp.Problem(update.problem.objective, [*update.problem.constraints, update.Q[0, 1] == 0.25]).solve("CLARABEL")
    assert update.Q.value[0, 1] == pytest.approx(0.25)
    with pytest.raises(InputError, match="make its block anew"):
        update.set(0.6)


def test_least_excess_is_the_least_leakage_less_the_limit():
    demands = Demands(budget_row(0.3), np.ones((3, 3), dtype=bool), np.full((3, 3), 0.1) + 0.7 * np.eye(3))
    excess = ConstrainedUpdate(PRIORS, [0.4] * 2, Levels.of([True] * 2), np.zeros((3, 3)), demands).solve(
        solver="CLARABEL"
    )
    least = MinLeakageProgram(PRIORS, COST, 0.3).solve(solver="CLARABEL")
    assert excess.lower <= least.upper - 0.4
    assert least.lower - 0.4 <= excess.upper
    assert excess.upper < 0.0


@each("unit", 1e-5, 1e15, 1e200)
def test_the_unit_of_the_cost_does_not_matter(unit):
    everywhere, row = np.ones((3, 3), dtype=bool), csr_matrix(unit * COST.reshape(1, -1))
    demands = Demands(
        LinearRows(row, np.array([0.3 * unit]), np.array([False])), everywhere, np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    )
    leaked = ConstrainedUpdate(PRIORS, [0.0] * 2, Levels.of([True] * 2), np.zeros((3, 3)), demands).solve(gap=1e-6)
    instances.assert_honest(leaked, MinLeakageProgram(PRIORS, COST, 0.3).solve(gap=1e-6))
    assert leaked.gap < 1e-6
    free = Demands(LinearRows.none(9), everywhere, np.full((3, 3), 1 / 3))
    within = ConstrainedUpdate(PRIORS, [0.1] * 2, Levels.of([False] * 2), unit * COST, free).solve(gap=1e-6)
    truth = MinDistortionProgram(PRIORS, COST, 0.1).solve(gap=1e-6)
    assert within.lower <= unit * truth.upper
    assert unit * truth.lower <= within.upper
    assert within.gap < 1e-6 * unit


@each("seed", *range(draws(6, 60)))
def test_random_programs_against_atoms_of_cvxpy(seed):
    program = instances.constrained_update(np.random.default_rng(seed), cones=seed % 2 == 0)
    levels = program.levels
    q, t = cp.Variable(program.support.shape, nonneg=True), cp.Variable(2)
    flat, rows = cp.vec(q, order="C"), program.demands.rows
    told = [leakage(q, p, output_law=None) for p in np.split(program.leakages.masses, program.leakages.first[1:])]
    limits = [
        told[s] <= program.limits[s] + (levels.rates[s] * t[levels.of_prior[s]] if levels.raised[s] else 0.0)
        for s in range(2)
    ]
    limits += [cp.sum(cp.multiply(charge, q)) <= t[0] for charge in levels.charges]
    sides = rows.matrix @ flat - rows.ends
    cones = [
        cp.norm((c.matrix @ flat + c.offset)[1:]) <= (c.matrix @ flat + c.offset)[0] for c in program.demands.cones
    ]
    model = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(program.cost, q)) + sum(worth * t[k] for k, worth in enumerate(levels.worth))),
        [cp.sum(q, axis=1) == 1, sides[0] <= 0, sides[1] == 0, q[0, -1] == 0, *limits, *cones],
    )
    value = float(model.solve(solver="CLARABEL"))
    answer = program.solve(solver="CLARABEL")
    assert answer.lower - 1e-6 <= value <= answer.upper + 1e-6
    assert answer.gap < 1e-5
    assert instances.violation(program, answer.point) < 1e-9


def test_a_point_beside_everything_is_mixed_until_it_meets_everything():
    rng = np.random.default_rng(0)
    program = instances.constrained_update(rng, cones=True)
    for _ in range(20):
        point = program.repair({"z": rng.random(int(program.support.sum()))})
        assert instances.violation(program, point) < 1e-9


def test_shapes_that_do_not_fit():
    demands = Demands(budget_row(0.3), np.ones((3, 3), dtype=bool), np.full((3, 3), 1 / 3))
    for limits, raised, cost in (
        ([0.0], [True] * 2, COST),
        ([0.0] * 2, [True], COST),
        ([0.0] * 2, [True] * 2, COST[:2]),
    ):
        with pytest.raises(InputError, match="constrained_update"):
            ConstrainedUpdate(PRIORS, limits, Levels.of(raised), cost, demands)
    for levels in (
        Levels(np.ones(2), np.array([0, 0]), np.ones(2), np.zeros((0, 1, 1))),
        Levels(np.ones(1), np.array([0, 0]), np.ones(2), np.zeros((1, 2, 3))),
    ):
        with pytest.raises(InputError, match=r"constrained_update: expected .*level"):
            ConstrainedUpdate(PRIORS, [0.0] * 2, levels, COST, demands)
