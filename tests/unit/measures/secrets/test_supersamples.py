"""Conditional mutual information by enumeration: digits that were computed elsewhere, brute force, and its bound."""

import itertools

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.information import measures
from digits import inside


def of(query, mechanism, records):
    return dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=dl.ProductPriors())


def by_listing(problem, law=None):
    """Every supersample in both orders, and the joint law of all coins and the output."""
    records, index = problem.records, problem.query_of_inputs.index_of_dataset(problem.records)
    index = index.reshape(records.alphabets)
    found, weights = [], []
    for pairs in itertools.product(*(itertools.product(range(size), repeat=2) for size in records.alphabets)):
        rows = [
            problem.channel[index[tuple(pair[coin] for pair, coin in zip(pairs, coins, strict=True))]]
            for coins in itertools.product((0, 1), repeat=len(records))
        ]
        found.append(float(measures.mutual_information(np.array(rows), np.full(len(rows), 1 / len(rows)))))
        weights.append(np.prod([law[a] * law[b] for a, b in pairs]) if law else 1.0)
    return float(np.dot(found, weights)) if law else max(found)


def test_the_reference_system():
    problem = of(dl.Count(), dl.geometric(0.5), dl.Records(3, alphabet=2))
    found = dl.supersample_cmi(problem)
    inside(found, "0.076304751456")
    most = dl.solve(problem, gap=1e-9)
    inside(dl.answers.Measure("", 3 * most.lower, 3 * most.upper, "nats", ""), "0.090899585942", width=1e-8)
    assert found.upper < 3 * most.lower
    bits = dl.supersample_cmi(problem, units="bits")
    assert bits.lower * np.log(2) <= found.upper
    assert found.lower <= bits.upper * np.log(2)


def test_records_that_are_released_by_themselves_meet_the_bound():
    """Proposition 6 with equality: two bits, each through randomised response."""
    one = np.array([["3/4", "1/4"], ["1/4", "3/4"]])
    rows = [
        [dl.Channel(one).rows[a][y] * dl.Channel(one).rows[b][z] for y in (0, 1) for z in (0, 1)]
        for a in (0, 1)
        for b in (0, 1)
    ]
    found = dl.supersample_cmi(of(dl.Identity(), dl.Channel(rows), dl.Records(2, alphabet=2)))
    single = dl.measure(one.tolist(), prior="uniform")["mutual_information"]
    assert found.lower <= 2 * single.upper
    assert 2 * single.lower <= found.upper


@each(
    "problem",
    of(dl.Sum(), dl.geometric(1), dl.Records(alphabets=[2, 3])),
    of(dl.Table([0, 1, 1, 2]), dl.symmetric(0.2, k=3), dl.Records(2, alphabet=2)),
    of(dl.ModularSum(3), dl.symmetric(0, k=3), dl.Records(3, alphabet=2)),
)
def test_it_is_what_listing_says(problem):
    found = dl.supersample_cmi(problem)
    assert found.lower - 1e-12 <= by_listing(problem) <= found.upper + 1e-12


def test_candidates_of_a_law():
    problem = of(dl.Count(), dl.geometric(1), dl.Records(2, alphabet=2))
    found = dl.supersample_cmi(problem, law=dl.Iid(["0.3", "0.7"]))
    assert found.lower - 1e-12 <= by_listing(problem, [0.3, 0.7]) <= found.upper + 1e-12
    assert found.upper < dl.supersample_cmi(problem).lower


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(dl.errors.InputError, match="too many supersamples"):
        dl.supersample_cmi(of(dl.Count(), dl.geometric(1), dl.Records(20, alphabet=2)))
    with pytest.raises(dl.errors.InputError, match="expected a WorstCaseLeakage"):
        dl.supersample_cmi(dl.geometric(1))
