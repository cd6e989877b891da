"""The posterior update: the scalar equation, two solvers, knife edges, bad input."""

import numpy as np
import pytest
from scipy.optimize import brentq

from campaigns import draws, each
from dalenius.information.tilt import largest_score
from dalenius.programs import PosteriorUpdate
from dalenius.search.clock import Clock
from definitions import information
from instances import soft
from support import refuses

FLIP = np.array([[0.9, 0.1], [0.1, 0.9]])


def formula(c, log_counts, b, mu):
    """The docstring's bound, as it stands."""
    if mu == 0.0:
        return float(soft(np.where(np.isfinite(log_counts), c, -np.inf).max(axis=1)))
    return float((1.0 + mu) * soft((mu * soft(log_counts + c / mu)) / (1.0 + mu)) - mu * b)


def tilted(c, log_counts, mu):
    """The maximiser at mu."""
    weight = log_counts + c / mu
    w = np.exp(weight - soft(weight)[:, None])
    score = mu * soft(weight) / (1.0 + mu)
    return np.exp(score - soft(score))[:, None] * w


def closed_form(c, log_counts, b, instances):
    """The multiplier from H(p(mu)) = b, and the optimal value."""

    def excess(t):
        return float(instances.entropies(tilted(c, log_counts, np.exp(t)).ravel(), log_counts.ravel())) - b

    if excess(-16.0) >= 0.0:
        return 0.0, formula(c, log_counts, b, 0.0)
    mu = float(np.exp(brentq(excess, -16.0, 16.0, xtol=1e-14)))
    return mu, formula(c, log_counts, b, mu)


def random_instance(rng, instances, share):
    """A program and its scores; the bound is a share of the way from the least possible entropy up."""
    rows, log_counts = instances.channel(rng)
    phi = rng.dirichlet(np.full(len(log_counts), rng.choice([0.3, 2.0])), size=rows.shape[1]).T
    phi = np.maximum(phi, 1e-6) / np.maximum(phi, 1e-6).sum(axis=0)
    return rows, log_counts, phi, ((1.0 - share) * float(log_counts[np.isfinite(log_counts)].min()))


@each("share", 0.0, 0.3, 0.7, 0.95)
def test_random_instances_have_the_closed_form(instances, share):
    rng = np.random.default_rng(int(100 * share))
    for _ in range(draws(3, 20)):
        rows, log_counts, phi, b = random_instance(rng, instances, share)
        program = PosteriorUpdate(rows, log_counts, phi, b)
        mu, exact = closed_form(np.log(phi) @ rows.T, log_counts, b, instances)
        answer = program.solve()
        assert answer.lower <= exact + 1e-12
        assert exact <= answer.upper + 1e-12
        assert answer.gap <= 1e-6 * max(abs(answer.upper), 1e-4)
        assert answer.attempts[0].value == pytest.approx(exact, abs=1e-6)  # the conic model, before any repair
        if mu > 1e-3:
            assert float(answer.multipliers["mu"]) == pytest.approx(mu, rel=1e-4)


def test_two_solvers_and_the_audit_agree(instances):
    rng = np.random.default_rng(1)
    for _ in range(8):
        rows, log_counts, phi, b = random_instance(rng, instances, 0.6)
        program = PosteriorUpdate(rows, log_counts, phi, b)
        p, _ = largest_score(program.c[None], log_counts, np.array([b]), np.array([0.1]), Clock(10.0))
        reference = program.value({"p": p[0]})
        for solver in ("CLARABEL", "SCS"):
            answer = program.solve(solver=solver)
            assert answer.lower - 1e-10 <= reference <= answer.upper + 1e-10
            assert answer.gap <= 1e-5
            assert answer.attempts[0].solver == solver
            assert answer.attempts[0].value == pytest.approx(reference, abs=1e-5)


def test_no_feasible_prior_beats_the_upper_end_and_none_leaks_less_than_its_value(instances):
    rng = np.random.default_rng(3)
    for _ in range(draws(6, 20)):
        rows, log_counts, phi, b = random_instance(rng, instances, rng.uniform(0.1, 0.9))
        program = PosteriorUpdate(rows, log_counts, phi, b)
        answer = program.solve()
        exists = np.isfinite(log_counts)
        for _ in range(20):
            raw = rng.dirichlet(np.full(int(exists.sum()), rng.choice([0.1, 1.0])))
            p = program.repair({"p": raw})["p"]
            assert instances.entropies(p.ravel(), log_counts.ravel()) >= b - 1e-12
            assert program.value({"p": p}) <= answer.upper
            assert program.value({"p": p}) <= information(p @ rows) + 1e-12
        p = answer.point["p"]
        assert np.all(p[~exists] == 0.0)
        assert p.min() >= 0.0
        assert p.sum() == pytest.approx(1.0, abs=1e-14)
        assert instances.entropies(p.ravel(), log_counts.ravel()) >= b - 1e-12


