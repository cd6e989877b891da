"""The conditional update: the scalar equation, a minorant of I, steps that never lose, two solvers, knife edges, bad input."""

import numpy as np
import pytest
from scipy.optimize import brentq

from campaigns import draws, each
from dalenius.programs import ConditionalUpdate
from definitions import information
from instances import own_entropy, soft
from support import refuses

FLIP = np.array([[0.9, 0.1], [0.1, 0.9]])
FAIR = np.array([0.5, 0.5])


def formula(g, log_counts, pi, b, mu):
    """The docstring's bound, as it stands."""
    if mu == 0.0:
        return float(pi @ np.where(np.isfinite(log_counts), g, -np.inf).max(axis=1))
    return float(mu * pi @ soft(log_counts + g / mu) + mu * (own_entropy(pi) - b))


def closed_form(g, log_counts, pi, b, instances):
    """The optimal value, from sum_a pi_a H(w_a(mu)) + H(pi) = b."""

    def excess(t):
        weight = log_counts + g / np.exp(t)
        return float(pi @ instances.entropies(np.exp(weight - soft(weight)[:, None]), log_counts)) + own_entropy(pi) - b

    mu = 0.0 if excess(-18.0) >= 0.0 else float(np.exp(brentq(excess, -18.0, 18.0, xtol=1e-14)))
    return formula(g, log_counts, pi, b, mu)


def random_instance(rng, instances, share):
    """Data with a bound a share of the way from the least to the largest entropy for this letter law."""
    rows, log_counts = instances.channel(rng)
    pi = rng.dirichlet(np.full(len(log_counts), 0.7))
    if len(pi) > 2 and rng.random() < 0.4:
        pi[0] = 0.0
        pi /= pi.sum()
    least = pi @ np.where(np.isfinite(log_counts), log_counts, np.inf).min(axis=1)
    b = own_entropy(pi) + (1.0 - share) * least + share * float(pi @ soft(log_counts))
    return rows, log_counts, pi, instances.draw(rng, log_counts), float(b)


@each("share", 0.0, 0.3, 0.7, 0.95)
def test_random_instances_have_the_closed_form(instances, share):
    rng = np.random.default_rng(int(100 * share))
    for _ in range(draws(3, 20)):
        rows, log_counts, pi, w0, b = random_instance(rng, instances, share)
        program = ConditionalUpdate(rows, log_counts, pi, w0, b)
        exact = closed_form(program.g, log_counts, pi, b, instances)
        answer = program.solve()
        assert answer.lower <= exact + 1e-12
        assert exact <= answer.upper + 1e-12
        assert answer.gap <= 1e-6 * max(abs(answer.upper), 1e-3)
        for made in answer.attempts[:1]:
            assert made.value == pytest.approx(exact, abs=1e-6)  # the conic model, before any repair
        assert float(pi @ instances.entropies(answer.point["w"], log_counts)) + own_entropy(pi) >= b - 1e-12
        assert np.allclose(answer.point["w"].sum(axis=1), 1.0, rtol=0.0, atol=1e-13)
        assert np.all(answer.point["w"][~np.isfinite(log_counts)] == 0.0)


def test_the_value_is_a_minorant_of_the_information_and_no_feasible_point_beats_the_upper_end(instances):
    rng = np.random.default_rng(2)
    for _ in range(draws(6, 20)):
        rows, log_counts, pi, w0, b = random_instance(rng, instances, rng.uniform(0.1, 0.9))
        program = ConditionalUpdate(rows, log_counts, pi, w0, b)
        answer = program.solve()
        assert program.value({"w": w0}) == pytest.approx(information(pi[:, None] * (w0 @ rows)), abs=1e-6)
        for _ in range(20):
            w = program.repair({"w": instances.draw(rng, log_counts)[np.isfinite(log_counts)]})["w"]
            assert float(pi @ instances.entropies(w, log_counts)) + own_entropy(pi) >= b - 1e-12
            assert program.value({"w": w}) <= answer.upper
            assert program.value({"w": w}) <= information(pi[:, None] * (w @ rows)) + 1e-12
            assert program.information({"w": w}) == pytest.approx(information(pi[:, None] * (w @ rows)))


def test_steps_never_lose_information(instances):
    rng = np.random.default_rng(3)
    for _ in range(5):
        rows, log_counts, pi, w, b = random_instance(rng, instances, 0.5)
        program = ConditionalUpdate(rows, log_counts, pi, w, b)
        before = program.information(program.start()[0])
        for _ in range(6):
            answer = program.solve()
            assert program.information(answer.point) >= before - 1e-7
            before = program.information(answer.point)
            program.set(pi, answer.point["w"], b)


