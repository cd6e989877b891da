"""Independent records: closed forms, and what differential privacy promises."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

import dalenius as dl
from campaigns import each


def independent(support, sizes, query, mechanism):
    return support.problem(sizes, query, mechanism, dl.ProductPriors())


def response(support, epsilon):
    """The leakage of randomised response: log 2 - h(1/(1 + e^epsilon))."""
    return math.log(2.0) - support.binary_entropy(1.0 / (1.0 + math.exp(epsilon)))


@each("n", 1, 2, 5, 100_000)
@each("flip", "0", "0.01", "1/3", "0.4999", "1/2")
def test_parity(support, n, flip):
    question = independent(support, dl.Records(n, alphabet=2), dl.Parity(), dl.symmetric(flip, k=2))
    with localcontext(prec=50):  # an interval of 5e-8 is narrower than a closed form in doubles is exact
        p = Decimal(question.mechanism.flip.numerator) / question.mechanism.flip.denominator
        exact = Decimal(2).ln() + sum(x * x.ln() for x in (p, 1 - p) if x)
        result = dl.solve(question)
        assert Decimal(result.lower) <= exact + Decimal("1e-45")
        assert exact - Decimal("1e-45") <= Decimal(result.upper)
    assert result.upper - result.lower <= 1e-12
    assert result.scope is dl.answers.Scope.GLOBAL


@each("epsilon", 0.1, 1.0, 8.0)
def test_randomised_response_attains_what_differential_privacy_allows(support, epsilon):
    question = independent(support, [2] * 5, dl.Threshold(3), dl.randomized_response(epsilon, k=2))
    support.assert_contains(dl.solve(question), response(support, epsilon), gap=1e-9)


@each("epsilon", 0.1, 1.0, 3.0)
@each("query, mechanism", (dl.Count(), dl.geometric), (dl.Sum([0, 1]), dl.exponential), (dl.Count(), dl.exponential))
def test_differential_privacy_bounds_independent_binary_records(support, query, mechanism, epsilon):
    result = dl.solve(independent(support, [2] * 6, query, mechanism(epsilon)))
    assert result.upper <= response(support, epsilon) + 1e-12
    assert result.gap <= 1e-9


@each("p", 0.1, 0.5, 0.9)
def test_one_record_is_shannons_capacity(support, p):
    """The Z-channel: log(1 + (1 - p) p^(p / (1 - p)))."""
    question = independent(support, [2], None, dl.Channel([[1, 0], [p, 1 - p]], inputs="dataset"))
    support.assert_contains(dl.solve(question), math.log(1 + (1 - p) * p ** (p / (1 - p))), gap=1e-9)


@each("k", 3, 7)
def test_symmetric_channels(support, k):
    stay, change = 0.7, 0.3 / (k - 1)
    entropy = -stay * math.log(stay) - (k - 1) * change * math.log(change)
    question = independent(support, [k] * 3, dl.ModularSum(k), dl.symmetric(0.3, k=k))
    support.assert_contains(dl.solve(question), math.log(k) - entropy, gap=1e-9)


def test_the_most_exposed_record_is_named(support):
    """Only record 1 changes the parity of the sum; the others add even numbers."""
    question = independent(support, [2, 3, 2], dl.Sum([[0, 2], [0, 1, 1], [2, 0]]), dl.Channel([[1, 0], [0, 1]] * 3))
    result = dl.solve(question)
    assert result.record == 1
    support.assert_contains(result, math.log(2.0), gap=1e-9)
    masses = result.witness.masses
    assert masses.shape == (3, 6)
    assert np.count_nonzero(masses, axis=1).max() == 1
    assert result.witness.letter_law.sum() == pytest.approx(1.0)
    assert result.witness.prior is None


def test_letters_that_change_nothing(support):
    result = dl.solve(independent(support, [3, 1], dl.Sum([0, 0, 0]), dl.Channel([[0.3, 0.7]])))
    assert result.lower == 0.0
    assert result.upper <= 1e-12
    assert (result.gap, result.witness, result.termination) == (0.0, None, dl.answers.Termination.GAP_REACHED)


def test_records_of_one_letter(support):
    result = dl.solve(independent(support, [1, 1], dl.Sum(), dl.Channel([[0.3, 0.7]])))
    assert (result.lower, result.upper, result.record) == (0.0, 0.0, None)


def test_outputs_too_rare_for_doubles(support):
    """e^-1000 is zero as a double, and still a positive probability."""
    result = dl.solve(independent(support, [2, 2], dl.Count(), dl.geometric(1000, range=(0, 4))))
    support.assert_contains(result, math.log(2.0), gap=1e-9)


def test_correlation_only_adds(support):
    mechanism, query = dl.geometric(1.0), dl.Count()
    alone = dl.solve(independent(support, [2] * 3, query, mechanism))
    together = support.solve(support.problem([2] * 3, query, mechanism, dl.AnyPrior()), gap=1e-4)
    assert alone.upper < together.lower


def test_equal_records_are_solved_once(support):
    result = dl.solve(independent(support, [2] * 50 + [3] * 7, dl.Sum(), dl.geometric(1.0)))
    assert [(part.record, part.times, part.method) for part in result.records] == [
        (0, 50, "selections"),
        (50, 7, "selections"),
    ]
    symmetric = dl.Table([sum(divmod(j, 2)) for j in range(4)])
    assert [part.times for part in dl.solve(independent(support, [2, 2], symmetric, dl.geometric(1))).records] == [2]


def test_many_selections_share_few_laws_where_they_can(support):
    """All records but one select rows that leak little; one law bounds them all."""
    rows = [[1, 0, 0]] + [[0, 0.5 + j / 1000, 0.5 - j / 1000] for j in range(40)]
    result = dl.solve(independent(support, [2] * 40, dl.Count(), dl.Channel(rows)))
    support.assert_contains(result, math.log(2.0), gap=1e-9)
    assert result.records[0].leaves <= 3
