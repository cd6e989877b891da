"""Secrets against their definition: joint laws listed dataset by dataset, selections listed one by one, laws drawn at random."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from dalenius.information.capacity import capacity


def told(law, rows, of, given):
    """I(of; Y | given) by its definition."""
    joint = np.zeros((max(given) + 1, max(of) + 1, rows.shape[1]))
    np.add.at(joint, (given, of), law[:, None] * rows)
    both, output, mass = (
        joint.sum(axis=2, keepdims=True),
        joint.sum(axis=1, keepdims=True),
        joint.sum(axis=(1, 2), keepdims=True),
    )
    ratio = np.divide(joint * mass, both * output, out=np.ones_like(joint), where=joint > 0.0)
    return float(np.sum(joint * np.log(ratio)))


def best_selection(rows, of, given):
    """The largest capacity of one dataset for each value, for one value of what is given."""
    best = 0.0
    for c in set(given):
        cells = [[x for x in range(len(of)) if given[x] == c and of[x] == a] for a in sorted(set(of))]
        for chosen in itertools.product(*filter(None, cells)):
            best = max(best, capacity(rows[list(chosen)], gap=1e-12).lower)
    return best


def drawn(seed):
    """A small database, its channel, a secret as labels of the datasets, and what is given."""
    draw = np.random.default_rng(seed)
    records = dl.Records(alphabets=[(2, 2), (2, 3), (2, 2, 2)][seed % 3])
    size = records.datasets
    counts = draw.integers(1, 9, (size, 3))
    rows = counts / counts.sum(axis=1, keepdims=True)
    of, given = draw.integers(0, 3, size).tolist(), draw.integers(0, 1 + seed % 3, size).tolist()
    return draw, records, rows, of, given


def stated(records, rows, of, given, adversary):
    secret = dl.Secret(dl.Table(of), given=dl.Table(given))
    return dl.SecretLeakage(
        records=records, mechanism=dl.Channel(rows, inputs="dataset"), adversary=adversary, secrets=secret
    )


@each("seed", *range(draws(6, 200)))
def test_all_laws_are_as_good_as_selections(seed):
    draw, records, rows, of, given = drawn(seed)
    result = dl.solve(stated(records, rows, of, given, dl.AnyPrior()), gap=1e-9)
    assert result.gap <= 1e-9 or result.upper < 1e-12
    assert not result.refusals
    assert result.lower - 1e-10 <= best_selection(rows, of, given) <= result.upper + 1e-10
    for law in draw.dirichlet(np.full(len(rows), 0.3), 50):
        assert told(law, rows, of, given) <= result.upper + 1e-12
    if result.witness is not None:
        assert told(result.witness.law, rows, of, given) >= result.lower - 1e-12


@each("seed", *range(draws(4, 100)))
def test_listed_laws(seed):
    draw, records, rows, of, given = drawn(seed)
    laws = draw.integers(1, 9, (3, len(rows)))
    adversary = dl.PriorSet(laws / laws.sum(axis=1, keepdims=True))
    result = dl.solve(stated(records, rows, of, given, adversary), gap=1e-9)
    value = max(told(law / law.sum(), rows, of, given) for law in laws)
    assert result.lower - 1e-13 <= value <= result.upper + 1e-13


def classes(draw, size):
    law = draw.integers(1, 9, size)
    law = law / law.sum()
    other = np.roll(law, 1)
    return (
        [
            (dl.EntropyAtLeast("0.8 max"), lambda p: -np.sum(p * np.log(np.maximum(p, 1e-300))) >= 0.8 * np.log(size)),
            (dl.FloorPriors("1/50"), lambda p: p.min() >= 0.02),
            (dl.BoxPriors(law * 0.5, law * 1.5), lambda p: (law * 0.5 <= p).all() and (p <= law * 1.5).all()),
            (dl.L1BallPriors(law, 0.3), lambda p: abs(p - law).sum() <= 0.3),
            (dl.KLBallPriors(law, 0.05), lambda p: np.sum(p * np.log(np.maximum(p, 1e-300) / law)) <= 0.05),
            (dl.ChiSquareBallPriors(law, 0.1), lambda p: np.sum((p - law) ** 2 / law) <= 0.1),
            (dl.PolytopePriors([law, other]), None),
        ],
        law,
        other,
    )


@pytest.mark.campaign(minutes=3)
@pytest.mark.parametrize("seed", range(draws(1, 8, 40)))
def test_no_law_of_a_class_is_told_more(seed):
    draw, records, rows, of, given = drawn(seed + 1)
    listed, law, other = classes(draw, len(rows))
    for adversary, inside in listed:
        result = dl.solve(stated(records, rows, of, given, adversary), gap=1e-6)
        assert not result.refusals
        if result.witness is not None:
            assert told(result.witness.law, rows, of, given) >= result.lower - 1e-12
        for share in draw.uniform(size=draws(20, 300)):
            spread = draw.dirichlet(np.full(len(rows), 0.5))
            point = law + share * (other - law) if inside is None else law + share * (spread - law)
            if inside is None or inside(point):
                assert told(point, rows, of, given) <= result.upper + 1e-12, adversary.kind


@pytest.mark.parametrize("seed", range(draws(1, 30)))
def test_where_the_secret_determines_the_input_both_ends_meet_a_cone_program(seed):
    draw, records, rows, _, given = drawn(seed)
    size = len(rows)
    law = draw.integers(1, 9, size)
    law = law / law.sum()
    p = cp.Variable(size, nonneg=True)
    goal = p @ np.sum(rows * np.log(rows), axis=1)
    for c in set(given):
        inside = [float(x) for x in np.array(given) == c]
        goal -= sum(cp.rel_entr((p @ np.diag(inside)) @ rows[:, y], p @ np.array(inside)) for y in range(rows.shape[1]))
    for adversary, constraint in [
        (dl.L1BallPriors(law, 0.3), cp.norm1(p - law) <= 0.3),
        (dl.KLBallPriors(law, 0.05), cp.sum(cp.rel_entr(p, law)) <= 0.05),
        (dl.EntropyAtLeast("0.8 max"), cp.sum(cp.entr(p)) >= 0.8 * np.log(size)),
    ]:
        value = float(cp.Problem(cp.Maximize(goal), [cp.sum(p) == 1, constraint]).solve(solver=cp.CLARABEL))
        result = dl.solve(stated(records, rows, list(range(size)), given, adversary), gap=1e-6)
        assert result.lower - 1e-6 <= value <= result.upper + 1e-6, adversary.kind
        assert result.gap <= 1e-6, adversary.kind
        assert all(proof.exact for proof in result.secrets)


def test_a_record_is_a_secret_like_any_other():
    """The record audit answers the same, where the record by itself is asked about."""
    records, query, mechanism = dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1)
    secrets = [dl.Secret(dl.Letters(i)) for i in range(3)]
    for adversary in (dl.AnyPrior(), dl.FixedPrior([0.3, 0.1, 0.05, 0.05, 0.1, 0.1, 0.1, 0.2])):
        parts = {"records": records, "query": query, "mechanism": mechanism, "adversary": adversary}
        one, other = (
            dl.solve(dl.WorstCaseLeakage(**parts), gap=1e-9),
            dl.solve(dl.SecretLeakage(**parts, secrets=secrets), gap=1e-9),
        )
        assert max(one.lower, other.lower) <= min(one.upper, other.upper) + 1e-12
        assert one.gap < 1e-8
        assert other.gap < 1e-8
