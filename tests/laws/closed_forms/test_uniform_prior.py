"""At b = log |X| the uniform prior is the only adversary, and its leakage is a finite sum."""

import numpy as np

import dalenius as dl
from campaigns import each

CASES = {
    "parity": ([2] * 3, dl.Parity(), dl.symmetric(0.1, k=2)),
    "count": ([2] * 4, dl.Count(), dl.geometric(1.0)),
    "count of mixed records": ([2, 3, 4], dl.Count([0, 3]), dl.exponential(2.0, range=(0, 5))),
    "sum": ([3, 3], dl.Sum([0, 1, 5]), dl.symmetric(0.3)),
    "threshold": ([2] * 5, dl.Threshold(2), dl.laplace_threshold(2.0)),
    "modular sum of binary records": ([2, 2], dl.ModularSum(3), dl.symmetric(0.2, k=3)),
    "identity": ([2, 3], dl.Identity(), dl.randomized_response(1.0)),
    "one letter only": ([1, 1], dl.Sum(), dl.Channel([["0.5", "0.5"]])),
}


@each("name", *CASES)
def test_uniform_prior_only(support, name):
    question = support.problem(*CASES[name], "1 max")
    exact = support.worst_leakage(np.full(question.records.datasets, 1.0 / question.records.datasets), question)
    result = support.solve(question)
    support.assert_contains(result, exact)
    assert result.upper - result.lower <= 1e-11


def test_equal_bound_in_bits(support):
    question = support.problem([2] * 4, dl.Count(), dl.geometric(1.0), "4 bits")
    share = support.problem([2] * 4, dl.Count(), dl.geometric(1.0), "1 max")
    first, second = support.solve(question), support.solve(share)
    assert (first.lower, first.upper) == (second.lower, second.upper)
    assert first.upper > 0.0


def test_parity_leaks_nothing_to_the_uniform_adversary(support):
    result = support.solve(support.parity4("1 max"))
    support.assert_contains(result, 0.0)
    assert result.upper <= 1e-11


def test_lower_bound_is_never_below_the_uniform_prior(support):
    """The uniform prior is feasible for every bound."""
    question = support.problem([2] * 4, dl.Count(), dl.geometric(1.0), "0.97 max")
    exact = support.worst_leakage(np.full(16, 1.0 / 16.0), question)
    assert support.solve(question).upper >= exact
    assert support.solve(question).lower >= exact * (1 - 1e-9)
