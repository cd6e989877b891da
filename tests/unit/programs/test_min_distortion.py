"""The least distortion under a leakage budget: distortion-rate functions, general optimisers, two solvers, zero leakage, bad input."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, linprog, minimize

from campaigns import draws, each, thinned
from dalenius.errors import InputError
from dalenius.model.mechanism_classes import Additive, TiedEntries
from dalenius.outcome import Termination
from dalenius.programs import MinDistortionProgram, MinLeakageProgram, min_distortion
from dalenius.programs.mechanism import Leakages
from dalenius.programs.min_distortion import zero_leakage

FAIR = 0.5 * np.eye(2)
FLIP = 0.5 * (1.0 - np.eye(2))
FIRST_OF_TWO = np.array([[0.25, 0.25, 0.0, 0.0], [0.0, 0.0, 0.25, 0.25]])
CIRCLE = (np.arange(5) - np.arange(5)[:, None]) % 5


def largest(laws, cost, instances):
    """What the mechanism of least distortion tells, at most."""
    cheapest = np.eye(cost.shape[1])[cost.argmin(axis=1)]
    return max(instances.information(masses @ cheapest) for masses in laws)


def by_slsqp(laws, cost, budget, instances):
    """The distortion of what a general-purpose optimiser thinks best, mixed with a constant where that tells too much."""
    shape = cost.shape

    def told(v, masses):
        return budget - instances.information(masses @ v.reshape(shape))

    def slope(v, masses):
        u = np.maximum(masses @ v.reshape(shape), 1e-300)
        ratio = np.log(u) - np.log(np.maximum(u.sum(axis=1, keepdims=True) * u.sum(axis=0), 1e-300))
        return -(masses.T @ ratio).reshape(-1)

    rows = np.kron(np.eye(shape[0]), np.ones(shape[1]))
    constraints = [{"type": "ineq", "fun": told, "jac": slope, "args": (masses,)} for masses in laws]
    constraints.append({"type": "eq", "fun": lambda v: rows @ v - 1.0, "jac": lambda v: rows})
    found = minimize(
        lambda v: cost.reshape(-1) @ v,
        np.full(cost.size, 1.0 / shape[1]),
        jac=lambda v: cost.reshape(-1),
        bounds=[(1e-9, 1.0)] * cost.size,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-10, "maxiter": 400},
    )
    Q = np.maximum(found.x.reshape(shape), 0.0)
    Q /= Q.sum(axis=1, keepdims=True)
    flat = np.eye(shape[1])[[cost.sum(axis=0).argmin()] * shape[0]]
    told_by_Q = max(instances.information(masses @ Q) for masses in laws)
    Q += max(1.0 - budget / told_by_Q, 0.0) * (flat - Q) if told_by_Q > 0.0 else 0.0  # leakage is convex
    return float(np.sum(cost * Q))


# ---------------------------------------------------------------- closed forms


@each("n", 2, 3, 5, 10)
@each("share", 0.05, 0.5, 0.95)
def test_a_uniform_source_with_hamming_distortion(n, share):
    def told(D):
        return math.log(n) + D * math.log(D) + (1.0 - D) * math.log1p(-D) - D * math.log(n - 1)

    budget = share * math.log(n)
    exact = brentq(lambda D: told(D) - budget, 1e-12, 1.0 - 1.0 / n - 1e-12, xtol=1e-16, rtol=1e-15)
    answer = MinDistortionProgram([np.eye(n) / n], (1.0 - np.eye(n)) / n, budget).solve()
    assert answer.lower <= exact <= answer.upper
    assert answer.gap <= 1e-8 * exact + 1e-11


# ---------------------------------------------------------------- random instances


@each("priors", 1, 2, 3)
@each("size", 4, 2, 3, 5, 6, every=5)
def test_random_instances_by_two_solvers_and_a_general_optimiser(instances, size, priors):
    rng = np.random.default_rng(10 * size + priors)
    for draw in range(draws(2, 20)):
        laws, cost = instances.update_data(rng, least=2, most=size, priors=priors)
        budget = rng.uniform(0.05, 0.9) * max(largest(laws, cost, instances), 0.01)
        program = MinDistortionProgram(laws, cost, budget)
        answer = program.solve()
        assert answer.gap <= 1e-8 * answer.upper + 1e-11
        assert answer.termination is Termination.GAP_REACHED
        if draw < 3:
            other = program.solve(solver="SCS")
            assert {made.solver for made in other.attempts} <= {"SCS"}
            assert max(answer.lower, other.lower) <= min(answer.upper, other.upper)
            assert other.gap <= 1e-4
            assert answer.lower - 1e-8 <= by_slsqp(laws, cost, budget, instances) <= answer.upper + 2e-4


def test_the_conic_model_is_the_problem(instances):
    """Its value, before any repair."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        laws, cost = instances.update_data(rng)
        program = MinDistortionProgram(laws, cost, 0.5 * largest(laws, cost, instances) + 1e-3)
        answer = program.solve()
        said = [made.value for made in answer.attempts if made.status == "optimal"]
        assert all(value == pytest.approx(answer.upper, abs=1e-6) for value in said)
        assert instances.violation(program, answer.point) <= 1e-12