def test_the_bound_is_the_formula_and_holds_for_every_multiplier(instances):
    rng = np.random.default_rng(4)
    for _ in range(draws(6, 20)):
        rows, log_counts, phi, b = random_instance(rng, instances, 0.7)
        program, c = PosteriorUpdate(rows, log_counts, phi, b), np.log(phi) @ rows.T
        counted = PosteriorUpdate(rows, log_counts + 50.0, phi, b + 50.0)  # log N instead of log(N/|X|)
        value = program.value(program.start()[0])
        for mu in (0.0, *10.0 ** rng.uniform(-4, 3, size=5)):
            bound = program.bound({"mu": np.array(mu)})
            assert bound == pytest.approx(formula(c, log_counts, b, mu), abs=1e-9)
            assert bound == pytest.approx(counted.bound({"mu": np.array(mu)}), abs=1e-9)
        with np.errstate(all="ignore"):
            for mu in 10.0 ** rng.uniform(-300, 300, size=20):
                assert not program.bound({"mu": np.array(mu)}) < value - 1e-12


def test_alternating_with_the_posteriors_never_loses_information(instances):
    """Joint Blahut-Arimoto."""
    rows, log_counts, phi, b = random_instance(np.random.default_rng(5), instances, 0.6)
    program, before = PosteriorUpdate(rows, log_counts, phi, b), -np.inf
    for _ in range(8):
        p = program.solve().point["p"]
        u = p @ rows
        assert information(u) >= before - 1e-8
        before = information(u)
        r = u.sum(axis=0)
        program.set(np.where(r > 0.0, u / np.where(r > 0.0, r, 1.0), 1.0 / len(u)), b)
        assert program.value({"p": p}) == pytest.approx(before, abs=1e-12)


def test_without_an_entropy_bound_the_best_class_of_every_letter(instances):
    rng = np.random.default_rng(6)
    rows = rng.dirichlet(np.ones(3), size=4)
    phi = rng.dirichlet(np.ones(2), size=3).T
    answer = PosteriorUpdate(rows, np.log(rng.integers(1, 9, size=(2, 4))), phi, 0.0).solve()
    assert answer.lower <= float(soft((np.log(phi) @ rows.T).max(axis=1))) <= answer.upper
    assert answer.gap < 1e-7


def test_posteriors_that_forbid_pairs(instances):
    """c = -inf where phi(a|y) = 0 < R(k,y); a letter without any pair left has no mass."""
    rows = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.2, 0.3, 0.5]])
    phi = np.array([[0.5, 0.0, 0.2], [0.5, 1.0, 0.8], [0.0, 0.0, 0.0]])
    program = PosteriorUpdate(rows, np.zeros((3, 3)), phi, 0.5)
    answer = program.solve()
    assert program.pairs.exists.tolist() == [[True, False, False], [True, True, True], [False] * 3]
    assert answer.gap < 1e-7
    assert answer.point["p"][2].sum() == 0.0
    problem = program.problem
    program.set(np.maximum(phi, 0.1), 0.5)
    assert program.problem is not problem
    fresh = PosteriorUpdate(rows, np.zeros((3, 3)), np.maximum(phi, 0.1), 0.5).solve()
    again = program.solve()
    assert max(again.lower, fresh.lower) <= min(again.upper, fresh.upper)


def test_one_letter_one_class_one_output():
    answer = PosteriorUpdate(np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), 0.0).solve()
    assert answer.lower <= 0.0 <= answer.upper
    assert answer.gap < 1e-8


def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances):
    rng = np.random.default_rng(8)
    rows, log_counts, phi, b = random_instance(rng, instances, 0.5)
    program = PosteriorUpdate(rows, log_counts, phi, b)

    def changed():
        for _ in range(3):
            other = rng.dirichlet(np.ones(len(log_counts)), size=rows.shape[1]).T
            program.set(other, 0.8 * b)
            yield PosteriorUpdate(rows, log_counts, other, 0.8 * b)

    instances.assert_solved_again(program, changed())


test_bad_input_is_refused_before_any_solver = refuses(
    (FLIP[0], np.zeros((2, 2)), FLIP, 0.0, "expected rows"),
    (FLIP, np.zeros((2, 3)), FLIP, 0.0, "expected rows"),
    (2.0 * FLIP, np.zeros((2, 2)), FLIP, 0.0, "with sum 1"),
    (np.array([[1.1, -0.1], [0.5, 0.5]]), np.zeros((2, 2)), FLIP, 0.0, "with sum 1"),
    (FLIP, np.full((2, 2), np.nan), FLIP, 0.0, "finite"),
    (FLIP, np.full((2, 2), np.inf), FLIP, 0.0, "finite"),
    (FLIP, np.full((2, 2), -np.inf), FLIP, 0.0, "at least one pair"),
    (FLIP, np.zeros((2, 2)), FLIP[:1], 0.0, "expected posteriors"),
    (FLIP, np.zeros((2, 2)), -FLIP, 0.0, "expected posteriors"),
    (FLIP, np.zeros((2, 2)), FLIP * np.nan, 0.0, "expected posteriors"),
    (FLIP, np.zeros((2, 2)), 0.0 * FLIP, 0.0, "zero wherever"),
    (FLIP, np.zeros((2, 2)), FLIP, 1.4, "the largest is 1.38629"),
    (FLIP, np.zeros((2, 2)), FLIP, np.nan, "entropy nan"),
    by=PosteriorUpdate,
)
