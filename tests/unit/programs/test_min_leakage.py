"""The least leakage under a distortion budget: closed forms, knife edges; test_mechanism_update.py has what both updates have."""

import math

import numpy as np
import pytest

from campaigns import each
from dalenius.errors import InputError
from dalenius.model.mechanism_classes import Additive, TiedEntries
from dalenius.programs import MinLeakageProgram
from dalenius.programs import mechanism_update as update
from definitions import information

SAY_NOTHING = [np.array([[0.25, 0.25, 0.0, 0.0], [0.0, 0.0, 0.25, 0.25]])]  # two bits, of which the first is secret


def between(cost, share, instances):
    low, high = instances.distortions(cost)
    return low + share * (high - low)


def test_a_biased_bit_with_hamming_distortion():
    def h(p):
        return -p * math.log(p) - (1.0 - p) * math.log1p(-p)

    for p, D in ((0.1, 0.03), (0.3, 0.1), (0.45, 0.2)):
        law = np.array([p, 1.0 - p])
        answer = MinLeakageProgram([np.diag(law)], law[:, None] * (1.0 - np.eye(2)), D).solve()
        assert answer.lower <= h(p) - h(D) <= answer.upper
        assert answer.gap <= 1e-8 * answer.upper + 1e-11


def test_an_erasure():
    """Anything but the truth or silence is forbidden by its cost: one tells the truth as often as the budget asks."""
    law = np.array([0.2, 0.3, 0.5])
    distortion = np.append(10.0 * (1.0 - np.eye(3)), np.ones((3, 1)), axis=1)
    for share in (0.1, 0.5):
        answer = MinLeakageProgram([np.diag(law)], law[:, None] * distortion, share).solve()
        silent = (1.0 - share) * float(-np.sum(law * np.log(law)))
        assert answer.upper <= silent + 1e-8
        assert answer.lower > 0.9 * silent


def test_tied_entries_cost_something_where_a_problem_is_not_symmetric(instances):
    rng = np.random.default_rng(9)
    cost, prior = rng.random((4, 4)) / 4.0, [np.diag(rng.dirichlet(np.ones(4)))]
    shifted = Additive().tied(4, 4)
    low = float(MinLeakageProgram(prior, cost, 10.0, tied=shifted).tied_cost.min())
    tied, free = MinLeakageProgram(prior, cost, low, tied=shifted), MinLeakageProgram(prior, cost, low)
    assert free.solve().upper < tied.solve().lower
    two_kinds = TiedEntries([[0, 1, 2], [0, 1, 2], [5, 3, 4]])  # rows of the variable for some inputs, permuted
    cost = rng.random((3, 3)) / 3.0
    program = MinLeakageProgram([np.diag([0.2, 0.3, 0.5])], cost, between(cost, 0.8, instances) + 0.05, tied=two_kinds)
    answer = program.solve()
    Q = program.mechanism(answer.point)
    assert np.array_equal(Q[0], Q[1])
    assert Q[2].tolist() == answer.point["q"][1][[2, 0, 1]].tolist()


# ---------------------------------------------------------------- degenerate data


@each("over", 0.0, 1e-16, 1e-12, 1e-9, 1e-6, every=2)
def test_on_the_edge_of_the_least_distortion(instances, over):
    rng = np.random.default_rng(10)
    for _ in range(5):
        laws, cost = instances.update_data(rng, least=3, most=4)
        answer = MinLeakageProgram(laws, cost, between(cost, 0.0, instances) * (1.0 + over)).solve()
        cheapest = np.eye(cost.shape[1])[cost.argmin(axis=1)]
        exact = max(information(masses @ cheapest) for masses in laws)
        assert answer.lower <= exact + 1e-14
        assert abs(answer.upper - exact) <= (1e-11 if over == 0.0 else 1e-3)
        assert answer.gap <= 1e-6 * (1e-3 + answer.upper)


def test_ties_among_the_cheapest_outputs_are_left_to_the_leakage():
    """Two outputs are free for every input: telling nothing costs nothing."""
    cost = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) / 3.0
    answer = MinLeakageProgram([np.eye(3) / 3.0], cost, 0.0).solve()
    assert answer.upper <= 1e-11
    cost = np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]) / 4.0
    answer = MinLeakageProgram([np.eye(4) / 4.0], cost, 0.0).solve()  # one of two neighbours on a circle
    assert answer.lower <= math.log(2.0) <= answer.upper
    assert answer.gap <= 1e-7


def test_a_budget_an_ulp_below_the_least_distortion_is_that_distortion():
    cost = np.array([[0.1], [0.2], [0.4]])
    for budget in (cost.sum(), np.nextafter(cost.sum(), 0.0)):
        answer = MinLeakageProgram([np.eye(3) / 3.0], cost, budget).solve()
        assert answer.lower <= 0.0 <= answer.upper <= 1e-11
    with pytest.raises(InputError, match="the least is 3e-20"):
        MinLeakageProgram([np.eye(3) / 3.0], np.full((3, 3), 1e-20), 2e-20)


@pytest.mark.thorough
def test_a_mechanism_that_tells_nothing_though_it_is_not_constant():
    cost = 0.25 * (1.0 - np.eye(4))
    for budget, most in ((0.5, 1e-11), (0.51, 1e-11), (0.4999999, 1e-11), (0.45, 0.00501)):
        answer = MinLeakageProgram(SAY_NOTHING, cost, budget).solve()
        assert 0.0 <= answer.upper <= most
        assert answer.lower <= answer.upper
        assert answer.gap <= 1e-10


def test_improving_ends_with_the_time(instances, monkeypatch):
    """Our own method looks at the clock before every step, and does not begin one without time."""
    laws, cost = instances.update_data(np.random.default_rng(16), least=5)
    program, steps = MinLeakageProgram(laws, cost, between(cost, 0.4, instances)), []
    real = update.interior_points
    monkeypatch.setattr(update, "interior_points", lambda aim: (steps.append(1) or point for point in real(aim)))
    monkeypatch.setattr("cvxcertify.solvers.SETTINGS", {"CLARABEL": ({"max_iter": 1},)})
    program.wanted, (point, multipliers) = 1e-8, program.start()
    for seconds, most in ((-1.0, 0), (math.inf, 200)):
        program.deadline = update.time.monotonic() + seconds
        better = program.own(point, multipliers)
        assert len(steps) <= most
        assert program.value(better[0]) <= program.value(point)
        assert program.bound(better[1]) >= program.bound(multipliers)
    assert len(steps) > 5
    assert program.value(better[0]) - program.bound(better[1]) <= 1e-8 * program.value(better[0])
