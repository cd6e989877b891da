"""Independent records and listed priors against listing every dataset."""

import itertools

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from dalenius.model import sums as query_sums
from dalenius.model.sums import other_sums, record_types
from dalenius.reduction import record_selections

MIXED = dl.Records(alphabets=[2, 3, 1, 2])
QUERIES = [
    dl.Parity(),
    dl.ModularSum(3),
    dl.Count(letters=[0, 1]),
    dl.Sum(),
    dl.Sum([-2, 5, 1]),
    dl.Sum([[0, 4], [6, 0, 4], [3], [-1, 1]]),
    dl.Threshold(2),
    dl.Table([(j * j) % 5 for j in range(12)]),
    dl.Identity(),
]


def question(support, query, adversary, *, seed=0, outputs=3):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(outputs, 0.5), size=query.values(MIXED).size)
    return support.problem(MIXED, query, dl.Channel(rows), adversary)


def by_dataset(support, sizes, adversary, *, seed=0, outputs=3):
    rows = np.random.default_rng(seed).dirichlet(np.full(outputs, 0.3), size=int(np.prod(sizes)))
    return support.problem(sizes, None, dl.Channel(rows, inputs="dataset"), adversary)


def listed_selections(support, problem, record):
    """The distinct tuples of inputs of one record, by listing every dataset."""
    chosen = {}
    for data, k in zip(support.datasets(problem.records), support.inputs_of_datasets(problem), strict=True):
        chosen.setdefault(data[:record] + data[record + 1 :], []).append(k)
    return sorted({tuple(inputs) for inputs in chosen.values()})


def product_leakage(support, problem):
    """max over records and settings of the others of the capacity, from both sides."""
    best = (0.0, 0.0)
    for i in range(len(problem.records)):
        for inputs in listed_selections(support, problem, i):
            low, high = support.capacity(problem.channel[list(inputs)])
            best = (max(best[0], low), max(best[1], high))
    return best


@pytest.mark.parametrize("shifts", [0, 64])
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.kind)
def test_selections_are_those_of_all_datasets(support, monkeypatch, query, shifts):
    monkeypatch.setattr(query_sums, "FEW_SHIFTS", shifts)
    problem = question(support, query, dl.ProductPriors())
    kinds = record_selections(problem)
    assert sum(kind.times for kind in kinds) == 3  # record 2 has one letter
    for kind in kinds:
        assert [tuple(row) for row in kind.inputs.tolist()] == listed_selections(support, problem, kind.record)


@each("query", *QUERIES)
def test_inputs_of_datasets(support, query):
    problem = question(support, query, dl.ProductPriors())
    assert problem.query_of_inputs.index_of_dataset(problem.records).tolist() == support.inputs_of_datasets(problem)


@pytest.mark.parametrize("shifts", [0, 64])
def test_sums_of_many_weighted_records(monkeypatch, shifts):
    monkeypatch.setattr(query_sums, "FEW_SHIFTS", shifts)
    weights = [[0, 7 * i % 11 - 3, i * i % 17] for i in range(8)]
    query, records = dl.Sum(weights), dl.Records(8, alphabet=3)
    types = record_types(query, records)
    for kind, sums in zip(types, other_sums(query, types), strict=True):
        others = [w for i, w in enumerate(weights) if i != kind.first]
        assert sums.tolist() == sorted({sum(choice) for choice in itertools.product(*others)})


@each("seed", *range(draws(1, 3)))
@each("query", *QUERIES)
def test_independent_records(support, query, seed):
    problem = question(support, query, dl.ProductPriors(), seed=seed)
    low, high = product_leakage(support, problem)
    result = dl.solve(problem)
    assert result.lower <= high
    assert low <= result.upper
    assert result.gap <= 1e-9


@each("sizes", [2], [5], [2, 2, 2], [3, 2], [2, 1, 3])
def test_independent_records_by_dataset(support, sizes):
    problem = by_dataset(support, sizes, dl.ProductPriors(), seed=len(sizes))
    low, high = product_leakage(support, problem)
    result = dl.solve(problem)
    assert result.lower <= high
    assert low <= result.upper
    assert result.gap <= 1e-9


@each("seed", *range(4))
def test_no_product_prior_leaks_more(support, seed):
    problem = by_dataset(support, [2, 3, 2], dl.ProductPriors(), seed=seed)
    upper, rng = dl.solve(problem).upper, np.random.default_rng(seed)
    for concentration in (0.05, 0.5, 1.0) * 30:
        laws = [rng.dirichlet(np.full(size, concentration)) for size in problem.records.alphabets]
        assert support.worst_leakage(np.einsum("a,b,c->abc", *laws).ravel(), problem) <= upper


def test_the_witness_is_a_product_prior_that_leaks_so_much(support):
    problem = by_dataset(support, [2, 3, 2], dl.ProductPriors(), seed=5)
    result = dl.solve(problem)
    prior = result.witness.masses.sum(axis=0)  # inputs are datasets
    others = [
        np.delete(data, result.record)
        for data, mass in zip(support.datasets(problem.records), prior, strict=True)
        if mass
    ]
    assert len({tuple(z) for z in others}) == 1
    assert support.leakage(
        prior, support.letters_of(problem, result.record), support.full_channel(problem)
    ) == pytest.approx(result.lower, abs=1e-12)


@each("query", *QUERIES)
def test_listed_priors(support, query):
    rng = np.random.default_rng(1)
    priors = rng.dirichlet(np.full(12, 0.3), size=4)
    problem = question(support, query, dl.PriorSet(priors))
    exact = [support.worst_leakage(prior, problem) for prior in priors]
    result = dl.solve(problem)
    support.assert_contains(result, max(exact), gap=1e-9)
    if max(exact) > 1e-9:
        assert result.witness.prior == int(np.argmax(exact))


def test_batches_of_priors(support, monkeypatch):
    """The same answer, a few priors at a time."""
    from dalenius.audits import product_priors

    priors = np.random.default_rng(2).dirichlet(np.ones(12), size=25)
    problem = question(support, dl.Identity(), dl.PriorSet(priors))
    whole = dl.solve(problem)
    monkeypatch.setattr(product_priors, "PRIORS_BATCH", 24)
    parts = dl.solve(problem)
    support.assert_overlap(whole, parts)
    assert whole.witness.prior == parts.witness.prior


@pytest.mark.parametrize("batch", [1, 100])
def test_batches_of_selections(support, monkeypatch, batch):
    from dalenius.audits import product_priors

    problem = question(support, dl.Sum(), dl.ProductPriors())
    whole = dl.solve(problem)
    monkeypatch.setattr(product_priors, "BATCH", batch)
    support.assert_overlap(whole, dl.solve(problem))


def test_one_law_more_only_narrows(support, monkeypatch):
    """With room for few laws the interval is wider, and valid."""
    from dalenius.audits import product_priors

    problem = support.problem([2] * 12, dl.Count(), dl.geometric(1.0), dl.ProductPriors())
    exact, before = dl.solve(problem), np.inf
    for laws in (0, 1, 5, 20):
        monkeypatch.setattr(product_priors, "MOST", laws * 13)
        result = dl.solve(problem)
        support.assert_overlap(result, exact)
        assert result.upper <= before
        assert result.records[0].leaves <= laws + 1
        before = result.upper
    assert result.gap <= 1e-9
