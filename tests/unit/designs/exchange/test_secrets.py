"""Designs whose mechanism may tell only so much about a secret, whatever the law of the data: one output law a selection of inputs."""

import itertools

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each, thinned
from dalenius.designs.exchange.secrets import limit_sections, told_laws
from dalenius.evidence.lower import SelectionLine
from dalenius.information.capacity import capacity
from support import refused

VOTES = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
WON = dl.Secret(dl.Threshold(2))
D2B = [("0.01", 0.679407430), ("0.05", 0.590506638), ("0.1", 0.512998014)]  # nats, least error


def told(problem: dl.MinDistortion, rows) -> float:
    """What the mechanism tells about the secret of its first constraint under all laws, by the audit of secrets."""
    channel = dl.Channel(problem.expand(rows), inputs=problem.inputs)
    limit = problem.own_constraints[0]
    return dl.solve(
        dl.SecretLeakage(
            records=problem.records,
            query=problem.query,
            mechanism=channel,
            adversary=dl.AnyPrior(),
            secrets=limit.secret,
        ),
        gap=1e-9,
    ).upper


@pytest.mark.parametrize(("at_most", "least"), thinned(D2B, every=3))
def test_the_catalogue(at_most, least):
    """D2b: a count of three, g the majority."""
    problem = dl.MinDistortion(**VOTES, constraints=[dl.constraints.SecretLeakageLimit(WON, at_most)])
    found = dl.solve(problem, gap=1e-7)
    assert found.lower - 1e-9 <= least <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-7
    assert told(problem, found.mechanism.rows) <= float(at_most) * (1.0 + 1e-9)
    assert any(isinstance(line, SelectionLine) for line in found.certificate.lower_lines())
    assert 0.0 <= found.constraints[0].slack < 1e-8
    assert found.constraints[0].price > 0.0


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(draws(12, 12)))
def test_random_secrets_against_cvxpy(seed):
    """The program as it is written, one law for each selection, by cvxpy itself; secrets of two and three values, with a given one."""
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    records = dl.Records(2, alphabet=2 + seed % 2)
    g, w = rng.integers(0, 2 + seed % 2, records.datasets), rng.integers(0, 1 + seed // 2 % 2, records.datasets)
    g[:2] = (0, 1)
    inputs = rng.integers(0, 3, records.datasets)
    inputs[:3] = (0, 1, 2)
    problem = dl.MinDistortion(
        records=records,
        query=dl.Table(inputs.tolist()),
        distortion=dl.Hamming(),
        constraints=[
            dl.constraints.SecretLeakageLimit(
                dl.Secret(dl.Table(g.tolist()), given=[] if w.max() == 0 else dl.Table(w.tolist())), "0.1"
            )
        ],
    )
    Q, limits = cp.Variable((3, 3), nonneg=True), []
    for c in set(w.tolist()):
        cells = [sorted(set(inputs[(g == a) & (w == c)].tolist())) for a in sorted(set(g[w == c].tolist()))]
        for chosen in itertools.product(*cells):
            q = cp.Variable(3, nonneg=True)
            limits += [cp.sum(q) == 1, *(cp.sum(cp.rel_entr(Q[k], q)) <= 0.1 for k in chosen)]
    cost = problem.input_law[:, None] * problem.cost
    value = cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, Q))), [cp.sum(Q, axis=1) == 1, *limits]).solve()
    found = dl.solve(problem, gap=1e-6)
    assert found.lower - 1e-6 <= value <= found.upper + 1e-6
    assert found.upper - found.lower < 2e-6
    assert found.lower == 0.0 or told(problem, found.mechanism.rows) <= 0.1 * (1.0 + 1e-9)


def test_selections_are_those_that_no_other_one_contains():
    problem = dl.MinDistortion(**VOTES, constraints=[dl.constraints.SecretLeakageLimit(dl.Secret(dl.Letters(0)), 1)])
    pairs = {frozenset(k for _, k in law.chosen) for law in told_laws(problem)}
    assert pairs == {frozenset(pair) for pair in itertools.combinations(range(4), 2)}
    rows = np.full((4, 4), 0.25)
    assert len(list(limit_sections(problem, 0, problem.own_constraints[0], None))) == 1
    assert [line.word for line in limit_sections(problem, 0, problem.own_constraints[0], rows)] == [
        "adversary",
        "cell",
        "law",
    ]
    assert capacity(rows).upper < 1e-12


def test_with_no_room_there_is_none_and_with_too_many_selections_no_answer():
    tight = dl.MinDistortion(
        **VOTES, constraints=[dl.constraints.ErrorCap("0.3"), dl.constraints.SecretLeakageLimit(WON, "0.01")]
    )
    found = dl.solve(tight)
    assert found.termination is dl.answers.Termination.INFEASIBLE
    assert dl.verify(tight, found.certificate).proved
    refused(
        lambda: dl.MinDistortion(
            records=dl.Records(1, alphabet=28),
            query=dl.Identity(),
            distortion=dl.Hamming(),
            constraints=[dl.constraints.SecretLeakageLimit(dl.Secret(dl.ModularSum(4)), 1)],
        ),
        "at most 2048 are worked with",
    )


def test_of_a_secret_that_nothing_tells_the_whole_limit_is_left():
    """Its value is known from what is given."""
    idle = dl.constraints.SecretLeakageLimit(dl.Secret(dl.Letters(0), given=dl.Letters(0)), "0.1")
    problem = dl.MinDistortion(**VOTES, constraints=[idle])
    found = dl.solve(problem)
    assert found.lower == found.upper == 0.0
    assert found.constraints[0].slack == 0.1
    assert dl.verify(problem, found.certificate).proved


@each("at_most", 0, "-0.1 bits", "0.1 eggs")
def test_a_limit_is_above_zero(at_most):
    refused(lambda: dl.constraints.SecretLeakageLimit(WON, at_most), "at_most")
