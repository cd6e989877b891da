"""What holds for every instance: monotone in b, capped by alphabets, outputs and the whole channel's capacity."""

import itertools
import math

import pytest

import dalenius as dl
from campaigns import each

BOUNDS = ["0 max", "0.3 max", "0.6 max", "0.8 max", "0.95 max", "1 max"]

INSTANCES = {
    "count": ([2] * 3, dl.Count(), dl.geometric(1.0)),
    "sum": ([2, 3], dl.Sum(), dl.exponential(2.0)),
    "modular sum": ([3, 3], dl.ModularSum(3), dl.symmetric(0.1, k=3)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", INSTANCES)
def test_falls_with_the_entropy_bound(support, name):
    results = [support.solve(support.problem(*INSTANCES[name], bound)) for bound in BOUNDS]
    for weak, strong in itertools.combinations(results, 2):
        assert strong.lower <= weak.upper


@each("bound", "0 max", "0.5 max")
@each(
    "sizes, query, mechanism, cap",
    ([4], dl.Identity(), dl.symmetric(0, k=4), math.log(4)),
    ([3, 3], dl.Threshold(2), dl.symmetric(0, k=2), math.log(2)),
    ([2] * 4, dl.Count(), dl.symmetric(0, k=5), math.log(2)),
)
def test_capped_by_letters_and_outputs(support, sizes, query, mechanism, cap, bound):
    result = support.solve(support.problem(sizes, query, mechanism, bound))
    assert result.lower <= cap
    assert result.upper <= cap + 1e-9


@pytest.mark.parametrize("name", INSTANCES)
def test_below_the_capacity_of_the_whole_channel(support, name):
    question = support.problem(*INSTANCES[name], "0.5 max")
    assert support.solve(question).lower <= support.capacity(support.full_channel(question))[1]


@each("bound", "0 max", "0.5 max", "1 max")
@each(
    "query, mechanism",
    (dl.Parity(), dl.symmetric("1/2", k=2)),
    (dl.Parity(), dl.randomized_response(0, k=2)),
    (dl.Parity(), dl.laplace_threshold(0)),
    (dl.Count(), dl.exponential(0, range=3)),
    (dl.Count(), dl.Channel([["0.3", "0.3", "0.4"]] * 4)),
    (dl.Count(), dl.Channel([[1]] * 4)),
)
def test_constant_mechanism_leaks_nothing(support, query, mechanism, bound):
    result = support.solve(support.problem([2] * 3, query, mechanism, bound))
    support.assert_contains(result, 0.0)
    assert result.upper <= 1e-9


def test_correlated_records_leak_more_than_the_privacy_parameter_suggests(support):
    """A count with epsilon 1: independent records leak at most log 2 - h(1/(1+e)), correlated ones exceed that."""
    independent = math.log(2.0) - support.binary_entropy(1.0 / (1.0 + math.e))
    question = support.problem([2] * 6, dl.Count(), dl.geometric(1.0), "1 bits")
    assert support.solve(question).lower > independent
    assert support.solve(support.with_bound(question, "1 max")).upper <= independent
