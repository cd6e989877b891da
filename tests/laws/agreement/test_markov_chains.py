"""What is certified about a box of Markov chains holds for every chain of it: against sums over all paths."""

from itertools import pairwise, product

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws
from dalenius.information import mutual_information


def leakages(problem, point) -> list[float]:
    """I(X_i; Y) of every record, path by path."""
    count = len(problem.records)
    alpha, beta, first = point
    step = [[1 - alpha, alpha], [beta, 1 - beta]]
    laws = np.zeros((count, 2, problem.channel.shape[0]))
    for path in product((0, 1), repeat=count):
        probability = first if path[0] else 1 - first
        for a, b in pairwise(path):
            probability *= step[a][b]
        value = problem.query.value(problem.records, path)
        place = problem.query.values(problem.records).tolist().index(value)
        for i in range(count):
            laws[i, path[i], place] += probability
    return [float(mutual_information(law @ problem.channel)) for law in laws]


@pytest.mark.campaign(minutes=2)
def test_no_chain_of_the_box_tells_more():
    rng = np.random.default_rng(7)
    releases = [
        (dl.Count(), dl.geometric(1)),
        (dl.Sum(), dl.discrete_laplace(scale=2)),
        (dl.Parity(), dl.symmetric(0.2)),
        (dl.ModularSum(3), dl.randomized_response(1)),
        (dl.Threshold(2), dl.symmetric(0.1)),
    ]
    for k in range(draws(3, 40, 200)):
        query, mechanism = releases[k % len(releases)]
        count, start = int(rng.integers(2, 7)), ("stationary", "any")[k % 3 == 2]
        ends = np.sort(rng.uniform(0.05, 0.9, (2, 2)).round(3), axis=1)
        ends[:, 1] = np.minimum(ends[:, 1], (ends[:, 0] + 0.1).round(3))
        record = None if k % 2 else int(rng.integers(count))
        problem = support.problem(
            dl.Records(count, alphabet=2),
            query,
            mechanism,
            dl.MarkovChain(ends[0].tolist(), ends[1].tolist(), start=start, record=record),
        )
        result = dl.solve(problem, gap=5e-2, node_limit=draws(20, 100))
        asked = range(count) if record is None else [record]
        best = 0.0
        for _ in range(20):
            alpha, beta = rng.uniform(ends[:, 0], ends[:, 1])
            first = alpha / (alpha + beta) if start == "stationary" else rng.uniform()
            found = leakages(problem, (alpha, beta, first))
            best = max(best, *(found[i] for i in asked))
        assert best <= result.upper + 1e-12, problem.to_model()
