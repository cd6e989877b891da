"""Both mechanism updates, each of which minimises what the other has a budget of; the files of each have what it alone has."""

import itertools
import math

import numpy as np
import pytest

import support
from campaigns import draws, each, thinned
from dalenius.errors import InputError
from dalenius.model.mechanism_classes import Additive, TiedEntries
from dalenius.outcome import Termination
from dalenius.programs import MinDistortionProgram, MinLeakageProgram
from definitions import information

PROGRAMS = (MinLeakageProgram, MinDistortionProgram)
FAIR = 0.5 * np.eye(2)
FLIP = 0.5 * (1.0 - np.eye(2))


def least(cls, cost):
    """What no budget takes the answer below."""
    return 0.0 if cls is MinLeakageProgram else cost.min(axis=1).sum()


def between(cls, laws, cost, share, instances):
    """A budget: this share of the way from the least to what makes it needless."""
    low, high = instances.distortions(cost)
    if cls is MinDistortionProgram:
        cheapest = np.eye(cost.shape[1])[cost.argmin(axis=1)]
        low, high = 0.0, max(0.01, *(information(masses @ cheapest) for masses in laws))
    return low + share * (high - low)


def drawn(cls, rng, share, instances, **sizes):
    laws, cost = instances.update_data(rng, **sizes)
    return laws, cost, between(cls, laws, cost, share, instances)


@each("cls", *PROGRAMS)
@each("n, share", *itertools.product([2, 3, 5, 10], [0.01, 0.1, 0.5, 0.95]), every=3)
def test_a_uniform_source_with_hamming_distortion(share, n, cls):
    D = share * (1.0 - 1.0 / n)
    told = math.log(n) + D * math.log(D) + (1.0 - D) * math.log1p(-D) - D * math.log(n - 1)
    budget, exact = (D, told) if cls is MinLeakageProgram else (told, D)
    answer = cls([np.eye(n) / n], (1.0 - np.eye(n)) / n, budget).solve()
    assert answer.lower <= exact <= answer.upper
    assert answer.gap <= 1e-8 * exact + 1e-11


@pytest.mark.parametrize("cls", PROGRAMS)
@pytest.mark.parametrize("priors", [1, 2, 3])
@pytest.mark.parametrize("size", thinned([2, 3, 6, 5, 4], every=4))
def test_two_solvers_agree_on_random_instances(instances, size, priors, cls):
    rng = np.random.default_rng(10 * size + priors)
    for draw in range(draws(1, 20)):
        program = cls(*drawn(cls, rng, rng.uniform(0.1, 0.9), instances, least=2, most=size, priors=priors))
        answer = program.solve()
        assert answer.gap <= 1e-8 * answer.upper + 1e-11
        assert answer.termination is Termination.GAP_REACHED
        if draw < 3:
            other = program.solve(solver="SCS")
            assert {made.solver for made in other.attempts} <= {"SCS"}
            assert max(answer.lower, other.lower) <= min(answer.upper, other.upper)
            assert other.gap <= 1e-4


