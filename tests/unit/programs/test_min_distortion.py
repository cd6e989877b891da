"""The least distortion under a leakage budget that is 0 or tiny; what both updates have is test_mechanism_update.py."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from campaigns import draws, thinned
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs import MinDistortionProgram, min_distortion
from dalenius.programs.mechanism import Leakages
from dalenius.programs.min_distortion import zero_leakage

FAIR = 0.5 * np.eye(2)
FLIP = 0.5 * (1.0 - np.eye(2))
FIRST_OF_TWO = np.array([[0.25, 0.25, 0.0, 0.0], [0.0, 0.0, 0.25, 0.25]])


def least_cost_without_leakage(laws, cost):
    """The cheapest mechanism that leaks nothing, by the linear program as one writes it down."""
    inputs, outputs = cost.shape
    rows = [np.kron(np.eye(inputs), np.ones(outputs))]
    ends = [np.ones(inputs)]
    for masses in laws:
        told = masses - masses.sum(axis=1, keepdims=True) * masses.sum(axis=0)
        rows += [np.kron(told, np.eye(outputs))]
        ends += [np.zeros(len(told) * outputs)]
    return float(linprog(cost.reshape(-1), A_eq=np.concatenate(rows), b_eq=np.concatenate(ends)).fun)


def test_a_mechanism_that_tells_nothing_though_it_is_not_constant():
    """The second bit may be told."""
    answer = MinDistortionProgram([FIRST_OF_TWO], 0.25 * (1.0 - np.eye(4)), 0.0).solve()
    assert answer.lower <= 0.5 <= answer.upper
    assert answer.gap <= 1e-8


@pytest.mark.parametrize("budget", thinned([0.0, 1e-300, 1e-17, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4], every=8))
def test_the_tiniest_budgets(instances, budget):
    rng = np.random.default_rng(9)
    for _ in range(4):
        inputs, outputs = rng.integers(4, 7, size=2)
        laws = [rng.dirichlet(np.ones(2 * inputs)).reshape(2, inputs) for _ in range(rng.integers(1, 3))]
        cost = rng.random((inputs, outputs)) / inputs
        program = MinDistortionProgram(laws, cost, budget)
        answer, exact = program.solve(), least_cost_without_leakage(laws, cost)
        assert answer.lower <= exact + 1e-12
        assert abs(answer.upper - exact) <= 3.0 * math.sqrt(budget) + 1e-9
        assert answer.gap <= 1e-6 * answer.upper
        assert program.leakage(answer.point["q"]) <= budget + 2.0 * min_distortion.NOTHING
        if budget == 0.0:
            assert exact <= answer.upper + 1e-12  # not below it: rounding does not pass for zero leakage
            assert answer.gap <= 1e-8 * answer.upper


def test_zero_leakage_is_exact_and_its_slopes_prove_it(instances):
    rng = np.random.default_rng(10)
    for _ in range(draws(5, 20)):
        laws, cost = instances.update_data(rng)
        leakages, tied = Leakages("test", laws, len(cost)), TiedEntries.free(*cost.shape)
        found = zero_leakage(leakages, tied, cost, math.inf)
        assert leakages.values(found.q).max() <= min_distortion.NOTHING
        exact = least_cost_without_leakage(laws, cost)
        assert np.sum(cost * found.q) == pytest.approx(exact, abs=1e-9)
        told = leakages.masses - leakages.pi[:, None] * leakages.sums(leakages.masses)[leakages.owner]
        assert (cost + told.T @ found.slopes).min(axis=1).sum() == pytest.approx(exact, abs=1e-7)
    assert zero_leakage(leakages, tied, cost, 0.0) is None or cost.size < 100


def test_nothing_can_be_told_where_letters_are_independent_of_inputs():
    cost = np.random.default_rng(11).random((4, 3))
    prior = np.outer([0.3, 0.7], [0.1, 0.2, 0.3, 0.4])
    for priors in ([prior], [np.full((1, 4), 0.25)]):
        answer = MinDistortionProgram(priors, cost, 0.0).solve()
        assert answer.lower <= cost.min(axis=1).sum() <= answer.upper
        assert answer.gap <= 1e-10


@pytest.mark.parametrize("budget", [0.0, 1e-17, 1e-12, 1e-3])
def test_letters_that_nearly_do_not_exist(budget):
    """Multipliers of 1e15 and more then meet ratios of 1e-15: neither end may move by what rounding makes of them."""
    rng = np.random.default_rng(18)
    for _ in range(draws(1, 20)):
        shape = (rng.integers(2, 5), rng.integers(2, 6))
        masses = rng.random(shape) * 10.0 ** rng.uniform(-rng.choice([18, 300]), 0, size=shape)
        cost = rng.random((shape[1], 3))
        answer = MinDistortionProgram([masses / masses.sum()], cost, budget).solve()
        assert answer.lower <= answer.upper
        assert answer.upper <= cost.sum(axis=0).min() + 1e-11


def test_a_failing_linear_program_is_no_failure(monkeypatch):
    asked = []
    monkeypatch.setattr(min_distortion, "zero_leakage", lambda *_: asked.append(1))
    answer = MinDistortionProgram([FIRST_OF_TWO], 0.25 * (1.0 - np.eye(4)), 0.0).solve()
    assert len(asked) == 1
    assert answer.lower <= 0.5 <= answer.upper


def test_zero_costs(instances):
    laws, cost = instances.update_data(np.random.default_rng(14), least=3)
    assert MinDistortionProgram(laws, 0.0 * cost, 0.0).solve().upper <= 1e-11
    cost[0], cost[:, -1] = 0.0, 1.0
    answer = MinDistortionProgram(laws, cost, 0.01).solve()
    assert answer.gap <= 1e-8 * answer.upper + 1e-11


@pytest.fixture
def looks(monkeypatch):
    """A fair bit with a budget; and every mechanism whose leakage is looked at."""
    seen, values = [], Leakages.values
    monkeypatch.setattr(Leakages, "values", lambda self, Q: seen.append(Q) or values(self, Q))
    return MinDistortionProgram([FAIR], FLIP, max_leakage=0.2), seen


def test_where_a_budget_is_spent_is_found_in_few_looks(looks):
    """It was halved sixty times, which took longer than all else in a program of many letters."""
    program, seen = looks
    for near in (1e-9, 0.01, 0.3):
        seen.clear()
        q = program.feasible((1.0 - near) * np.eye(2) + near * 0.5)
        assert len(seen) < 20
        assert 0.2 - 1e-14 < program.leakage(q) <= 0.2 + 1e-14


def test_our_own_method_takes_no_further_step_once_it_is_stopped(looks):
    program, seen = looks
    program.stopped = lambda: len(seen) > 0
    stopped = program.solve(solver="own")
    few = len(seen)
    program.stopped = lambda: False
    assert program.solve(solver="own").gap < 1e-6 < stopped.gap
    assert len(seen) > 3 * few
