"""Symmetries of a record channel: found where they are, none where entries or counts differ by the least; they change nothing."""

from fractions import Fraction
from math import comb

import numpy as np

import dalenius as dl
import support
from campaigns import each
from dalenius.reduction import RecordSymmetries, record_channels
from dalenius.reduction.counting import exact_counts
from permutations import generated


def problem(records, query, mechanism):
    return support.problem(records, query, mechanism, "0.9 max")


def found(question, record=0):
    channel = next(part for part in record_channels(question) if part.record == record)
    return channel, RecordSymmetries.of(question, channel)


LATIN = dl.Table([(a + b) % 3 for a in range(3) for b in range(3)])
CIRCULANT = dl.Channel([[("0.5", "0.3", "0.2")[(y - v) % 3] for y in range(3)] for v in range(3)])
TERNARY = dl.Records(3, alphabet=3)
SQUARES = dl.Table([(a * a + b * b) % 4 for a in range(4) for b in range(4)])


@each(
    "question, moves, letters",
    (problem(TERNARY, dl.ModularSum(3), dl.symmetric("0.2")), 6, 6),
    (problem(TERNARY, dl.ModularSum(3), dl.randomized_response(1)), 6, 6),
    (problem(TERNARY, dl.ModularSum(3), CIRCULANT), 3, 6),
    (problem(dl.Records(2, alphabet=3), LATIN, dl.symmetric("0.2")), 6, 6),
    (problem(dl.Records(5, alphabet=2), dl.Count(), dl.geometric("0.5")), 1, 2),
    (problem(dl.Records(2, alphabet=4), SQUARES, dl.geometric("0.5")), 1, 8),
    (problem(dl.Records(5, alphabet=2), dl.Count(), dl.exponential("0.5")), 1, 2),
    (problem(dl.Records(5, alphabet=2), dl.Parity(), dl.laplace_threshold("0.5")), 2, 2),
    (problem(dl.Records(2, alphabet=2), dl.Identity(), dl.randomized_response(1)), 4, 2),
)
def test_how_far_symmetries_reach(question, moves, letters):
    """The images of one conditional of the first letter, and of the letters, counted as sets of permutations."""
    channel, symmetries = found(question)
    assert len(generated([move.kept.tolist() for move in symmetries.rows[0]], channel.rows.shape[1])) == moves
    assert len(generated([triple.letters.tolist() for triple in symmetries.triples], channel.letters)) == letters


@each(
    "question",
    problem(TERNARY, dl.ModularSum(3), CIRCULANT),
    problem(dl.Records(5, alphabet=2), dl.Count(), dl.geometric("0.5")),
    problem(dl.Records(2, alphabet=2), dl.Identity(), dl.randomized_response(1)),
    problem(dl.Records(2, alphabet=4), SQUARES, dl.geometric("0.5")),
)
def test_a_symmetry_leaves_counts_and_matrix_alone(question):
    channel, symmetries = found(question)
    counts = np.array(exact_counts(question.query_of_inputs, question.records, 0))
    for triple in symmetries.triples:
        assert np.array_equal(counts[np.ix_(triple.letters, triple.inputs)], counts)
        used = counts.any(axis=0)
        moved = question.channel[np.ix_(triple.inputs, triple.outputs)]
        assert np.allclose(moved[used], question.channel[used], atol=1e-15)
        assert np.allclose(channel.rows[np.ix_(triple.classes, triple.kept)], channel.rows, atol=1e-15)
    for a, moves in enumerate(symmetries.rows):
        for move in moves:
            own = counts[a] > 0
            assert sorted(move.inputs.tolist()) == list(range(counts.shape[1]))
            assert np.array_equal(counts[a, move.inputs], counts[a])
            moved = question.channel[np.ix_(move.inputs, move.outputs)]
            assert np.allclose(moved[own], question.channel[own], atol=1e-15)


def test_an_entry_that_differs_less_than_doubles_do_is_another_number():
    least = Fraction(1, 10**30)
    rows = [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)] for _ in range(3)]
    rows = [row[-v:] + row[:-v] for v, row in enumerate(rows)]
    assert len(found(problem(TERNARY, dl.ModularSum(3), dl.Channel(rows)))[1].rows[0]) > 0
    rows[0] = [rows[0][0] + least, rows[0][1] - least, rows[0][2]]
    assert found(problem(TERNARY, dl.ModularSum(3), dl.Channel(rows)))[1].rows[0] == ()


def test_outputs_that_doubles_take_for_impossible_are_outputs():
    """What is left of the range in doubles mirrors itself; the range does not, and the checker knows that."""
    question = problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(700, range=(-3, 5)))
    channel, symmetries = found(question)
    assert len(channel.aggregation.kept_outputs) < question.channel.shape[1]
    assert not symmetries.triples
    assert not any(symmetries.rows)


