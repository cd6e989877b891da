"""Entropies, informations, costs and limits: DCP and DPP as they say, equal to plain numpy, clear about what they cannot do."""

import math

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.atoms import (
    concave_entropy,
    entropy_at_least,
    expected_cost,
    expected_distortion,
    information_of_prior,
    leakage,
    letter_masses,
    mutual_information,
)
from dalenius.errors import InputError
from dalenius.programs.mechanism import Leakages, conic_leakages
from dalenius.reduction import record_channels
from definitions import information
from support import refuses

INPUTS, OUTPUTS, LETTERS = 4, 3, 2


def plain_entropy(p):
    p = p[p > 0.0]
    return float(-np.sum(p * np.log(p)))


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def masses(rng):
    return rng.dirichlet(np.ones(LETTERS * INPUTS)).reshape(LETTERS, INPUTS)


def mechanism():
    Q = cp.Variable((INPUTS, OUTPUTS), nonneg=True)
    return Q, [cp.sum(Q, axis=1) == 1]


def set_to(variable, value):
    variable.save_value(value)
    return variable


# ---------------------------------------------------------------- values


def test_values_are_those_of_numpy(rng, masses):
    for _ in range(20):
        Q = set_to(mechanism()[0], rng.dirichlet(np.full(OUTPUTS, 0.4), size=INPUTS))
        joint = masses @ Q.value
        assert leakage(Q, masses).value == pytest.approx(information(joint), abs=1e-12)
        U = set_to(cp.Variable(joint.shape, nonneg=True), joint)
        assert mutual_information(U, joint.sum(axis=1)).value == pytest.approx(information(joint), abs=1e-12)
        p = set_to(cp.Variable(INPUTS, nonneg=True), rng.dirichlet(np.ones(INPUTS)))
        expected = information(p.value[:, None] * Q.value)
        assert information_of_prior(p, Q.value).value == pytest.approx(expected, abs=1e-12)
        d, law = rng.normal(size=Q.shape), masses.sum(axis=0)
        assert expected_distortion(Q, law, d).value == pytest.approx(
            float(law @ np.sum(d * Q.value, axis=1)), abs=1e-12
        )
        logs = rng.normal(size=INPUTS)
        (constraint,) = entropy_at_least(p, 0.0, log_counts=logs)
        assert -constraint.expr.value == pytest.approx(plain_entropy(p.value) + logs @ p.value, abs=1e-12)


def test_values_with_zeros(masses):
    Q = set_to(mechanism()[0], np.eye(INPUTS, OUTPUTS) + np.eye(INPUTS, OUTPUTS, k=-3))
    assert leakage(Q, masses).value == pytest.approx(information(masses @ Q.value), abs=1e-12)
    silent = np.vstack([masses, np.zeros((1, INPUTS))])
    assert leakage(Q, silent).value == pytest.approx(information(masses @ Q.value), abs=1e-12)
    U = set_to(cp.Variable((3, OUTPUTS), nonneg=True), silent @ Q.value)
    assert mutual_information(U, silent.sum(axis=1)).value == pytest.approx(information(masses @ Q.value), abs=1e-12)


def test_where_rows_break_their_law_or_the_output_law_is_free_the_value_is_too_large(rng, masses):
    for _ in range(20):
        Q = set_to(mechanism()[0], rng.dirichlet(np.ones(OUTPUTS), size=INPUTS))
        joint = masses @ Q.value
        other = rng.dirichlet(np.ones(LETTERS))
        U = set_to(cp.Variable(joint.shape, nonneg=True), joint)
        assert mutual_information(U, other).value >= information(joint)
        r = set_to(cp.Variable(OUTPUTS, nonneg=True), rng.dirichlet(np.ones(OUTPUTS)))
        assert leakage(Q, masses, output_law=r).value >= information(joint)


# ---------------------------------------------------------------- curvature


