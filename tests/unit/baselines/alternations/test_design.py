"""Algorithms 6 to 11: descents descend, budgets are met after the repair, and nothing is better than what is proved."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import each, thinned
from dalenius.baselines import (
    DesignSettings,
    MechanismSettings,
    Rest,
    aggregated,
    design_run,
    full_joint,
    within_budget,
)
from dalenius.baselines.alternations import least_distorting, telling_nothing
from dalenius.baselines.family import Log
from dalenius.baselines.gradients import channel_gradient
from dalenius.baselines.mechanism import _penalised, exponentiated_gradient, penalty_method, worst_leakage
from dalenius.model.mechanism_classes import Additive, TiedEntries
from dalenius.search.clock import Clock
from support import refused

EXACT = 0.3680642071684971  # log 2 - h(0.1)


def least_leakage(query=None, *, bound=1.0, mechanism="oblivious", **more):
    given = {"records": dl.Records(3, alphabet=2), "query": query or dl.Parity(), "distortion": dl.Hamming()}
    return dl.MinLeakage(
        **{**given, "max_distortion": 0.1, **more}, mechanism=mechanism, adversary=dl.EntropyAtLeast(bound, "nats")
    )


def least_distortion(max_leakage="0.05 nats", query=None, *, bound=1.0, **more):
    given = {"records": dl.Records(3, alphabet=2), "query": query or dl.Parity(), "distortion": dl.Hamming()}
    return dl.MinDistortion(**{**given, **more}, max_leakage=max_leakage, adversary=dl.EntropyAtLeast(bound, "nats"))


PROBLEMS = {
    "least leakage": least_leakage(),
    "full": least_leakage(mechanism="full"),
    "additive": least_leakage(dl.ModularSum(3), records=dl.Records(2, alphabet=3), mechanism="additive"),
    "counts": least_leakage(dl.Count(), distortion=dl.Absolute(), max_distortion=0.5, bound="0.7 max"),
    "least distortion": least_distortion(),
    "counts, least distortion": least_distortion("0.1 bits", dl.Count(), distortion=dl.Squared(), bound="0.8 max"),
}


@each("additive", False, True)
def test_gradients_of_the_penalised_objectives(additive):
    """Against central differences along the simplex: mass moves from one output to another."""
    rng = np.random.default_rng(0)
    tied = Additive().tied(3, 3) if additive else TiedEntries.free(3, 3)
    free = rng.dirichlet(np.full(3, 4.0), size=1 if additive else 3)
    masses = rng.dirichlet(np.ones(12)).reshape(2, 2, 3)
    cost = rng.uniform(size=(3, 3))
    f, g = worst_leakage(masses / masses.sum(axis=(1, 2), keepdims=True)), lambda Q: (float(np.sum(cost * Q)), cost)
    for function in (
        _penalised(f, g, 1.0, 2.0, 0.3),
        _penalised(g, f, 0.02, 5.0, 0.1),
        _penalised(f, g, 0.1, 2.0, 0.3, 0.1),
        _penalised(g, f, 0.0, 5.0, 0.1, 0.7),
    ):
        gradient = tied.sums(function(tied.expand(free))[1])
        for row, y in np.ndindex(free.shape):
            up, down, before = free.copy(), free.copy(), y - 1
            for moved, sign in ((up, 1e-6), (down, -1e-6)):
                moved[row, [y, before]] += sign, -sign
            slope = (function(tied.expand(up))[0] - function(tied.expand(down))[0]) / 2e-6
            assert gradient[row, y] - gradient[row, before] == pytest.approx(slope, abs=1e-6)


def test_the_objective_never_rises_and_rows_stay_laws():
    rng = np.random.default_rng(1)
    masses = rng.dirichlet(np.ones(8)).reshape(1, 2, 4)
    cost, seen = rng.uniform(size=(4, 3)), []
    inner = _penalised(worst_leakage(masses), lambda Q: (float(np.sum(cost * Q)), cost), 1.0, 1.0, 0.01)

    def function(Q):
        assert Q.sum(axis=1) == pytest.approx(np.ones(4))
        assert Q.min() > 0.0
        return inner(Q)

    free = rng.dirichlet(np.ones(3), size=4)
    for iterations in (1, 5, 25, 125):
        settings, log = MechanismSettings(iterations=iterations), Log(Clock())
        seen.append(inner(exponentiated_gradient(function, free, TiedEntries.free(4, 3), settings, log))[0])
    assert inner(free)[0] >= seen[0] >= seen[1] >= seen[2] >= seen[3]


@each("budget", 0.05, 0.1, 0.3)
def test_for_one_prior_the_penalty_method_finds_rate_distortion(budget):
    """A fair bit: least I(X; Y) with Hamming distortion D is log 2 - h(D)."""
    problem = least_leakage(records=dl.Records(1, alphabet=2), max_distortion=budget, bound=0.0)
    Q = penalty_method(problem, np.eye(2)[None] / 2, np.full((2, 2), 0.5), MechanismSettings(), Log(Clock()))
    exact = np.log(2.0) + budget * np.log(budget) + (1 - budget) * np.log(1 - budget)
    assert worst_leakage(np.eye(2)[None] / 2)(Q)[0] == pytest.approx(exact, rel=5e-3)
    assert float(problem.expected_distortion(Q.tolist())) <= budget * (1.0 + 2e-4)


def test_for_one_prior_and_a_budget_of_leakage():
    problem = least_distortion(f"{EXACT} nats", records=dl.Records(1, alphabet=2), bound=0.0)
    Q = penalty_method(problem, np.eye(2)[None] / 2, np.full((2, 2), [0.6, 0.4]), MechanismSettings(), Log(Clock()))
    assert float(problem.expected_distortion(Q.tolist())) == pytest.approx(0.1, rel=1e-2)


@pytest.mark.parametrize("name", thinned(PROBLEMS, every=4))
@pytest.mark.parametrize("family", thinned([aggregated, full_joint], every=2), ids=lambda family: family.__name__)
def test_what_comes_back_is_a_mechanism_that_the_house_can_judge(name, family):
    """Not better than the certified optimum, once its leakage is audited and not believed."""
    problem = PROBLEMS[name]
    run = design_run(problem, family(problem), np.random.default_rng(0), clock=Clock(0.5))
    assert run.violation <= 1e-12
    assert run.rows.shape == (problem.input_count, problem.output_count)
    assert run.iterations >= 1
    assert run.trace[-1].value == run.value
    audit = dl.solve(problem.release(run.rows.tolist()), gap=1e-2, time_limit=1.0)
    assert run.leakage <= audit.upper + 1e-9
    certified = dl.solve(problem, gap=5e-2, time_limit=1.0)
    if isinstance(problem, dl.MinLeakage):
        assert problem.expected_distortion(run.rows.tolist()) <= problem.budget + Fraction(1, 10**12)
        assert audit.upper >= certified.lower
    else:
        share = max(1.0 - problem.max_leakage_nats / audit.upper, 0.0)
        assert (1 - share) * run.distortion + share * float(problem.constant_distortion) >= certified.lower - 1e-9


@pytest.mark.parametrize("family", thinned([aggregated, full_joint], every=2))
def test_parity_by_algorithm_6(family):
    problem = PROBLEMS["least leakage"]
    run = design_run(problem, family(problem))
    assert run.value == pytest.approx(EXACT, rel=2e-3)
    assert run.termination is Rest.TOLERANCE


@pytest.mark.parametrize("family", thinned([aggregated, full_joint], every=2))
def test_parity_by_algorithm_9(family):
    problem = least_distortion(f"{EXACT} nats")
    run = design_run(problem, family(problem), np.random.default_rng(2))
    assert run.value == pytest.approx(0.1, rel=5e-3)
    assert run.leakage <= EXACT + 1e-12


def test_the_trace_has_the_values_of_mechanisms_only_and_the_turns_the_way_between():
    """A value a round and one at the end, no leakages of priors on the way; after each answer of the adversary multipliers."""
    problem = least_distortion()
    settings = DesignSettings(penalty="restarted")
    run = design_run(problem, full_joint(problem), np.random.default_rng(2), settings=settings)
    assert len(run.trace) == run.iterations + 1
    assert min(moment.value for moment in run.trace) == pytest.approx(run.value, rel=1e-2)
    answers = [j for j, turn in enumerate(run.turns) if turn.multiplier == 0.0]
    assert len(answers) == run.iterations
    assert answers[0] == 0
    for start, stop in itertools.pairwise(answers):
        multipliers = [turn.multiplier for turn in run.turns[start + 1 : stop]]
        assert multipliers == sorted(multipliers)  # the budget is broken until the last one
        assert run.turns[stop - 1].leakage <= problem.max_leakage_nats * (1 + 1e-4)
        assert run.turns[stop - 1].distortion == pytest.approx(run.turns[stop].distortion, abs=1e-15)


def test_the_penalty_is_kept_while_prior_and_mechanism_take_turns():
    """As in the proof of Theorem 7: one multiplier a turn, raised only after a turn that gained nothing or after some of them."""
    problem, settings = least_distortion(), DesignSettings(alternations=3)
    run = design_run(problem, aggregated(problem), np.random.default_rng(2), settings=settings)
    assert run.termination is Rest.TOLERANCE
    assert [turn.multiplier == 0.0 for turn in run.turns] == [j % 2 == 0 for j in range(len(run.turns))]
    multipliers = [turn.multiplier for turn in run.turns[1::2]]
    kept = {multiplier: multipliers.count(multiplier) for multiplier in multipliers}
    assert multipliers == sorted(multipliers)
    assert all(2 <= times <= settings.alternations for times in kept.values())
    assert run.turns[-1].leakage <= problem.max_leakage_nats * (1.0 + settings.mechanism.violation)
    assert all(
        run.turns[2 * j].leakage > problem.max_leakage_nats for j in range(1, len(multipliers) - kept[multipliers[-1]])
    )


@each("shape", "softplus", "quadratic")
@each("problem", least_leakage(), least_distortion(f"{EXACT} nats"))
def test_either_penalty_for_either_problem(problem, shape):
    """Their rounding of the corner differs, their limit does not."""
    settings = DesignSettings(mechanism=MechanismSettings(shape=shape, growth=8.0), alternations=2, rounds=12)
    run = design_run(problem, aggregated(problem), np.random.default_rng(2), settings=settings)
    assert run.value == pytest.approx(EXACT if isinstance(problem, dl.MinLeakage) else 0.1, rel=1e-2)


def test_a_blind_adversary_is_believed_by_the_method_and_not_by_the_house():
    """From the uniform start Algorithm 1 sees no leakage at all where Theorem 3 frees no row: the method believes 0."""
    problem = least_leakage(records=dl.Records(4, alphabet=2), bound=2.2)
    run = design_run(problem, full_joint(problem))
    assert run.value == pytest.approx(0.0, abs=1e-12)
    assert dl.solve(problem.release(run.rows.tolist()), gap=1e-2, time_limit=2.0).lower > 0.3


def test_repairs():
    tight = least_leakage(max_distortion=0)
    assert within_budget(tight, np.full((2, 2), 0.5), 1.0).tolist() == np.eye(2).tolist()
    silent = least_distortion(0)
    mixed = within_budget(silent, np.array([[0.9, 0.1], [0.2, 0.8]]), 0.3)
    assert mixed == pytest.approx(telling_nothing(silent))
    fine = np.array([[0.95, 0.05], [0.05, 0.95]])
    assert within_budget(least_leakage(), fine, 1.0) is fine
    for problem in PROBLEMS.values():
        assert problem.expected_distortion(least_distorting(problem).tolist()) == problem.least_distortion
        found = problem.expected_distortion(telling_nothing(problem).tolist())
        assert found == pytest.approx(problem.constant_distortion, abs=1e-15)


def test_channel_gradient_has_the_shape_of_the_mechanism():
    assert channel_gradient(np.full((2, 3), 1 / 6), np.full((3, 4), 0.25)).shape == (3, 4)


def test_a_clock_that_has_run_out():
    problem = PROBLEMS["counts"]
    run = design_run(problem, aggregated(problem), clock=Clock(0.0))
    assert run.termination is Rest.TIME
    assert run.violation == 0.0


def test_bad_input():
    infeasible = least_leakage(max_distortion=-1)
    refused(lambda: design_run(infeasible, aggregated(infeasible)), "meets the budget")
    refused(lambda: DesignSettings(blur=0.0), "blur")
    refused(lambda: MechanismSettings(clip=2.0), "clip")
    refused(lambda: MechanismSettings(smoothing=-1), "smoothing")
    refused(lambda: DesignSettings(penalty="raised"), "penalty: expected kept or restarted, got 'raised'")
    refused(lambda: MechanismSettings(shape="cubic"), "shape")


def test_extreme_costs_do_no_harm():
    problem = least_leakage(distortion=dl.DistortionMatrix([[0, "1e250"], ["1e-250", 0]]), max_distortion="1e200")
    run = design_run(problem, aggregated(problem), np.random.default_rng(0), clock=Clock(1.0))
    assert problem.expected_distortion(run.rows.tolist()) <= problem.budget * (1 + Fraction(1, 10**9))
