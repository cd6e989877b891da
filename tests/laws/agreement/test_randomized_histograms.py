"""Randomised letters, then their histogram: proved, against priors of every dataset, and one way of proving against another."""

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.information.entropies import mutual_information
from dalenius.model.problems import known_others

NOISE = dl.randomized_histogram(1)


def solved(count, letters, adversary, mechanism=NOISE, gap=1e-6):
    problem = support.problem(dl.Records(count, alphabet=letters), dl.Histogram(), mechanism, adversary)
    result = dl.solve(problem, gap=gap)
    assert dl.verify(problem, result.certificate).proved
    return result


def rows_of_datasets(count, letters):
    records = dl.Records(count, alphabet=letters)
    problem = dl.WorstCaseLeakage(records=records, query=dl.Histogram(), mechanism=NOISE, adversary=dl.AnyPrior())
    return problem.channel[problem.query.index_of_dataset(records)]


@each("count, letters, size", (3, 3, 1), (4, 2, 2))
def test_no_prior_of_blocks_tells_more(count, letters, size):
    rng = np.random.default_rng(41)
    told = solved(count, letters, dl.IndependentBlocks(size))
    rows, worst = rows_of_datasets(count, letters), 0.0
    for draw in range(draws(200, 20000)):
        prior = np.ones(1)
        for _ in range(count // size):
            prior = np.multiply.outer(prior, rng.dirichlet(np.full(letters**size, (0.03, 0.3, 2.0)[draw % 3]))).ravel()
        joint = (prior[:, None] * rows).reshape(letters, -1, rows.shape[1]).sum(axis=1)
        worst = max(worst, float(mutual_information(joint)))
    assert 0.1 * told.lower < worst <= told.upper + 1e-12


def test_households_of_one_are_independent_records():
    one, records = solved(4, 3, dl.IndependentBlocks(1)), solved(4, 3, dl.ProductPriors())
    assert one.lower <= records.upper
    assert records.lower <= one.upper
    assert one.lower == pytest.approx(0.0408392583010, abs=1e-9)


def test_a_household_of_everybody_is_any_prior():
    all_of_them, anybody = solved(3, 2, dl.IndependentBlocks(3)), solved(3, 2, dl.AnyPrior())
    assert all_of_them.lower == pytest.approx(anybody.lower, rel=1e-6)


def test_two_letters_are_a_randomized_count():
    count = support.problem(dl.Records(5, alphabet=2), dl.Count(), dl.randomized_count(1), dl.ProductPriors())
    assert solved(5, 2, dl.ProductPriors()).lower == pytest.approx(dl.solve(count, gap=1e-6).lower, rel=1e-6)


@pytest.mark.parametrize("steps", [200, 40, 3])
def test_fewer_others_bound_from_above(monkeypatch, steps):
    """With less room the same household has a larger upper end, and still a proof; with enough of it the interval closes."""
    exact = solved(7, 2, dl.IndependentBlocks(1))
    monkeypatch.setattr(known_others, "MOST_STEPS", steps)
    bound = solved(7, 2, dl.IndependentBlocks(1))
    assert exact.gap <= 1e-6
    assert exact.lower <= bound.upper
    assert bound.lower <= exact.upper
    assert (bound.upper > exact.upper) == (steps < 200)


def test_a_million_people_are_bounded_by_the_household_alone():
    told, alone = solved(1_000_000, 3, dl.IndependentBlocks(2)), solved(2, 3, dl.AnyPrior())
    assert told.lower == 0.0
    assert told.upper == pytest.approx(alone.upper, rel=1e-5)
