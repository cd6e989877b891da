"""Classes of laws as adversaries: against Clarabel, against laws of the class, and against listing the selections."""

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.information import measures as m


def classes(law):
    """Each class around a law, and its constraints in cvxpy."""
    away = np.roll(law, 1)
    share = cp.Variable(nonneg=True)
    return [
        (dl.FloorPriors("1/20"), lambda p: [p >= 0.05]),
        (dl.BoxPriors(law * 0.5, law * 1.5), lambda p: [p >= law * 0.5, p <= law * 1.5]),
        (dl.PolytopePriors([law, away]), lambda p: [p == share * law + (1 - share) * away, share <= 1]),
        (dl.L1BallPriors(law, 0.3), lambda p: [cp.norm1(p - law) <= 0.3]),
        (dl.KLBallPriors(law, 0.05), lambda p: [cp.sum(cp.rel_entr(p, law)) <= 0.05]),
        (dl.ChiSquareBallPriors(law, 0.1), lambda p: [cp.sum(cp.square(p - law) / law) <= 0.1]),
    ]


def by_clarabel(channel, constraints):
    p = cp.Variable(len(channel), nonneg=True)
    negentropy = np.sum(channel * np.log(channel), axis=1)
    goal = cp.sum(cp.entr(channel.T @ p)) + negentropy @ p
    return float(cp.Problem(cp.Maximize(goal), [cp.sum(p) == 1, *constraints(p)]).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("seed", range(draws(1, 20)))
def test_one_record_against_a_cone_program(support, seed):
    draw = np.random.default_rng(seed)
    weights, counts = draw.integers(1, 9, 4), draw.integers(1, 9, (4, 3))
    law, channel = weights / weights.sum(), counts / counts.sum(axis=1, keepdims=True)
    for adversary, constraints in classes(law):
        problem = support.problem([4], dl.Identity(), dl.Channel(channel), adversary)
        result = dl.solve(problem, gap=1e-8)
        value = by_clarabel(channel, constraints)
        assert result.lower - 1e-6 <= value <= result.upper + 1e-6, adversary.kind
        assert result.gap <= 1e-8
        assert not result.refusals
        assert dl.verify(problem, result.certificate).proved
        assert m.mutual_information(channel, result.witness.masses.sum(axis=1)) >= result.lower - 1e-12


@each("query", dl.Count(), dl.Sum([0, 3, 1]), dl.Identity())
def test_several_records_are_their_selections(support, query):
    letters = 2 if query.kind == "count" else 3
    records, draw = dl.Records(2, alphabet=letters), np.random.default_rng(letters)
    rows = draw.dirichlet(np.full(3, 0.5), size=query.values(records).size)
    law = np.array([0.7, 0.3]) if letters == 2 else np.array([0.5, 0.3, 0.2])
    adversary = dl.L1BallPriors(law, 0.2)
    result = dl.solve(support.problem(records, query, dl.Channel(rows), adversary), gap=1e-9)
    inputs = np.array(support.inputs_of_datasets(support.problem(records, query, dl.Channel(rows), dl.ProductPriors())))
    grid = inputs.reshape(letters, letters)
    chosen = {*map(tuple, grid), *map(tuple, grid.T)}
    each = [dl.measure(rows[list(k)], prior=m.PriorBall(law, 0.2))["mutual_information"] for k in chosen]
    assert result.lower <= max(found.upper for found in each) + 1e-12
    assert max(found.lower for found in each) - 1e-12 <= result.upper
    assert result.gap <= 1e-9


def test_what_a_smaller_class_learns_is_no_more(support):
    channel = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
    law, before = [0.5, 0.3, 0.2], 0.0
    for radius in (0, 0.001, 0.02, 5):
        result = dl.solve(support.problem([3], dl.Identity(), dl.Channel(channel), dl.KLBallPriors(law, radius)))
        assert result.upper >= before
        before = result.lower
    everybody = dl.solve(support.problem([3], dl.Identity(), dl.Channel(channel), dl.AnyPrior()))
    assert result.lower <= everybody.upper
    assert everybody.lower <= result.upper


@pytest.mark.parametrize(
    "adversary", [dl.KLBallPriors([0.5, 0.3, 0.2], 0.02), dl.PolytopePriors([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])]
)
def test_designs(adversary):
    problem = support.design(
        dl.MinLeakage,
        dl.Records(1, alphabet=3),
        dl.Identity(),
        dl.Hamming(),
        0.2,
        adversary,
        law=dl.Iid([0.5, 0.3, 0.2]),
    )
    result = dl.solve(problem, gap=1e-3)
    assert result.gap <= 1e-3
    again = dl.solve(problem.release(result.mechanism.rows), gap=1e-6)
    assert again.lower <= result.upper
    assert result.lower <= again.upper
