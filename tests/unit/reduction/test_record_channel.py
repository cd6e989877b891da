"""Aggregation by hand: which rows are merged, what is left of the outputs, which records become alike."""

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.reduction import Aggregation, Completions, distinct_rows, record_channels

CHANNEL = np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.25, 0.0, 0.75]])
UNIFORM = np.array([[0.1, 0.2, 0.1, 0.0], [0.2, 0.0, 0.1, 0.3]])


@pytest.fixture
def record():
    with np.errstate(divide="ignore"):
        return Aggregation.of(CHANNEL).apply(Completions(3, 2, np.log(UNIFORM)), 0.7)


def test_what_is_left(record):
    assert (record.record, record.times, record.max_knowledge) == (3, 2, 0.7)
    assert record.rows.tolist() == [[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]
    assert record.uniform == pytest.approx(np.array([[0.0, 0.2, 0.2], [0.3, 0.3, 0.0]]))


def test_the_way_back(record):
    assert record.aggregation.row_of_input.tolist() == [1, 2, 1, 0]
    assert record.lift(np.array([[0.0, 0.5, 0.1], [0.1, 0.3, 0.0]])) == pytest.approx(
        np.array([[0.25, 0.1, 0.25, 0.0], [0.2, 0.0, 0.1, 0.1]])
    )
    assert record.lift_outputs(np.array([[1.0, 2.0]]), fill=9.0).tolist() == [[1.0, 9.0, 2.0]]


def test_mass_where_no_dataset_is_gets_lost(record):
    """A witness written for another model: what no dataset can have is no mass."""
    p = record.apply(np.array([[0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.5, 0.0]]))
    assert p.tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_records_that_merging_makes_alike_are_one_kind():
    """Each bit adds another weight, so that all have counts of their own; the channel tells only whether the sum is odd."""
    rows = [["0.9", "0.1"] if value % 2 else ["0.1", "0.9"] for value in range(10)]
    problem = support.problem(
        dl.Records(3, alphabet=2),
        dl.Sum([[0, 1], [0, 3], [0, 5]]),
        dl.Channel([rows[value] for value in (0, 1, 3, 4, 5, 6, 8, 9)]),
        "0.5 max",
    )
    (kind,) = record_channels(problem)
    assert (kind.record, kind.times) == (0, 3)
    assert kind.uniform == pytest.approx(np.full((2, 2), 0.25))


def test_a_problem_without_an_entropy_bound_has_no_record_channels():
    problem = support.problem(dl.Records(2, alphabet=2), dl.Parity(), dl.symmetric(0.1, k=2), dl.ProductPriors())
    support.refused(lambda: record_channels(problem), "entropy bound")


def test_records_with_one_letter_are_left_out():
    problem = support.problem(dl.Records(alphabets=[1, 2, 1]), dl.Parity(), dl.symmetric(0.1, k=2), 0)
    assert [kind.record for kind in record_channels(problem)] == [1]


# The distinct rows of a channel.


def test_rows_come_in_the_order_of_their_numbers():
    """That of `np.unique`, of probabilities of all sizes; a zero has no sign."""
    rng = np.random.default_rng(5)
    rows = rng.choice([0.0, -0.0, 5e-324, 1e-300, 1e-17, 0.1, 0.5, np.nextafter(0.5, 1), 1.0], size=(300, 3))
    distinct, row_of_input = distinct_rows(rows)
    expected, place = np.unique(rows, axis=0, return_inverse=True)
    assert len(distinct) < 300
    assert np.array_equal(distinct, expected)
    assert np.array_equal(row_of_input, place.reshape(-1))
