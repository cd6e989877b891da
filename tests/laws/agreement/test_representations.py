"""One mechanism written in two ways: the intervals overlap."""

import numpy as np
import pytest

import dalenius as dl
from campaigns import each, thinned

FLIPPED = dl.symmetric("0.2")
SKEWED = dl.Channel([["0.7", "0.2", "0.1"], ["0.1", "0.6", "0.3"], ["0.25", "0.25", "0.5"]])
TWO = dl.Channel([["0.9", "0.1"], ["0.3", "0.7"]])

QUERIES = {
    "parity": ([2, 2, 2], dl.Parity(), TWO),
    "count": ([2, 2], dl.Count(), SKEWED),
    "count of two letters": ([3, 3], dl.Count([0, 2]), SKEWED),
    "sum": ([3, 1], dl.Sum(), SKEWED),
    "sum, weights per record": ([2, 2], dl.Sum([[0, 1], [1, 0]]), SKEWED),
    "threshold": ([2, 3], dl.Threshold(2), TWO),
    "modular sum": ([3, 2], dl.ModularSum(3), SKEWED),
    "identity": ([2, 2], dl.Identity(), FLIPPED),
}


@pytest.mark.parametrize("bound", thinned(["0.6 max", "0 max", "0.9 max", "1 max"], every=3))
@pytest.mark.parametrize("name", thinned(QUERIES, every=4))
def test_by_query_value_or_by_dataset(support, name, bound):
    sizes, query, mechanism = QUERIES[name]
    short = support.problem(sizes, query, mechanism, bound)
    inputs = support.inputs_of_datasets(short)
    rows = exact_rows(mechanism, short)
    whole = dl.Channel([rows[k] for k in inputs], inputs="dataset")
    first, second = support.solve(short), support.solve(support.problem(sizes, None, whole, bound))
    support.assert_overlap(first, second)
    assert np.allclose(support.full_channel(short), support.problem(sizes, None, whole, bound).channel)


@pytest.mark.parametrize("bound", thinned(["0.8 max", "0 max"], every=2))
@pytest.mark.parametrize("name", thinned(QUERIES, every=4))
def test_by_name_or_by_table(support, name, bound):
    sizes, query, mechanism = QUERIES[name]
    named = support.problem(sizes, query, mechanism, bound)
    table = dl.Table(support.listed_values(query, named.records))
    support.assert_overlap(support.solve(named), support.solve(support.problem(sizes, table, mechanism, bound)))


@each("bound", "0 max", "0.8 max")
def test_labels_of_a_table_do_not_matter(support, bound):
    """Only the order of the labels says which row is whose."""
    plain = support.problem([2, 2], dl.Table([0, 1, 1, 2]), SKEWED, bound)
    spread = support.problem([2, 2], dl.Table([-7, 40, 40, 10**9]), SKEWED, bound)
    support.assert_overlap(support.solve(plain), support.solve(spread))


def test_query_is_ignored_where_rows_are_datasets(support):
    """Up to rounding: equal work on arrays at other addresses may differ in the last bit of a product."""
    rows = [["0.9", "0.1"], ["0.5", "0.5"], ["0.4", "0.6"], ["0.2", "0.8"]]
    mechanism = dl.Channel(rows, inputs="dataset")
    answers = [support.solve(support.problem([2, 2], q, mechanism, "1 bits")) for q in (None, dl.Parity(), dl.Count())]
    for answer in answers[1:]:
        assert abs(answer.lower - answers[0].lower) <= 1e-8
        assert abs(answer.upper - answers[0].upper) <= 1e-4
        support.assert_overlap(answer, answers[0])


@each(
    "first, second, query",
    (dl.symmetric("1/4", k=2), dl.Channel([["3/4", "1/4"], ["1/4", "3/4"]]), dl.Parity()),
    (dl.laplace_threshold(0), dl.Channel([["1/2", "1/2"]] * 2), dl.Parity()),
    (dl.exponential(2, range=1), dl.randomized_response(1, k=2), dl.Parity()),
    (dl.geometric(1, range=1), dl.randomized_response(1, k=2), dl.Threshold(1)),
    (dl.exponential(0, range=(0, 2)), dl.symmetric("2/3", k=3), dl.Count()),
)
def test_equal_mechanisms_of_two_kinds(support, first, second, query):
    """Exponential with epsilon 2 and the geometric mechanism with epsilon 1 on a bit are randomised response with 1."""
    questions = [support.problem([2, 2], query, mechanism, "1.5 bits") for mechanism in (first, second)]
    assert np.allclose(questions[0].channel, questions[1].channel, atol=1e-15)
    a, b = (dl.solve(question, gap=1e-4) for question in questions)
    support.assert_overlap(a, b)


def exact_rows(mechanism, question):
    """The rows as exact numbers: a matrix's own, or those of the symmetric channel."""
    if isinstance(mechanism, dl.Channel):
        return mechanism.rows
    size = len(question.channel)
    stay, change = 1 - mechanism.flip, mechanism.flip / (size - 1)
    return [[stay if y == v else change for y in range(size)] for v in range(size)]