def test_curvature_with_numbers(masses):
    Q, _ = mechanism()
    r, p = cp.Variable(OUTPUTS, nonneg=True), cp.Variable(INPUTS, nonneg=True)
    joint = cp.Variable((LETTERS, OUTPUTS), nonneg=True)
    assert leakage(Q, masses).is_convex()
    assert leakage(Q, masses, output_law=r).is_convex()
    assert mutual_information(joint, masses.sum(axis=1)).is_convex()
    assert mutual_information(masses @ Q, masses.sum(axis=1)).is_convex()
    assert information_of_prior(p, np.full((INPUTS, OUTPUTS), 1 / OUTPUTS)).is_concave()
    assert expected_distortion(Q, masses.sum(axis=0), np.ones((INPUTS, OUTPUTS))).is_affine()
    assert all(c.is_dcp(dpp=True) for c in entropy_at_least(p, 0.5, log_counts=np.array([0.0, 1.0, -np.inf, 2.0])))
    assert all(c.is_dcp(dpp=True) for c in entropy_at_least(Q, 0.5))


def test_everything_is_dpp_in_its_data(masses):
    Q, laws = mechanism()
    p, joint = cp.Variable(INPUTS, nonneg=True), cp.Variable((LETTERS, OUTPUTS), nonneg=True)
    P, law = cp.Parameter((LETTERS, INPUTS), nonneg=True), cp.Parameter(INPUTS, nonneg=True)
    d, R = cp.Parameter((INPUTS, OUTPUTS)), cp.Parameter((INPUTS, OUTPUTS), nonneg=True)
    pi, b, logs = cp.Parameter(LETTERS, nonneg=True), cp.Parameter(), cp.Parameter(INPUTS)
    for objective in (
        cp.Minimize(leakage(Q, P)),
        cp.Minimize(leakage(Q, P, output_law=cp.Variable(OUTPUTS, nonneg=True))),
        cp.Minimize(mutual_information(joint, pi)),
        cp.Maximize(information_of_prior(p, R)),
        cp.Minimize(expected_distortion(Q, law, d)),
        cp.Minimize(expected_distortion(Q, law, np.ones((INPUTS, OUTPUTS)))),
    ):
        assert cp.Problem(objective, laws).is_dcp(dpp=True), objective
    assert all(c.is_dcp(dpp=True) for c in entropy_at_least(p, b, log_counts=logs))
    assert all(c.is_dcp(dpp=True) for c in entropy_at_least(p, b))


def test_parameters_may_be_set_later_and_again(rng):
    """One model, solved for several priors, against a model each."""
    Q, laws = mechanism()
    P, law = cp.Parameter((LETTERS, INPUTS), nonneg=True), cp.Parameter(INPUTS, nonneg=True)
    d = rng.random((INPUTS, OUTPUTS))
    model = cp.Problem(cp.Minimize(leakage(Q, P)), [*laws, expected_distortion(Q, law, d) <= 0.3])
    for _ in range(3):
        P.value = rng.dirichlet(np.ones(LETTERS * INPUTS)).reshape(LETTERS, INPUTS)
        law.value = P.value.sum(axis=0)
        model.solve(solver="CLARABEL")
        fresh = cp.Problem(
            cp.Minimize(leakage(Q, P.value)), [*laws, expected_distortion(Q, P.value.sum(axis=0), d) <= 0.3]
        )
        assert fresh.solve(solver="CLARABEL") == pytest.approx(model.value, abs=1e-6)
        assert information(P.value @ Q.value) == pytest.approx(model.value, abs=1e-6)


# ---------------------------------------------------------------- models


def test_an_output_law_of_ones_own_has_the_same_minimum(rng, masses):
    Q, laws = mechanism()
    r, d = cp.Variable(OUTPUTS, nonneg=True), rng.random((INPUTS, OUTPUTS))
    law = masses.sum(axis=0)
    budget = expected_distortion(Q, law, d) <= float(law @ d.min(axis=1)) + 0.02
    plain = cp.Problem(cp.Minimize(leakage(Q, masses)), [*laws, budget]).solve(solver="CLARABEL")
    free = cp.Problem(cp.Minimize(leakage(Q, masses, output_law=r)), [*laws, budget, cp.sum(r) == 1])
    assert 1e-4 < plain < 1.0
    assert free.solve(solver="CLARABEL") == pytest.approx(plain, abs=1e-6)
    assert r.value == pytest.approx((masses @ Q.value).sum(axis=0), abs=1e-3)