def test_the_bound_is_the_formula_and_holds_for_every_multiplier(instances):
    rng = np.random.default_rng(4)
    for _ in range(draws(6, 20)):
        rows, log_counts, pi, w0, b = random_instance(rng, instances, 0.7)
        program = ConditionalUpdate(rows, log_counts, pi, w0, b)
        counted = ConditionalUpdate(rows, log_counts + 50.0, pi, w0, b + 50.0)  # log N instead of log(N/|X|)
        value = program.value(program.start()[0])
        for mu in (0.0, *10.0 ** rng.uniform(-4, 3, size=5)):
            bound = program.bound({"mu": np.array(mu)})
            assert bound == pytest.approx(formula(program.g, log_counts, pi, b, mu), abs=1e-9)
            assert bound == pytest.approx(counted.bound({"mu": np.array(mu)}), abs=1e-9)
        with np.errstate(all="ignore"):
            for mu in 10.0 ** rng.uniform(-300, 300, size=20):
                assert not program.bound({"mu": np.array(mu)}) < value - 1e-12


def test_without_an_entropy_bound_the_best_class_of_every_letter():
    rng = np.random.default_rng(5)
    rows, w0 = rng.dirichlet(np.ones(3), size=4), rng.dirichlet(np.ones(4), size=2)
    program = ConditionalUpdate(rows, np.log(rng.integers(1, 9, size=(2, 4))), FAIR, w0, 0.0)
    answer = program.solve()
    assert answer.lower <= float(FAIR @ program.g.max(axis=1)) <= answer.upper
    assert answer.gap < 1e-8
    assert answer.point["w"].max(axis=1) == pytest.approx([1.0, 1.0], abs=1e-6)


def test_a_certain_letter_leaks_nothing():
    answer = ConditionalUpdate(FLIP, np.zeros((2, 2)), np.array([1.0, 0.0]), FLIP, 0.3).solve()
    assert answer.lower <= 0.0 <= answer.upper
    assert answer.gap < 1e-8


def test_a_start_at_a_corner_has_finite_slopes_and_its_own_value():
    rows = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    w0 = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    program = ConditionalUpdate(rows, np.zeros((2, 3)), FAIR, w0, 0.69)
    assert np.all(np.isfinite(program.g))
    assert program.value({"w": w0}) == pytest.approx(np.log(2.0), abs=1e-6)
    answer = program.solve()
    assert answer.upper <= program.information(answer.point) + 1e-6
    assert answer.upper >= np.log(2.0) - 1e-6


def test_letters_without_classes_and_outputs_that_never_occur():
    log_counts = np.array([[0.0, 1.0], [1.0, 0.0], [-np.inf, -np.inf]])
    rows = np.hstack([FLIP, np.zeros((2, 1))])
    answer = ConditionalUpdate(rows, log_counts, np.array([0.4, 0.6, 0.0]), np.full((3, 2), 0.5), 1.0).solve()
    assert answer.lower <= answer.upper
    assert answer.gap < 1e-8


def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances):
    rng = np.random.default_rng(7)
    rows, log_counts, pi, w0, b = random_instance(rng, instances, 0.5)
    program = ConditionalUpdate(rows, log_counts, pi, w0, b)

    def changed():
        for _ in range(3):
            data = rng.dirichlet(np.ones(len(pi))), instances.draw(rng, log_counts)
            least = own_entropy(data[0]) + 1.3 * float(data[0] @ soft(log_counts))
            program.set(*data, least)
            yield ConditionalUpdate(rows, log_counts, *data, least)

    instances.assert_solved_again(program, changed())


test_bad_input_is_refused_before_any_solver = refuses(
    (FLIP, np.zeros(2), FAIR, FLIP, 0.0, "expected rows"),
    (FLIP * 0.9, np.zeros((2, 2)), FAIR, FLIP, 0.0, "with sum 1"),
    (FLIP, np.zeros((2, 2)), np.ones(2), FLIP, 0.0, "expected a law"),
    (FLIP, np.zeros((2, 2)), np.array([1.5, -0.5]), FLIP, 0.0, "expected a law"),
    (FLIP, np.zeros((2, 2)), np.ones(3) / 3.0, FLIP, 0.0, "expected a law"),
    (FLIP, np.zeros((2, 2)), np.array([np.nan, 1.0]), FLIP, 0.0, "expected a law"),
    (FLIP, np.zeros((2, 2)), FAIR, FLIP[:1], 0.0, "expected finite conditionals"),
    (FLIP, np.zeros((2, 2)), FAIR, FLIP * np.inf, 0.0, "expected finite conditionals"),
    (FLIP, np.array([[0.0, 0.0], [-np.inf, -np.inf]]), FAIR, FLIP, 0.0, "has no class"),
    (FLIP, np.zeros((2, 2)), FAIR, FLIP, 1.4, "the largest is 1.38629"),
    (FLIP, np.zeros((2, 2)), FAIR, FLIP, np.nan, "entropy nan"),
    by=ConditionalUpdate,
)