def test_the_point_is_a_mechanism_that_tells_no_more_than_the_budget(instances):
    rng = np.random.default_rng(3)
    for _ in range(draws(6, 20)):
        laws, cost = instances.update_data(rng)
        budget = rng.uniform(0.0, 1.2) * largest(laws, cost, instances)
        program = MinDistortionProgram(laws, cost, budget)
        answer = program.solve()
        Q = program.mechanism(answer.point)
        assert Q.min() >= 0.0
        assert np.allclose(Q.sum(axis=1), 1.0, rtol=0.0, atol=1e-14)
        assert max(instances.information(masses @ Q) for masses in laws) <= budget + 1e-15
        assert np.sum(cost * Q) <= answer.upper


# ---------------------------------------------------------------- the bound


def test_no_multipliers_exceed_the_distortion_of_a_feasible_mechanism(instances):
    rng = np.random.default_rng(4)
    for _ in range(draws(8, 30)):
        laws, cost = instances.update_data(rng)
        budget = rng.choice([0.0, rng.random()]) * largest(laws, cost, instances)
        program = MinDistortionProgram(laws, cost, budget)
        drawn = [rng.dirichlet(np.full(cost.shape[1], 0.3), size=len(cost)) for _ in range(5)]
        worth = [program.distortion(program.feasible(Q)) for Q in drawn]
        for _ in range(20):
            multipliers = {
                "weights": rng.random(len(laws)) * 10.0 ** rng.uniform(-5, 30),
                "log_ratio": rng.normal(size=(len(program.leakages.masses), cost.shape[1]))
                * 10.0 ** rng.uniform(-30, 2),
            }
            assert program.bound(multipliers) <= min(worth) + 1e-15
            assert program.bound(program.searched(multipliers)) <= min(worth) + 1e-13


def test_the_bound_is_the_formula(instances):
    rng = np.random.default_rng(5)
    for _ in range(10):
        laws, cost = instances.update_data(rng)
        program = MinDistortionProgram(laws, cost, 0.02)
        weights = rng.random(len(laws))
        live = [masses[masses.sum(axis=1) > 0.0] for masses in laws]
        phi = [rng.dirichlet(np.ones(len(masses)), size=cost.shape[1]).T for masses in live]
        ratio = [np.log(p / masses.sum(axis=1, keepdims=True)) for p, masses in zip(phi, live, strict=True)]
        G = sum(w * masses.T @ x for w, masses, x in zip(weights, live, ratio, strict=True))
        formula = float((cost + G).min(axis=1).sum() - 0.02 * weights.sum())
        bound = program.bound({"weights": weights, "log_ratio": np.concatenate(ratio)})
        assert bound == pytest.approx(formula, abs=1e-12)


# ---------------------------------------------------------------- relations


def test_the_least_leakage_at_the_least_distortion_is_the_budget(instances):
    rng = np.random.default_rng(6)
    for _ in range(draws(4, 15)):
        laws, cost = instances.update_data(rng)
        most = largest(laws, cost, instances)
        if most < 1e-3:
            continue
        budget = rng.uniform(0.1, 0.9) * most
        worth = MinDistortionProgram(laws, cost, budget).solve()
        if worth.upper <= cost.min(axis=1).sum() * (1.0 + 1e-6):  # a budget that is not needed
            continue
        low, high = (MinLeakageProgram(laws, cost, x).solve() for x in (worth.upper, worth.lower))
        assert low.lower <= budget <= high.upper
        assert high.upper - low.lower <= 1e-6


@pytest.mark.thorough
def test_more_budget_never_costs_more_and_more_priors_never_less(instances):
    laws, cost = instances.update_data(np.random.default_rng(7), least=4, priors=3)
    program, before = MinDistortionProgram(laws, cost, 0.0), math.inf
    for budget in (0.0, 1e-6, 1e-3, 0.03, 0.2, 1.0, 100.0):
        program.set(budget)
        answer, fewer = program.solve(), MinDistortionProgram(laws[:1], cost, budget).solve()
        assert answer.lower <= before
        assert fewer.lower <= answer.upper
        before = answer.upper
    assert before == pytest.approx(cost.min(axis=1).sum(), abs=1e-11)


def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances):
    laws, cost = instances.update_data(np.random.default_rng(8), least=3, priors=2)
    most = largest(laws, cost, instances)
    program = MinDistortionProgram(laws, cost, 0.5 * most)

    def changed():
        for share in (0.2, 0.4, 0.8):
            program.set(share * most)
            yield MinDistortionProgram(laws, cost, share * most)

    instances.assert_solved_again(program, changed())


@each("budget", 0.0, 1e-3, 0.1, 0.5)
def test_additive_noise_is_the_best_mechanism_of_a_problem_that_shifts_do_not_change(budget):
    cost = np.minimum(CIRCLE, 5 - CIRCLE) / 5.0
    prior = [np.array([np.roll([0.6, 0.4, 0.0, 0.0, 0.0], a) for a in range(5)]) / 5.0]
    tied, free = (MinDistortionProgram(prior, cost, budget, tied=t).solve() for t in (Additive().tied(5, 5), None))
    assert max(tied.lower, free.lower) <= min(tied.upper, free.upper)
    assert max(tied.gap, free.gap) <= 1e-8