def test_classes_without_datasets_carry_no_mass():
    p = cp.Variable((2, 2), nonneg=True)
    logs = np.array([[0.0, -np.inf], [1.0, 0.5]])
    model = cp.Problem(
        cp.Maximize(p[0, 1] + 0.1 * p[0, 0]), [cp.sum(p) == 1, *entropy_at_least(p, 1.5, log_counts=logs)]
    )
    model.solve(solver="CLARABEL")
    assert abs(p.value[0, 1]) < 1e-7
    assert p.value[0, 0] > 0.1


def test_a_record_of_a_problem():
    """The least information of one prior about a record, and the entropy bound, from a WorstCaseLeakage."""
    problem = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1.0), 1.0)
    record = record_channels(problem)[0]
    uniform = record.lift(record.uniform)
    assert uniform == pytest.approx(letter_masses(problem, 1, np.full(8, 1 / 8)))
    Q = set_to(cp.Variable(problem.channel.shape, nonneg=True), problem.channel)
    assert leakage(Q, uniform).value == pytest.approx(information(record.uniform @ record.rows), abs=1e-12)
    p = set_to(cp.Variable(record.log_uniform.shape, nonneg=True), record.uniform)
    constraints = entropy_at_least(p, -record.max_knowledge, log_counts=record.log_uniform)
    assert max(float(np.max(c.violation())) for c in constraints) <= 1e-12
    assert constraints[0].expr.value == pytest.approx(-record.max_knowledge, abs=1e-12), (
        "the uniform prior has all the entropy"
    )


def test_letter_masses_by_listing(support):
    rng = np.random.default_rng(3)
    problem = support.problem([2, 3, 2], dl.Sum(), dl.geometric(0.5), 0.3)
    prior = rng.dirichlet(np.ones(12))
    for record, size in enumerate((2, 3, 2)):
        table = np.zeros((size, len(problem.channel)))
        for mass, data, k in zip(
            prior, support.datasets(problem.records), support.inputs_of_datasets(problem), strict=True
        ):
            table[data[record], k] += mass
        assert letter_masses(problem, record, prior) == pytest.approx(table)
        expected = support.leakage(prior, support.letters_of(problem, record), support.full_channel(problem))
        assert leakage(problem.channel, letter_masses(problem, record, prior)).value == pytest.approx(
            expected, abs=1e-12
        )


# ---------------------------------------------------------------- bad input

Q = cp.Variable((2, 2), nonneg=True)
MASSES = np.array([[0.5, 0.0], [0.0, 0.5]])
FAIR = np.array([0.5, 0.5])


