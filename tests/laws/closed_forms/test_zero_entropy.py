"""Without an entropy bound the leakage is the largest Shannon capacity of a selection of one row a letter."""

import math

import dalenius as dl
from campaigns import each

RANDOM = [["0.7", "0.2", "0.1"], ["0.1", "0.6", "0.3"], ["0.25", "0.25", "0.5"], ["0.05", "0.05", "0.9"]]

CASES = {
    "count": ([2] * 3, dl.Count(), dl.geometric(0.7)),
    "count of two letters": ([3, 3], dl.Count([0, 2]), dl.exponential(1.5)),
    "sum": ([2, 3], dl.Sum(), dl.Channel(RANDOM)),
    "modular sum": ([3, 3], dl.ModularSum(3), dl.symmetric(0.15, k=3)),
    "threshold": ([2] * 4, dl.Threshold(3), dl.randomized_response(0.5, k=2)),
    "unequal weights": ([2, 2], dl.Sum([[0, 1], [0, 2]]), dl.Channel(RANDOM)),
    "table": ([2, 2], dl.Table([3, 0, 0, 7]), dl.Channel([["0.5", "0.5"], ["0.9", "0.1"], ["0.2", "0.8"]])),
    "identity": ([2, 2], dl.Identity(), dl.Channel(RANDOM)),
    "a threshold nobody reaches": ([2, 2], dl.Threshold(9), dl.symmetric(0.1, k=2)),
}


@each("name", *CASES)
def test_best_selection(support, name):
    question = support.problem(*CASES[name], 0)
    low, high = support.without_entropy(question)
    result = dl.solve(question, gap=1e-4)
    assert result.lower <= high
    assert low <= result.upper
    assert result.upper - result.lower <= max(1e-4 * result.upper, 2e-11)


@each("size", 2, 3, 5)
def test_noiseless_identity_leaks_the_letter(support, size):
    question = support.problem([size, 2], dl.Identity(), dl.symmetric(0, k=2 * size), 0)
    support.assert_contains(support.solve(question, gap=1e-9), math.log(size), gap=1e-9)