@each("cls", *PROGRAMS)
def test_the_conic_model_is_the_problem(instances, cls):
    """Its value, before any repair."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        program = cls(*drawn(cls, rng, 0.5, instances))
        answer = program.solve()
        said = [made.value for made in answer.attempts if made.status == "optimal"]
        assert all(value == pytest.approx(answer.upper, abs=1e-6) for value in said)
        assert instances.violation(program, answer.point) <= 1e-12


@each("cls", *PROGRAMS)
def test_the_point_is_a_mechanism_within_the_budget_and_has_the_upper_end(instances, cls):
    rng = np.random.default_rng(3)
    for _ in range(draws(6, 20)):
        laws, cost, budget = drawn(cls, rng, rng.uniform(0.0, 1.2), instances)
        program = cls(laws, cost, budget)
        answer = program.solve()
        Q = program.mechanism(answer.point)
        assert Q.min() >= 0.0
        assert np.allclose(Q.sum(axis=1), 1.0, rtol=0.0, atol=1e-14)
        told, paid = max(information(masses @ Q) for masses in laws), np.sum(cost * Q)
        if cls is MinLeakageProgram:
            assert paid <= budget * (1.0 + 1e-15) + 1e-16
            assert told <= answer.upper + 1e-14
        else:
            assert told <= budget + 1e-15
            assert paid <= answer.upper


@each("cls", *PROGRAMS)
def test_no_multipliers_exceed_what_a_feasible_mechanism_has(instances, cls):
    rng = np.random.default_rng(4)
    for _ in range(draws(8, 30)):
        laws, cost, budget = drawn(cls, rng, rng.choice([0.0, rng.random()]), instances)
        program = cls(laws, cost, budget)
        value = program.leakage if cls is MinLeakageProgram else program.distortion
        best = min(value(program.feasible(rng.dirichlet(np.full(cost.shape[1], 0.3), len(cost)))) for _ in range(5))
        shape = len(program.leakages.masses), cost.shape[1]
        for _ in range(20):
            multipliers = {"log_ratio": rng.normal(size=shape) * 10.0 ** rng.uniform(-30, 2)}
            if cls is MinLeakageProgram:
                multipliers["weights"] = rng.dirichlet(np.ones(len(laws))) * 10.0 ** rng.uniform(-5, 5)
                multipliers["nu"] = np.array(10.0 ** rng.uniform(-3, 30))
            else:
                multipliers["weights"] = rng.random(len(laws)) * 10.0 ** rng.uniform(-5, 30)
            assert program.bound(multipliers) <= best + 1e-15
            assert program.bound(program.searched(multipliers)) <= best + 1e-14


@each("cls", *PROGRAMS)
def test_the_bound_is_the_formula(instances, cls):
    rng = np.random.default_rng(5)
    for _ in range(10):
        laws, cost, budget = drawn(cls, rng, 0.4, instances)
        weights, nu = rng.dirichlet(np.ones(len(laws))), rng.random() * 5.0
        price, each_of = (nu, nu) if cls is MinLeakageProgram else (1.0, weights.sum())
        live = [masses[masses.sum(axis=1) > 0.0] for masses in laws]
        phi = [rng.dirichlet(np.ones(len(masses)), size=cost.shape[1]).T for masses in live]
        ratio = [np.log(p / masses.sum(axis=1, keepdims=True)) for p, masses in zip(phi, live, strict=True)]
        G = sum(w * masses.T @ x for w, masses, x in zip(weights, live, ratio, strict=True))
        formula = float((G + price * cost).min(axis=1).sum() - each_of * budget)
        multipliers = {"weights": weights, "nu": np.array(nu), "log_ratio": np.concatenate(ratio)}
        assert cls(laws, cost, budget).bound(multipliers) == pytest.approx(formula, abs=1e-12)


@each("cls, other", PROGRAMS, PROGRAMS[::-1])
def test_one_is_the_inverse_of_the_other(instances, cls, other):
    rng = np.random.default_rng(6)
    for _ in range(draws(4, 15)):
        laws, cost, budget = drawn(cls, rng, rng.uniform(0.1, 0.7), instances)
        best = cls(laws, cost, budget).solve()
        if best.upper <= least(cls, cost) * (1.0 + 1e-6) + 1e-4:  # a budget that is not needed
            continue
        low, high = (other(laws, cost, x).solve() for x in (best.upper, best.lower))
        assert low.lower <= budget <= high.upper
        assert high.upper - low.lower <= 1e-6 * (high.upper if cls is MinLeakageProgram else 1.0)


@pytest.mark.thorough
@each("cls", *PROGRAMS)
def test_more_budget_is_never_worse_and_more_priors_never_better(instances, cls):
    laws, cost, none = drawn(cls, np.random.default_rng(7), 0.0, instances, least=4, priors=3)
    program, before = cls(laws, cost, none), math.inf
    for share in (0.0, 1e-5, 1e-2, 0.2, 0.5, 0.9, 1.0, 100.0):
        budget = between(cls, laws, cost, share, instances)
        program.set(budget)
        answer, fewer = program.solve(), cls(laws[:1], cost, budget).solve()
        assert answer.lower <= before
        assert fewer.lower <= answer.upper
        before = answer.upper
    assert before == pytest.approx(least(cls, cost), abs=1e-11)


@each("cls", *PROGRAMS)
def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances, cls):
    laws, cost, budget = drawn(cls, np.random.default_rng(8), 0.5, instances, least=3, priors=2)
    program = cls(laws, cost, budget)

    def changed():
        for share in (0.2, 0.4, 0.8):
            program.set(between(cls, laws, cost, share, instances))
            yield cls(laws, cost, between(cls, laws, cost, share, instances))

    instances.assert_solved_again(program, changed())


@each("cls", *PROGRAMS)
@each("tied", None, Additive().tied(4, 4))
def test_of_a_changing_program_priors_and_cost_are_parameters_too(instances, cls, tied):
    rng = np.random.default_rng(9)
    data = [
        ([rng.dirichlet(np.ones(8)).reshape(2, 4) for _ in range(3)], (1.0 - np.eye(4)) * rng.uniform(0.1, 0.3, (4, 4)))
        for _ in range(3)
    ]
    budget = 0.05
    program = cls(*data[0], budget, tied=tied, changing=True)

    def changed():
        for laws, cost in data[1:]:
            program.set(budget, priors=laws, cost=cost)
            yield cls(laws, cost, budget, tied=tied)
            program.set(budget, cost=data[0][1])
            yield cls(laws, data[0][1], budget, tied=tied)

    instances.assert_solved_again(program, changed())


@each("cls", *PROGRAMS)
def test_what_a_program_cannot_exchange_is_refused(cls):
    other = 0.25 * np.ones((2, 2))
    support.refused(lambda: cls([FAIR], FLIP, 0.2).set(0.2, priors=[other]), "make it with changing=True")
    support.refused(lambda: cls([FAIR], FLIP, 0.2).set(0.2, cost=FLIP), "make it with changing=True")
    program = cls([FAIR], FLIP, 0.2, changing=True)
    for priors in ([FAIR, other], [np.ones((3, 2)) / 6], [[[0.5, 0.5], [0.0, 0.0]]]):
        support.refused(lambda priors=priors: program.set(0.2, priors=priors), "with as many letters that occur")
    support.refused(lambda: program.set(0.2, priors=[np.full((2, 2), math.nan)]), "at least 0 with sum 1")
    support.refused(lambda: program.set(0.2, cost=-FLIP), "at least 0")


@each("budget", 0.0, 1e-9)
def test_the_best_mechanism_that_leaks_nothing_is_looked_for_anew_with_other_priors(budget):
    """A tiny budget's own method keeps one of the priors before."""
    rng = np.random.default_rng(12)
    laws = [[rng.dirichlet(np.ones(6)).reshape(2, 3)] for _ in range(2)]
    cost = 1.0 - np.eye(3)
    program = MinDistortionProgram(laws[0], cost, budget, changing=True)
    program.solve()
    program.set(budget, priors=laws[1])
    again, fresh = program.solve(), MinDistortionProgram(laws[1], cost, budget).solve()
    assert max(again.lower, fresh.lower) <= min(again.upper, fresh.upper)
    assert again.gap <= 1e-6