test_bad_input_is_refused = refuses(
    (lambda: mutual_information(Q), "neither convex nor concave"),
    (lambda: mutual_information(Q, [0.5, 0.4]), "sum to 1"),
    (lambda: mutual_information(Q, [1.5, -0.5]), "nonnegative"),
    (lambda: mutual_information(Q, [1.0]), "expected shape"),
    (lambda: mutual_information(Q, cp.Variable(2)), "variables"),
    (lambda: mutual_information(Q[0], FAIR), "expected a matrix"),
    (lambda: leakage(Q, Q), "variables"),
    (lambda: leakage(Q, 2.0 * MASSES), "sum to 1"),
    (lambda: leakage(Q, np.ones((2, 3)) / 6), "expected shape"),
    (lambda: leakage(Q, [[0.5, math.nan], [0.0, 0.5]]), "finite"),
    (lambda: leakage(Q, [["a", 0.5], [0.0, 0.5]]), "real numbers"),
    (lambda: leakage(Q, MASSES + 0j), "real numbers"),
    (lambda: leakage(Q, MASSES, output_law=cp.Variable(3)), "vector of 2"),
    (lambda: information_of_prior(Q[0], 2.0 * np.eye(2)), "rows each sum to 1"),
    (lambda: information_of_prior(Q, np.eye(2)), "expected a vector"),
    (lambda: information_of_prior(Q[0], np.eye(3)), "expected shape"),
    (lambda: expected_distortion(Q, FAIR, [[0.0, math.inf], [1.0, 0.0]]), "finite"),
    (lambda: expected_distortion(Q, FAIR, np.eye(3)), "expected shape"),
    (lambda: expected_distortion(Q, [0.5, 0.6], np.eye(2)), "sum to 1"),
    (lambda: entropy_at_least(Q[0], 0.7), "at most 0.693147"),
    (lambda: entropy_at_least(Q[0], math.nan), "largest entropy"),
    (lambda: entropy_at_least(Q[0], "much"), "real numbers"),
    (lambda: entropy_at_least(Q[0], [0.1, 0.2]), "a number of nats"),
    (lambda: entropy_at_least(Q[0], 0.1, log_counts=[0.0, math.inf]), "or -inf"),
    (lambda: entropy_at_least(Q[0], 0.1, log_counts=[0.0]), "of shape"),
    (lambda: entropy_at_least(Q[0], 0.1, log_counts=[-math.inf, -math.inf]), "largest entropy"),
)


@each("record", -1, 2, "0")
def test_a_record_that_is_not_there(support, record):
    with pytest.raises(InputError, match="record"):
        letter_masses(support.problem([2, 2], dl.Parity(), dl.symmetric(0.1, k=2), 0.0), record, np.full(4, 0.25))


# ---------------------------------------------------------------- what the programs are made from


def test_entropy_with_counts_and_weights_is_that_of_numpy_and_dpp(rng):
    p, counts, weights = rng.dirichlet(np.ones(5)), rng.integers(1, 9, size=5), rng.random(5)
    x, parameter = set_to(cp.Variable(5, nonneg=True), p), cp.Parameter(5, nonneg=True, value=weights)
    spread = -p * np.log(p) + p * np.log(counts)
    assert float(concave_entropy(x).value) == pytest.approx(plain_entropy(p), abs=1e-14)
    assert float(concave_entropy(x, log_counts=np.log(counts)).value) == pytest.approx(spread.sum(), abs=1e-14)
    weighted = concave_entropy(x, log_counts=np.log(counts), weights=parameter)
    assert float(weighted.value) == pytest.approx(weights @ spread, abs=1e-14)
    assert weighted.is_concave()
    assert weighted.is_dpp()


def test_leakages_in_cones_have_the_minimum_of_the_atom_and_posteriors_as_multipliers(masses):
    """Both state the same model; log phi = beta/alpha - 1 for the cones' multipliers (alpha, beta, gamma)."""
    cost = np.abs(np.subtract.outer(np.arange(INPUTS), np.arange(OUTPUTS)))
    Q, laws = mechanism()
    cheap = expected_cost(Q, masses.sum(axis=0)[:, None] * cost) <= 0.8
    atom = cp.Problem(cp.Minimize(leakage(Q, masses)), [*laws, cheap])
    cones = conic_leakages(Q, Leakages("test", [masses], INPUTS))
    written = cp.Problem(cp.Minimize(cp.sum(cones.values)), [*laws, cheap, *cones.constraints.values()])
    assert written.solve(solver="CLARABEL") == pytest.approx(atom.solve(solver="CLARABEL"), abs=1e-6)
    joint = masses @ Q.value
    alpha, beta, _ = (np.asarray(x).reshape(joint.shape) for x in cones.constraints["posteriors"].dual_value)
    likely = joint.sum(axis=0) > 1e-3
    assert np.allclose(np.exp(beta / alpha - 1.0)[:, likely], (joint / joint.sum(axis=0))[:, likely], atol=1e-3)
