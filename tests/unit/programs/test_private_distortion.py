"""Private mechanisms of least distortion: closed forms, another solver on the raw constraints, valid bounds, bad input."""

import numpy as np
import pytest
from scipy.optimize import linprog

from campaigns import each
from dalenius.errors import InputError
from dalenius.model.mechanism_classes import Additive
from dalenius.model.privacy import Reference
from dalenius.outcome import Termination
from dalenius.programs import PrivateDistortionProgram
from support import refused

CIRCLE = (np.arange(5) - np.arange(5)[:, None]) % 5
FAIR = 0.5 * (1.0 - np.eye(2))


def listed(laws):
    """Laws of all inputs as references; None stays None."""
    return laws and [Reference(tuple(np.flatnonzero(law).tolist()), tuple(p for p in law if p)) for law in laws]


def raw_optimum(cost, factor, laws):
    """HiGHS on Q(x,y) <= c sum_x' beta(x') Q(x',y) alone, written out; laws None: on Q(x,y) <= c Q(x',y)."""
    inputs, outputs = cost.shape
    references = np.eye(inputs) if laws is None else np.asarray(laws, dtype=float)
    blocks = [
        np.kron(np.eye(inputs)[x] - factor * beta, np.eye(outputs))
        for beta in references
        for x in range(inputs)
        if laws is None or beta[x] > 0.0
    ]
    found = linprog(
        cost.reshape(-1),
        A_ub=np.concatenate(blocks),
        b_ub=np.zeros(len(blocks) * outputs),
        A_eq=np.kron(np.eye(inputs), np.ones(outputs)),
        b_eq=np.ones(inputs),
    )
    assert found.status == 0
    return found.fun


def drawn(rng):
    """A cost, a factor, and laws or none."""
    inputs, outputs = rng.integers(2, 6, size=2)
    cost = rng.dirichlet(np.ones(inputs))[:, None] * rng.random((inputs, outputs))
    laws = [rng.dirichlet(np.ones(inputs)) for _ in range(rng.integers(0, 4))]
    for law in laws[1:]:
        law[rng.integers(inputs)] = 0.0
    return cost, float(np.exp(rng.uniform(0.0, 2.0))), [law / law.sum() for law in laws] or None


@each("n", 2, 4)
@each("factor", 1.0, 1.3, 1.9)
def test_closed_forms_of_uniform_laws(n, factor):
    cost, uniform = (1.0 - np.eye(n)) / n, np.full(n, 1.0 / n)
    for laws, value in ((None, 1.0 - factor / (factor + n - 1.0)), ([uniform], 1.0 - factor / n)):
        answer = PrivateDistortionProgram(cost, factor, listed(laws)).solve()
        assert answer.lower <= value <= answer.upper
        assert answer.termination is Termination.GAP_REACHED


@each("seed", *range(8))
def test_another_solver_on_the_raw_constraints_agrees(seed):
    cost, factor, laws = drawn(np.random.default_rng(seed))
    answer = PrivateDistortionProgram(cost, factor, listed(laws)).solve()
    assert answer.lower - 1e-8 <= raw_optimum(cost, factor, laws) <= answer.upper + 1e-8
    assert answer.gap <= 1e-6


@each("seed", *range(8))
def test_any_multipliers_bound_any_private_mechanism(seed):
    rng = np.random.default_rng(seed)
    cost, factor, laws = drawn(rng)
    program = PrivateDistortionProgram(cost, factor, listed(laws))
    shape = program.start()[1]["upper"].shape
    for size in (1e-9, 0.1, 1e9):
        point = program.repair({"q": rng.dirichlet(np.full(cost.shape[1], 0.3), size=len(cost))})
        bound = program.bound({name: size * rng.random(shape) for name in ("upper", "lower")})
        assert bound <= program.value(point)
        Q = program.mechanism(point)
        for beta in np.eye(len(cost)) if laws is None else laws:
            inside = slice(None) if laws is None else beta > 0.0
            assert np.all(Q[inside] <= factor * (beta @ Q) + 1e-12)


def test_multipliers_without_weights_prove_the_least_distortion():
    program = PrivateDistortionProgram(FAIR, 2.0)
    assert program.bound({"upper": np.ones((2, 2)), "lower": np.zeros((2, 2))}) == pytest.approx(0.0, abs=1e-14)


def test_inputs_that_play_no_part_are_free():
    cost = np.array([[0.0, 0.5], [0.5, 0.0], [0.3, 0.0]])
    free = PrivateDistortionProgram(cost, 3.0, [Reference((0, 1))]).solve()
    bound = PrivateDistortionProgram(cost, 3.0).solve()
    assert free.lower <= 0.25 <= free.upper
    assert bound.lower > 0.25


def test_additive_noise():
    program = PrivateDistortionProgram(0.2 * (1.0 - np.eye(5)), 2.0, tied=Additive().tied(5, 5))
    answer = program.solve()
    assert answer.lower <= 1.0 - 2.0 / 6.0 <= answer.upper
    Q = program.mechanism(answer.point)
    assert np.allclose(Q, Q[0][CIRCLE])
    rough = program.repair({"q": np.array([[1.0, 0.0, 0.0, 0.0, 0.0]])})
    assert program.value(rough) == pytest.approx(2.0 / 3.0)


def test_another_factor_is_solved_again():
    program = PrivateDistortionProgram(FAIR, 1.0)
    assert program.solve().lower == pytest.approx(0.5)
    program.set(3.0)
    answer = program.solve()
    assert answer.lower <= 0.25 <= answer.upper


@each("factor", 0.9, np.nan, np.inf, -1.0, True, "2")
def test_factors_that_are_none(factor):
    refused(lambda: PrivateDistortionProgram(FAIR, factor), "factor")


@each("laws", [[0.5, 0.4]], [[1.5, -0.5]], [[np.nan, 1.0]], [[0.5, 0.5], [0.5, 0.4]])
def test_laws_that_are_none(laws):
    refused(lambda: PrivateDistortionProgram(FAIR, 2.0, listed(laws)), "laws above 0, each with sum 1")


def test_references_and_costs_that_do_not_fit():
    for references in ([], [Reference(())], [Reference((0, 2))], [Reference((-1,))], listed([[0.5, 0.25, 0.25]])):
        with pytest.raises(InputError, match="some of the 2 inputs"):
            PrivateDistortionProgram(FAIR, 2.0, references)
    for references in ([Reference((0,)), Reference((1,))], [*listed([[0.5, 0.5]]), Reference((1,))]):
        with pytest.raises(InputError, match="or one without"):
            PrivateDistortionProgram(FAIR, 2.0, references)
    refused(lambda: PrivateDistortionProgram(-FAIR, 2.0), "cost")
    refused(lambda: PrivateDistortionProgram(np.array([0.5, 0.5]), 2.0), "cost")