@each(
    "cls, m, budgets",
    *((MinLeakageProgram, m, (0.1, 0.4)) for m in (2, 3, 5, 8)),
    (MinDistortionProgram, 5, (0.0, 1e-3, 0.1, 0.5)),
)
def test_additive_noise_is_the_best_mechanism_of_a_problem_that_shifts_do_not_change(cls, m, budgets):
    shift = (np.arange(m) - np.arange(m)[:, None]) % m
    cost = np.minimum(shift, m - shift) / m
    prior = [np.array([np.roll([0.6, 0.4] + [0.0] * (m - 2), a) for a in range(m)]) / m]
    for budget in budgets:
        tied = cls(prior, cost, budget, tied=Additive().tied(m, m))
        answer, free = tied.solve(), cls(prior, cost, budget).solve()
        assert tied.variables["q"].shape == (1, m)
        assert max(answer.lower, free.lower) <= min(answer.upper, free.upper)
        assert max(answer.gap, free.gap) <= 1e-8
        Q = tied.mechanism(answer.point)
        assert np.array_equal(Q, np.roll(np.roll(Q, 1, axis=0), 1, axis=1))


@each("cls", *PROGRAMS)
@each("budget", 2.0, 1e5, 1e300)
def test_with_a_large_budget_the_least_there_is(instances, budget, cls):
    laws, cost = instances.update_data(np.random.default_rng(11))
    answer = cls(laws, cost, budget).solve()
    assert answer.attempts == ()
    assert answer.lower <= least(cls, cost) <= answer.upper
    assert answer.gap <= 1e-11


@each("cls", *PROGRAMS)
@each("scale", 1e-12, 1e-6, 1e200, 1e6, every=2)
def test_the_scale_of_the_cost(instances, scale, cls):
    laws, cost, budget = drawn(cls, np.random.default_rng(12), 0.4, instances, least=3)
    leaks = cls is MinLeakageProgram
    answer, scaled = (cls(laws, k * cost, k * budget if leaks else budget).solve() for k in (1.0, scale))
    low, high = (x if leaks else scale * x for x in (answer.lower, answer.upper))
    assert max(low, scaled.lower) <= min(high, scaled.upper) * (1.0 + 1e-12) + (1e-12 if leaks else 0.0)
    assert scaled.gap <= (1e-6 if leaks else 1e-8 * scaled.upper + 1e-11)


@pytest.mark.parametrize("cls", [pytest.param(MinLeakageProgram, marks=pytest.mark.thorough), MinDistortionProgram])
def test_inputs_letters_outputs_and_priors_that_do_not_count(instances, cls):
    laws, cost = instances.update_data(np.random.default_rng(13), least=4, priors=2)
    for masses in laws:
        masses[:, 1] = 0.0  # no prior knows this input, but its truth costs
        masses[2] = 0.0
        masses /= masses.sum()
    budget = between(cls, laws, cost, 0.5, instances)
    answer = cls(laws, cost, budget).solve()
    dear = np.append(cost, np.full((len(cost), 1), 10.0), axis=1)  # an output that no one uses
    for others, costs in (
        (laws + laws, cost),
        ([np.delete(masses, 2, axis=0) for masses in laws], cost),
        (laws, dear),
        ([*laws, np.full((1, len(cost)), 1.0 / len(cost))], cost),  # a record with one letter
    ):
        same = cls(others, costs, budget).solve()
        assert max(answer.lower, same.lower) <= min(answer.upper, same.upper)
        assert same.gap <= 1e-8 * same.upper + 1e-11
    cost[0] = 0.0
    assert cls(laws, cost, budget).solve().lower <= answer.upper