# ---------------------------------------------------------------- telling nothing


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
    for _ in range(draws(2, 20)):
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


# ---------------------------------------------------------------- degenerate data


@each("budget", 1.0, 1e5, 1e300)
def test_with_a_large_budget_the_least_distortion(instances, budget):
    laws, cost = instances.update_data(np.random.default_rng(12))
    answer = MinDistortionProgram(laws, cost, max(budget, 2.0)).solve()
    assert answer.attempts == ()
    assert answer.lower <= cost.min(axis=1).sum() <= answer.upper
    assert answer.gap <= 1e-10


@each("scale", 1e-6, 1e6, 1e12)
def test_the_scale_of_the_cost_is_that_of_the_answer(instances, scale):
    laws, cost = instances.update_data(np.random.default_rng(13), least=3)
    answer, scaled = (MinDistortionProgram(laws, k * cost, 0.01).solve() for k in (1.0, scale))
    assert max(scale * answer.lower, scaled.lower) <= min(scale * answer.upper, scaled.upper) * (1.0 + 1e-12)
    assert scaled.gap <= 1e-8 * scaled.upper + 1e-11


def test_zero_costs(instances):
    laws, cost = instances.update_data(np.random.default_rng(14), least=3)
    assert MinDistortionProgram(laws, 0.0 * cost, 0.0).solve().upper <= 1e-11
    cost[0], cost[:, -1] = 0.0, 1.0
    answer = MinDistortionProgram(laws, cost, 0.01).solve()
    assert answer.gap <= 1e-8 * answer.upper + 1e-11


def test_inputs_letters_and_priors_that_do_not_count(instances):
    laws, cost = instances.update_data(np.random.default_rng(15), least=4, priors=2)
    for masses in laws:
        masses[:, 1] = 0.0
        masses[2] = 0.0
        masses /= masses.sum()
    answer = MinDistortionProgram(laws, cost, 0.01).solve()
    for others in (laws + laws, [np.delete(masses, 2, axis=0) for masses in laws]):
        same = MinDistortionProgram(others, cost, 0.01).solve()
        assert max(answer.lower, same.lower) <= min(answer.upper, same.upper)
        assert same.gap <= 1e-8 * same.upper + 1e-11


def test_one_of_everything():
    for inputs, outputs, letters in ((1, 1, 1), (1, 3, 2), (3, 1, 2), (3, 3, 1)):
        prior = np.full((letters, inputs), 1.0 / (letters * inputs))
        answer = MinDistortionProgram([prior], np.ones((inputs, outputs)) / inputs, 0.0).solve()
        assert answer.lower <= 1.0 <= answer.upper
        assert answer.gap <= 1e-10


def test_forty_priors(instances):
    laws, cost = instances.update_data(np.random.default_rng(16), least=6, priors=40)
    program = MinDistortionProgram(laws, cost, 0.02)
    answer = program.solve()
    assert answer.gap <= 1e-8 * answer.upper + 1e-11
    assert instances.violation(program, answer.point) <= 1e-12


@pytest.mark.thorough
def test_distortion_rate_at_a_hundred_inputs_closes():
    rng = np.random.default_rng(17)
    law = rng.dirichlet(np.ones(100))
    answer = MinDistortionProgram([np.diag(law)], law[:, None] * rng.random((100, 100)), 1.0).solve()
    assert answer.gap <= 1e-8 * answer.upper + 1e-11


# ---------------------------------------------------------------- bad input


@each(
    "priors, cost, budget, tied, what",
    ([], FLIP, 0.1, None, "min_distortion: expected at least one prior"),
    ([np.full((2, 3), 1 / 6)], FLIP, 0.1, None, "prior 0: expected masses"),
    ([2.0 * FAIR], FLIP, 0.1, None, "with sum 1"),
    ([FAIR], -FLIP, 0.1, None, "expected a cost"),
    ([FAIR], FLIP[None], 0.1, None, "expected a cost"),
    ([FAIR], FLIP, -1e-300, None, "largest leakage"),
    ([FAIR], FLIP, math.nan, None, "largest leakage"),
    ([FAIR], FLIP, math.inf, None, "largest leakage"),
    ([FAIR], FLIP, 0.1, TiedEntries.free(2, 3), "expected `tied` to be TiedEntries for 2 inputs and 2 outputs"),
)
def test_bad_input_is_refused_before_any_solver(priors, cost, budget, tied, what):
    with pytest.raises(InputError, match=what):
        MinDistortionProgram(priors, cost, budget, tied=tied)


def test_a_bad_budget_is_refused_later_too_and_changes_nothing():
    program = MinDistortionProgram([FAIR], FLIP, 0.1)
    for budget in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="largest leakage"):
            program.set(budget)
    assert program.max_leakage == 0.1
    assert program.parameters["budget"].value == 0.1


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