def test_counts_that_differ_by_one_in_thousands_of_digits():
    """Two hundred bits modulo 3: each value is attained by a third of the datasets, but not quite."""
    question = problem(dl.Records(200, alphabet=2), dl.ModularSum(3), dl.symmetric("0.2"))
    channel, symmetries = found(question)
    counts = exact_counts(question.query_of_inputs, question.records, 0)
    assert np.allclose(channel.log_uniform, np.log(1 / 6), atol=1e-12)
    assert counts is not None
    assert len({n for row in counts for n in row}) == 2
    for a, moves in enumerate(symmetries.rows):
        for move in moves:
            assert [counts[a][k] for k in move.inputs] == counts[a]


def test_of_a_large_channel_the_mirror_image_is_known_and_numbers_of_many_digits_are_left_alone():
    (mirror,) = found(problem(dl.Records(400, alphabet=2), dl.Count(), dl.geometric("0.1")))[1].triples
    assert mirror.letters.tolist() == [1, 0]
    assert mirror.outputs.tolist() == mirror.inputs.tolist() == list(range(400, -1, -1))
    many = dl.Records(2000, alphabet=2)
    assert found(problem(many, dl.Count(), dl.geometric("0.1")))[1].triples == ()
    assert exact_counts(dl.Count(), many, 0) is None


@each(
    "query, records",
    (dl.Count(), dl.Records(alphabets=[2, 3, 2])),
    (dl.ModularSum(4), dl.Records(alphabets=[2, 3, 3])),
    (dl.Sum(weights=[1, -2, 4]), dl.Records(alphabets=[2, 3, 2])),
    (dl.Threshold(2), dl.Records(alphabets=[2, 2, 3])),
    (dl.Identity(), dl.Records(alphabets=[2, 3])),
)
def test_counts_are_those_of_a_list_of_all_datasets(query, records):
    index = query.index_of_dataset(records)
    for record, letters in enumerate(records.alphabets):
        listed = np.zeros((letters, query.values(records).size), dtype=int)
        np.add.at(listed, (records.letters_of_datasets(record), index), 1)
        assert exact_counts(query, records, record) == listed.tolist()


def test_binomials():
    counts = exact_counts(dl.Count(), dl.Records(300, alphabet=2), 0)
    assert counts is not None
    assert counts[1][1:] == [comb(299, k) for k in range(300)]


def test_ends_that_a_symmetry_maps_onto_each_other_are_one_double():
    """Mirror images of a channel differ in the last digit: their ends do not, and no symmetry is lost to them."""
    channel, symmetries = found(problem(dl.Records(4, alphabet=3), dl.Sum(), dl.geometric(1)))
    ends = np.array([channel.rows[np.isfinite(own)].min(axis=0) for own in channel.log_uniform])
    assert any(not np.array_equal(triple.box(ends), ends) for triple in symmetries.triples)
    least = symmetries.least(ends)
    assert symmetries.within(least, least).triples == symmetries.triples
    assert np.all(least <= ends)
    assert np.all(ends - least <= 1e-15)
    pushed = least.copy()
    pushed[0, 0] = np.nextafter(pushed[0, 0], 1.0)
    assert symmetries.within(pushed, least).triples == ()


def test_equal_letters_share_a_source_and_a_mirror_image_has_one():
    channel, symmetries = found(problem(dl.Records(5, alphabet=2), dl.Count(), dl.geometric("0.5")))
    low = np.array([channel.rows[np.isfinite(own)].min(axis=0) for own in channel.log_uniform])
    high = np.array([channel.rows[np.isfinite(own)].max(axis=0) for own in channel.log_uniform])
    low, high = symmetries.least(low), -symmetries.least(-high)
    symmetries = symmetries.within(low, high)
    (_, own), (first, move) = symmetries.sources(low, high)
    assert own is None
    assert first == 0
    assert move is not None
    assert np.array_equal(low[1, move.kept], low[0])
    assert np.array_equal(channel.log_uniform[1, move.classes], channel.log_uniform[0])
    cut = low.copy()
    cut[0, 0] += 0.01
    assert symmetries.within(cut, high).triples == ()


def test_columns_are_sorted_once_however_many_moves_are_tried(monkeypatch):
    """Of 64 outputs there are 2,144: for each the whole channel was once sorted, of 1,024 rows three seconds without a look."""
    rows = np.random.default_rng(3).permuted(np.tile([1, 2, 3, 4, 5, 6, 7, 8], (8, 8)), axis=1)
    question = problem(
        dl.Records(1, alphabet=8), dl.Identity(), dl.Channel([[f"{w}/288" for w in row] for row in rows.tolist()])
    )
    (record,) = record_channels(question)
    sorts, sort = list[tuple[int, ...]](), np.sort
    monkeypatch.setattr(np, "sort", lambda table, **more: sorts.append(table.shape) or sort(table, **more))
    RecordSymmetries.of(question, record)
    assert sorts.count((8, 64)) == 1
