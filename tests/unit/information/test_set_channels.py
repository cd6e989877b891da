"""Divergences of channels of sets against the channels, written out; and what a plan that leaves much out still encloses."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from flint import arb

import dalenius as dl
from campaigns import each
from dalenius.information import set_channels
from dalenius.information.measures.numbers import doubles, rationals
from dalenius.information.set_channels import RandomSets

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
    dl.adversaries.MomentPriors([-1, 0, 1, 3], 0.9, 1),
]


@each("adversary", *CLASSES)
def test_nearest_laws(adversary):
    priors, draw = adversary.priors, np.random.default_rng(4)
    for _ in range(5):
        point = np.array(CENTER) + draw.normal(size=4) * 0.3
        law = priors.nearest(point, np.arange(4), np.ones(4, dtype=int))
        assert abs(law.sum() - 1) <= 1e-14
        weights = rationals(law)
        exact = priors.settled(weights / weights.sum())
        assert sum(exact) == 1
        assert np.allclose(doubles(exact), law, rtol=0, atol=1e-12)
        for _ in range(20):  # a law of the class, whose way from the nearest one leads away from the point
            other = doubles(priors.exact_law(np.array([arb(x).mid().fmpq() for x in draw.normal(size=4).tolist()])))
            assert (point - law) @ (other - law) <= 1e-9


def test_the_nearest_of_a_single_law():
    """Doubles of the ends may sum to less than 1, or to more."""
    for law in (["95/99", "1/99", "1/33"], ["1/10", "2/10", "7/10"], [1, 0, 0]):
        found = dl.BoxPriors(law, law).priors.nearest(np.full(3, 1 / 3), np.arange(3), np.ones(3, dtype=int))
        assert np.allclose(found, [float(Fraction(p)) for p in law], rtol=0, atol=1e-15)


def test_letters_that_are_alike_share_a_number():
    """The same nearest law in two numbers and in five."""
    priors = dl.KLBallPriors([0.3, 0.3, 0.1, 0.1, 0.2], 0.02).priors
    of, point = [0, 0, 1, 1, 2], np.array([0.5, 0.0, 0.1])
    whole = priors.nearest(point[of], np.arange(5), np.ones(5, dtype=int))
    shared = priors.nearest(point, np.array([0, 2, 4]), np.array([2, 2, 1]))
    np.testing.assert_allclose(shared[of], whole, atol=1e-14)