@each("cls", *PROGRAMS)
@each("inputs, outputs, letters", (1, 1, 1), (1, 3, 2), (3, 1, 2), (3, 3, 1))
def test_one_of_everything(inputs, outputs, letters, cls):
    prior, cost = np.full((letters, inputs), 1.0 / (letters * inputs)), np.ones((inputs, outputs)) / inputs
    answer = cls([prior], cost, 1.0 if cls is MinLeakageProgram else 0.0).solve()
    assert answer.lower <= (exact := least(cls, cost)) <= answer.upper
    assert answer.upper <= exact + 1e-11


@each("cls", *PROGRAMS)
def test_forty_priors(instances, cls):
    program = cls(*drawn(cls, np.random.default_rng(14), 0.4, instances, least=6, priors=40))
    answer = program.solve()
    assert answer.gap <= 1e-8 * answer.upper + 1e-11
    assert instances.violation(program, answer.point) <= 1e-12


@pytest.mark.thorough
@each("cls", *PROGRAMS)
def test_a_hundred_inputs_close(instances, cls):
    rng = np.random.default_rng(15)
    for hamming in (True, False):
        law = rng.dirichlet(np.ones(100))
        cost = law[:, None] * (1.0 - np.eye(100) if hamming else rng.random((100, 100)))
        answer = cls([np.diag(law)], cost, between(cls, [np.diag(law)], cost, 0.4, instances)).solve()
        assert answer.gap <= 1e-8 * answer.upper + 1e-11


@each("cls", *PROGRAMS)
@each(
    "changes, what",
    ({"priors": []}, "expected at least one prior"),
    ({"priors": [np.full((2, 3), 1 / 6)]}, "prior 0: expected masses"),
    ({"priors": [FAIR, np.eye(2)]}, "prior 1: expected numbers"),
    ({"priors": [2.0 * FAIR]}, "with sum 1"),
    ({"priors": [-FAIR]}, "of at least 0"),
    ({"priors": [FAIR * np.nan]}, "of at least 0"),
    ({"cost": FLIP[0]}, "expected a cost"),
    ({"cost": FLIP[None]}, "expected a cost"),
    ({"cost": np.zeros((2, 0))}, "expected a cost"),
    ({"cost": -FLIP}, "expected a cost"),
    ({"cost": FLIP * np.nan}, "expected a cost"),
    ({"cost": FLIP + np.inf}, "expected a cost"),
    ({"tied": TiedEntries.free(1, 2)}, "expected `tied` to be TiedEntries for 2 inputs and 2 outputs"),
    ({"tied": TiedEntries.free(2, 3)}, "expected `tied` to be TiedEntries for 2 inputs and 2 outputs"),
    ({"tied": np.arange(4).reshape(2, 2)}, "expected `tied` to be TiedEntries"),
    ({"tied": "tied"}, "expected `tied` to be TiedEntries"),
)
def test_bad_input_is_refused_before_any_solver(changes, what, cls):
    given = {"priors": [FAIR], "cost": FLIP, "tied": None} | changes
    with pytest.raises(InputError, match=f"{cls.name}: .*{what}"):
        cls(given["priors"], given["cost"], 0.1, tied=given["tied"])


@each(
    "cls, cost, budget, what",
    (MinLeakageProgram, FLIP, -1e-9, "the least is 0"),
    (MinLeakageProgram, FLIP, math.nan, "distortion nan"),
    (MinLeakageProgram, FLIP, math.inf, "distortion inf"),
    (MinLeakageProgram, FLIP + 0.1, 0.1, "the least is 0.2"),
    *((MinDistortionProgram, FLIP, budget, "largest leakage") for budget in (-1e-300, math.nan, math.inf)),
)
def test_a_bad_budget_is_refused_later_too_and_changes_nothing(cls, cost, budget, what):
    with pytest.raises(InputError, match=what):
        cls([FAIR], cost, budget)
    program = cls([FAIR], cost, 0.3)
    with pytest.raises(InputError, match=what):
        program.set(budget)
    assert getattr(program, "max_distortion" if cls is MinLeakageProgram else "max_leakage") == 0.3
    assert program.parameters["budget"].value == 0.3
