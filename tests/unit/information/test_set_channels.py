"""Divergences of channels of sets against the channels, written out; and what a plan that leaves much out still encloses."""

import itertools
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb

import dalenius as dl
from campaigns import each
from dalenius.information import set_channels
from dalenius.information.measures.numbers import doubles
from dalenius.information.patterns import ScoredCells, even_scores, pattern_count, patterns, telling_scores
from dalenius.information.protocol_laws import SharedLetters, exact_law_near
from dalenius.information.set_channels import RandomSets
from dalenius.search import Clock

PROTOCOLS = [
    (dl.subset_selection(0.8, size=1), 6),
    (dl.subset_selection("log 3", size=3), 6),
    (dl.optimized_unary_encoding(2), 6),
    (dl.local_hashing(0.5, buckets=3), 4),
    (dl.hadamard_response(1.5), 6),
]
LAWS = [[1, 1, 1, 1, 1, 1], [3, 3, 2, 2, 1, 1], [5, 1, 5, 1, 5, 0], [6, 5, 4, 3, 2, 1]]


def by_definition(rows, law):
    return (rows * np.log(rows / (law @ rows))).sum(axis=1)


@each("mechanism, inputs", *PROTOCOLS)
@each("weights", *LAWS)
def test_divergences_are_those_of_the_channel(mechanism, inputs, weights):
    law = np.array(weights[:inputs], dtype=float)
    law /= law.sum()
    channel = mechanism.sets(inputs)
    values, group = np.unique(law, return_inverse=True)
    sizes = np.bincount(group)
    if channel.whole:
        values, group, sizes = law, np.arange(inputs), np.ones(inputs, dtype=int)
    low, high = channel.plan(sizes, values, 1e-12).divergences(values)
    exact = by_definition(mechanism.channel(np.arange(inputs)), law)
    assert np.all(low[group] <= exact + 1e-14)
    assert np.all(exact <= high[group] + 1e-14)
    assert np.all(high - low <= 1e-11)


@each("order", 1, 2, 5)
@each("listed", (), ((0, 1, 2),), ((1, 0, 1), (2, 0, 0)))
def test_what_is_left_out_is_enclosed(order, listed):
    channel = dl.optimized_unary_encoding(1).sets(6)
    sizes, values = np.array([2, 2, 2]), np.array([0.25, 0.15, 0.1])
    low, high = set_channels._RandomPlan(channel, sizes, listed, order).divergences(values)
    exact = by_definition(dl.optimized_unary_encoding(1).channel(np.arange(6)), np.repeat(values, 2))[::2]
    assert np.all(low <= exact + 1e-15)
    assert np.all(exact <= high + 1e-15)
    assert low.min() < exact.min() - 1e-9


def test_moments_of_many_groups_by_cumulants():
    """More than FEW groups; the moments of independent bits, listed."""
    channel, bits = RandomSets(17, 1.0, 0.5, 0.3), 17
    values = np.linspace(1.0, 2.0, bits)
    values /= values.sum()
    moments, mean = set_channels._RandomPlan(channel, np.ones(bits, dtype=int), (), 3)._moments(values)
    own = np.delete(values, 0)
    sums, law = np.zeros(1), np.ones(1)
    for p in own:
        sums, law = np.concatenate([sums, sums + p]), np.concatenate([0.7 * law, 0.3 * law])
    assert math.isclose(mean[0], law @ sums, rel_tol=1e-12)
    for j in range(2, 7):
        assert math.isclose(moments[j, 0], law @ (sums - law @ sums) ** j, rel_tol=1e-9)


def test_a_thousand_inputs_take_a_handful_of_numbers():
    """Buckets as many as suit estimates, e^epsilon + 1."""
    sizes, values = np.array([300, 300, 400]), np.array([5.0, 3.0, 2.0]) / 3200
    for epsilon, buckets in ((0.5, 3), (3, 21), (6, 404)):
        channel = dl.local_hashing(epsilon, buckets=buckets).sets(1000)
        low, high = channel.plan(sizes, values, 1e-12).divergences(values)
        assert np.all(high - low <= 1e-11)


