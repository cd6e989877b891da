"""The marginal update: closed forms, brute force, knife edges, bad input."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from campaigns import draws, thinned
from dalenius.outcome import Termination
from dalenius.programs import MarginalUpdate
from dalenius.programs.pairs import NOTHING
from support import refuses

FLIP = np.array([[0.9, 0.1], [0.1, 0.9]])
CAPACITY = math.log(2.0) + 0.9 * math.log(0.9) + 0.1 * math.log(0.1)


def random_data(rng, letters=3, outputs=4):
    h = rng.uniform(0.0, 3.0, size=letters)
    return rng.dirichlet(np.full(outputs, 0.5), size=letters), h, float(np.log(np.exp(h).sum()))


def x_log_x(x):
    """x log x."""
    return arb(0) if x == 0 else x * x.log()


def balls(program, pi):
    """The entropy and the information of a letter law of doubles, normalised, in ball arithmetic."""
    masses = [arb(float(x)) for x in pi]
    total = sum(masses, arb(0))
    masses = [m / total for m in masses]
    h = sum((m * arb(float(x)) - x_log_x(m) for m, x in zip(masses, program.h, strict=True)), arb(0))
    K = [[arb(float(x)) for x in row] for row in program.K]
    law = [sum((m * row[y] for m, row in zip(masses, K, strict=True)), arb(0)) for y in range(len(K[0]))]
    rows = sum((m * sum(map(x_log_x, row), arb(0)) for m, row in zip(masses, K, strict=True)), arb(0))
    return h, rows - sum(map(x_log_x, law), arb(0))


def test_a_symmetric_channel_without_an_entropy_bound(support):
    answer = MarginalUpdate(FLIP, np.zeros(2), 0.0).solve()
    support.assert_contains(answer, CAPACITY, gap=1e-8)
    assert answer.termination is Termination.GAP_REACHED


def test_the_capacity_of_random_channels(support):
    rng = np.random.default_rng(1)
    for _ in range(5):
        K = rng.dirichlet(np.full(5, 0.3), size=4)
        low, high = support.capacity(K)
        answer = MarginalUpdate(K, np.zeros(4), -1.0).solve()
        assert answer.lower <= high + 1e-12
        assert low <= answer.upper + 1e-12
        assert answer.gap < 1e-7


def test_two_letters_by_brute_force():
    rng = np.random.default_rng(2)
    share = np.linspace(0.0, 1.0, 200_001)
    laws = np.stack([share, 1.0 - share], axis=1)
    logs = np.log(np.where(laws > 0.0, laws, 1.0))
    for _ in range(5):
        K, h, most = random_data(rng, letters=2)
        b = rng.uniform(0.5, 0.999) * most
        program = MarginalUpdate(K, h, b)
        answer = program.solve()
        feasible = laws[laws @ h - np.sum(laws * logs, axis=1) >= b]
        best = max(program.value({"pi": pi}) for pi in feasible[:: max(1, len(feasible) // 5000)])
        assert best <= answer.upper
        assert answer.lower <= best + 1e-5


@pytest.mark.parametrize("short", thinned([0.0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3], every=5))
def test_on_the_knife_edge_of_the_entropy_bound(short):
    """The lower end is reached by a law that is feasible in exact arithmetic; with no room at all that is the largest-entropy law."""
    ctx.prec = 200
    rng = np.random.default_rng(3)
    for _ in range(draws(2, 5)):
        K, h, _ = random_data(rng)
        program = MarginalUpdate(K, h, 0.0)
        program.set(K, h, program.most - short)
        answer = program.solve()
        anchor = program.start()[0]["pi"]
        assert answer.lower <= answer.upper
        assert program.value({"pi": anchor}) <= answer.upper
        entropy, information = balls(program, answer.point["pi"])
        assert bool(information > answer.lower)
        assert bool(entropy >= program.b) or np.allclose(answer.point["pi"], anchor, rtol=0.0, atol=1e-15)


def test_what_is_repaired_is_feasible_in_exact_arithmetic():
    """A law that lacks 1e-16 of entropy can be worth 1e-8 more than the optimum; one that lacks no more than `NOTHING`, 1e-14.

    Where doubles cannot tell the bound from the largest entropy, this is measured from the law of the largest entropy.
    """
    ctx.prec = 200
    rng = np.random.default_rng(6)
    for draw in range(draws(60, 300)):
        K, h, _ = random_data(rng)
        program = MarginalUpdate(K, h, 0.0)
        program.set(K, h, program.most - (0.0 if draw % 3 == 0 else 10.0 ** rng.uniform(-17, -1)))
        anchor = program.start()[0]["pi"]
        near = anchor + 10.0 ** rng.uniform(-12, 0) * rng.normal(size=3)
        entropy, most = balls(program, program.repair({"pi": near})["pi"])[0], balls(program, anchor)[0]
        assert bool(entropy >= program.b) or bool(entropy + 1.01 * NOTHING >= most)


def test_the_bound_holds_whatever_the_multipliers():
    rng = np.random.default_rng(4)
    for draw in range(draws(60, 300)):
        K, h, _ = random_data(rng)
        program = MarginalUpdate(K, h, 0.0)
        program.set(K, h, program.most * rng.choice([1.0, 1.0 - 1e-9, 0.9, 0.1]))
        laws = [program.repair({"pi": rng.dirichlet(np.full(3, s))})["pi"] for s in (0.1, 1.0, 10.0)]
        value = max(program.value({"pi": pi}) for pi in [*laws, program.start()[0]["pi"]])
        law = rng.dirichlet(np.full(4, 0.3)) if draw % 2 else program.start()[1]["law"]
        with np.errstate(all="ignore"):
            for mu in [0.0, *10.0 ** rng.uniform(-300, 300, size=5), *10.0 ** rng.uniform(-6, 20, size=10)]:
                bound = program.bound({"law": law, "mu": np.array(mu)})
                assert not bound < value - 1e-12, (mu, bound, value)


def test_it_is_dpp_and_other_data_do_not_build_another_problem():
    rng = np.random.default_rng(5)
    program = MarginalUpdate(FLIP, np.zeros(2), 0.3)
    assert program.problem.is_dcp(dpp=True)
    problem = program.problem
    for _ in range(3):
        K, h, most = random_data(rng, letters=2, outputs=2)
        program.set(K, h, 0.7 * most)
        answer, fresh = program.solve(), MarginalUpdate(K, h, 0.7 * most).solve()
        assert max(answer.lower, fresh.lower) <= min(answer.upper, fresh.upper)
        assert answer.gap < 1e-7
    assert program.problem is problem


test_bad_input_is_refused_before_any_solver = refuses(
    (FLIP, np.zeros(3), 0.0, "expected K"),
    (FLIP[0], np.zeros(2), 0.0, "expected K"),
    (FLIP, np.zeros(2), 0.7, "no letter law"),
    (FLIP, np.zeros(2), math.nan, "finite"),
    (FLIP, np.array([0.0, math.inf]), 0.0, "finite"),
    (2.0 * FLIP, np.zeros(2), 0.0, "rows"),
    (np.array([[1.1, -0.1], [0.5, 0.5]]), np.zeros(2), 0.0, "rows"),
    (np.array([[math.nan, 1.0], [0.5, 0.5]]), np.zeros(2), 0.0, "rows"),
    by=MarginalUpdate,
)


def test_rows_that_nearly_sum_to_one_are_normalised():
    near = MarginalUpdate(FLIP * (1.0 - 5e-10), np.zeros(2), 0.0).solve()
    assert near.lower <= CAPACITY <= near.upper
