"""The most useful mechanism made of given columns: closed forms, another solver, what it cannot take."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import dalenius as dl
import support
from dalenius.programs import MostInformation
from definitions import information

BIT = np.array([[1.0, 1.0], [1.0, 3.0], [3.0, 1.0]])


def told(columns, law):
    """What each column adds to I(X;Y)."""
    joint = columns * law
    return np.sum(joint * np.log(columns / joint.sum(axis=1, keepdims=True)), axis=1)


def test_it_is_the_linear_program(instances):
    for seed in range(10):
        program = instances.make(MostInformation, seed)
        answer = program.solve()
        other = linprog(-program.values, A_eq=program.columns.T, b_eq=np.ones(program.columns.shape[1]))
        assert answer.lower - 1e-9 <= -other.fun <= answer.upper + 1e-9
        assert answer.gap <= 1e-8 * abs(answer.upper) + 1e-11
        Q = program.mechanism(answer.point)
        assert Q.sum(axis=1) == pytest.approx(np.ones(len(Q)), abs=1e-11)
        assert Q.min() >= 0.0


def test_randomized_response_tells_most_about_a_bit():
    law = np.array([0.3, 0.7])
    answer = MostInformation(BIT, told(BIT, law)).solve()
    exact = float(information(law[:, None] * np.array([[0.75, 0.25], [0.25, 0.75]])))
    assert answer.lower <= exact <= answer.upper


def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances):
    laws = [np.array([p, 1.0 - p]) for p in (0.5, 0.4, 0.1)]
    program = MostInformation(BIT, told(BIT, laws[0]))

    def changed():
        for law in laws[1:]:
            program.set(told(BIT, law))
            yield MostInformation(BIT, told(BIT, law))

    instances.assert_solved_again(program, changed())


def test_any_prices_bound(instances):
    program = instances.make(MostInformation, 3)
    exact, rng = program.solve().lower, np.random.default_rng(0)
    for _ in range(50):
        assert program.bound({"prices": rng.normal(size=program.columns.shape[1])}) >= exact
    assert program.project({"rows": np.ones(99)}) is None
    assert program.repair({"weights": np.ones(99)}) is None
    assert program.repair({"weights": np.zeros(program.sums.size)})["weights"][0] == pytest.approx(1.0)


test_bad_input_is_refused = support.refuses(
    (lambda: MostInformation(BIT[1:], np.zeros(2)), "the first of ones"),
    (lambda: MostInformation(-BIT, np.zeros(3)), "at least 0"),
    (lambda: MostInformation(np.vstack([BIT, [0.0, 0.0]]), np.zeros(4)), "none all 0"),
    (lambda: MostInformation(BIT, np.zeros(2)), "a finite value for each of 3 columns"),
    (lambda: MostInformation(BIT, [0.0, math.nan, 0.0]), "a finite value"),
    (lambda: MostInformation(np.ones(3), np.zeros(3)), "expected columns"),
)


def test_a_model_of_the_library_offers_it():
    """And its value is what is proved of the model."""
    for name in ("information/count-local-dp", "information/useful-pml"):
        result = dl.solve(dl.load(name))
        answer = dl.subproblem(dl.load(name), "linear").solve()
        assert max(answer.lower, result.lower) <= min(answer.upper, result.upper) + 1e-9
        assert answer.gap <= 1e-7