@each("epsilon", 40, 300)
def test_a_truth_that_is_as_good_as_sure_leaves_an_expansion_wide(epsilon):
    """Where 1 - alpha is less than a double's rounding it is multiplied by e^(j epsilon) all the same."""
    sizes, values = np.array([1, 1]), np.array([53.0, 2.0]) / 55
    plan = dl.local_hashing(epsilon, buckets=3).sets(2).plan(sizes, values, 1e-9)
    low, high = plan.divergences(values)
    assert len(plan.how[1]) == 2
    assert np.all(high - low <= 1e-9)


def test_no_plan_where_there_are_too_many_numbers():
    sizes, values = np.full(10, 100), np.arange(1.0, 11.0) / 5500
    assert dl.subset_selection(1, size=270).sets(1000).plan(sizes, values, 1e-9) is None


@each("expired, remaining", (True, 0.0), (False, 0.001))
def test_a_late_plan_is_a_coarse_one(expired, remaining):
    """Hashing at a large epsilon sums over more and more groups; a clock that has run out, or nearly, stops that."""
    channel = RandomSets(60, 4.0, math.exp(4.0) / (math.exp(4.0) + 54), 1 / 55)
    sizes, probabilities = np.full(6, 10), np.arange(1, 7) / 210
    late = SimpleNamespace(expired=expired, remaining=remaining)
    coarse, fine = (channel.plan(sizes, probabilities, 1e-9, clock) for clock in (late, None))
    widths = [float(np.subtract(*plan.divergences(probabilities)[::-1]).max()) for plan in (coarse, fine)]
    assert not coarse.how[1]
    assert fine.how[1]
    assert 0.0 < widths[1] < widths[0] < 1.0


# The nearest law of a class against no other law of the class being nearer, and exact laws being in the class.


CENTER = [0.4, 0.3, 0.2, 0.1]
CLASSES = [
    dl.FloorPriors(0.05),
    dl.BoxPriors([0.3, 0.2, 0.2, 0], [0.5, 0.4, 0.2, 0.2]),
    dl.L1BallPriors(CENTER, 0.3),
    dl.KLBallPriors(CENTER, 0.05),
    dl.ChiSquareBallPriors(CENTER, 0.1),
]


@each("adversary", *CLASSES)
def test_nearest_laws(adversary):
    priors, draw = adversary.priors, np.random.default_rng(4)
    class_of = SharedLetters(priors, np.arange(4), np.ones(4, dtype=int))
    for _ in range(5):
        point = np.array(CENTER) + draw.normal(size=4) * 0.3
        law = class_of.nearest(point)
        assert abs(law.sum() - 1) <= 1e-14
        exact = exact_law_near(priors, law)
        assert sum(exact) == 1
        assert np.allclose(doubles(exact), law, rtol=0, atol=1e-12)
        for _ in range(20):  # a law of the class, whose way from the nearest one leads away from the point
            other = doubles(priors.exact_law(np.array([arb(x).mid().fmpq() for x in draw.normal(size=4).tolist()])))
            assert (point - law) @ (other - law) <= 1e-9


def test_letters_that_are_alike_share_a_number():
    """The same nearest law in two numbers and in five."""
    priors = dl.KLBallPriors([0.3, 0.3, 0.1, 0.1, 0.2], 0.02).priors
    whole = SharedLetters(priors, np.arange(5), np.ones(5, dtype=int))
    shared = SharedLetters(priors, np.array([0, 2, 4]), np.array([2, 2, 1]))
    point = np.array([0.5, 0.0, 0.1])
    np.testing.assert_allclose(
        shared.nearest(point)[[0, 0, 1, 1, 2]], whole.nearest(point[[0, 0, 1, 1, 2]]), atol=1e-14
    )


# Histograms through scores: against every output written out.


CASES = [(2, 2, 1.0), (3, 2, 0.5), (4, 2, 2.0), (3, 3, 0.7), (5, 1, 1.5), (2, 4, 0.3)]


def steps_of(size, epsilon):
    return dl.geometric(str(epsilon)).channel(np.arange(size + 1))


def outputs(steps, cells):
    return np.array(list(itertools.product(range(steps.shape[1]), repeat=cells)))


def row(steps, listed, histogram):
    return np.prod([steps[count, listed[:, c]] for c, count in enumerate(histogram)], axis=0)


@each("cells, size, epsilon", *CASES)
@each("scored", "even", "telling", "nothing")
def test_both_ends_are_what_they_are_by_definition(cells, size, epsilon, scored):
    steps = steps_of(size, epsilon)
    listed = outputs(steps, cells)
    scores = {
        "even": even_scores(size + 1, cells),
        "telling": telling_scores(steps, cells, 12 * cells),
        "nothing": np.zeros(size + 1, dtype=np.int64),
    }[scored]
    cells_seen = ScoredCells(steps, cells, scores)
    rows = {g: row(steps, listed, [*g, *[0] * (cells - len(g))]) for g in patterns(size, cells)}
    base, sums = row(steps, listed, [0] * cells), scores[listed].sum(axis=1)
    weights = {g: 1.0 + j for j, g in enumerate(rows)}
    seen = {g: np.bincount(sums, probabilities, minlength=sums.max() + 1) for g, probabilities in rows.items()}
    mixed = sum(w * seen[g] for g, w in weights.items()) / sum(weights.values())
    law = base * (mixed / np.maximum(np.bincount(sums, base, minlength=sums.max() + 1), 1e-300))[sums]
    assert abs(law.sum() - 1.0) < 1e-12
    exact = [float((p * np.log(p / law)).sum()) for p in rows.values()]
    np.testing.assert_allclose(cells_seen.divergences(weights), exact, rtol=1e-9, atol=1e-12)
    alike = np.array([row(steps, listed, size * np.eye(cells, dtype=int)[a]) for a in range(cells)])
    told = float((alike * np.log(alike / alike.mean(axis=0))).sum() / cells)
    assert cells_seen.alike <= told + 1e-12
    assert scored != "even" or abs(cells_seen.alike - told) < 1e-12


@each("cells, size, epsilon", *CASES[:4])
def test_no_selection_of_patterns_by_letters_tells_more(cells, size, epsilon):
    """All of them, with laws on the letters by Arimoto's steps."""
    steps = steps_of(size, epsilon)
    listed = outputs(steps, cells)
    ways = [g for g in itertools.product(range(size + 1), repeat=cells) if sum(g) == size]
    rows = {g: row(steps, listed, g) for g in ways}
    seen = ScoredCells(steps, cells, even_scores(size + 1, cells))
    _, bound = seen.mixture(0.0, Clock(60.0))
    chosen = itertools.product(*([g for g in ways if g[a]] for a in range(cells)))
    for selection in itertools.islice(chosen, 0, None, 1 if cells < 4 else 101):
        channel, law = np.array([rows[g] for g in selection]), np.full(cells, 1.0 / cells)
        for _ in range(30):
            law = law * np.exp((channel * np.log(channel / (law @ channel))).sum(axis=1))
            law /= law.sum()
        assert float(law @ (channel * np.log(channel / (law @ channel))).sum(axis=1)) <= bound + 1e-12
    assert seen.alike <= bound


def test_patterns_are_partitions():
    counted = Counter(
        tuple(sorted(filter(None, g), reverse=True)) for g in itertools.product(range(6), repeat=4) if sum(g) == 5
    )
    assert set(patterns(5, 4)) == set(counted)
    assert pattern_count(21, 100) == 792
    assert pattern_count(30, 100) == 1001


def test_even_scores_tell_every_output_apart_by_its_numbers_of_cells():
    scores = even_scores(4, 5)
    sums = {
        tuple(np.bincount(y, minlength=4)): int(scores[list(y)].sum()) for y in itertools.product(range(4), repeat=5)
    }
    assert len(set(sums.values())) == len(sums) == math.comb(8, 3)
    assert even_scores(9, 100) is None


def test_the_lower_end_does_not_lean_on_rounding(monkeypatch):
    """Behind much noise with or without transforms alike; behind little noise transforms make it lower, never higher."""
    found = {}
    for scale in ("2", "0.5", "0.2"):
        steps = np.maximum(dl.discrete_gaussian(scale=scale, range=[-9, 11]).channel(np.arange(3)), 1e-300)
        for direct in (2**13, 0):
            monkeypatch.setattr("dalenius.information.patterns.DIRECT", direct)
            found[scale, direct] = ScoredCells(steps, 6, telling_scores(steps, 6, 80)).alike
    assert found["2", 0] == pytest.approx(found["2", 2**13], rel=1e-9)
    assert 0.0 < found["0.5", 2**13] < math.log(6)
    assert found["0.5", 0] <= found["0.5", 2**13] + 1e-12
    assert found["0.2", 0] <= found["0.2", 2**13] + 1e-12
