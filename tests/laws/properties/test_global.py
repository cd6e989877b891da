"""Two-record models of several letters and classes under relabelling, duplication, garbling, and more entropy.

The tree over boxes works letter by letter and output by output, so nothing in it is symmetric by itself: that two spellings of one
question get intervals that overlap is a property of the bounds, not of the code. Audits are short and ask for a gap of a percent.
"""

from fractions import Fraction

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dalenius as dl
from campaigns import draws

few = settings(
    max_examples=draws(2, 18),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

SHAPES = [(2, 4, 3), (2, 5, 2), (3, 3, 3), (3, 4, 2), (4, 2, 3), (4, 4, 2)]  # letters, classes, outputs


@st.composite
def models(draw, support):
    """A row for every (letter, class), and an entropy bound between 0 and 95 % of the maximum."""
    letters, classes, outputs = draw(st.sampled_from(SHAPES))
    return (letters, classes), draw(support.matrices(letters * classes, outputs)), draw(st.integers(0, 95))


def model(support, shape, rows, percent: int) -> dl.WorstCaseLeakage:
    return support.problem(shape, None, dl.Channel(rows, inputs="dataset"), f"{percent}e-2 max")


def audit(support, shape, rows, percent: int) -> dl.answers.Result:
    """The interval of a short audit."""
    return support.solve(model(support, shape, rows, percent), gap=1e-2, time_limit=0.4)


def datasets_in_order(shape, first, second) -> list[int]:
    """The old index of every dataset when the letters of both records are renamed."""
    return np.arange(shape[0] * shape[1]).reshape(shape)[np.ix_(first, second)].ravel().tolist()


@few
@given(st.data())
def test_names_of_letters_and_classes_do_not_matter(support, data):
    """The letters of either record in another order."""
    shape, rows, percent = data.draw(models(support))
    first, second = (data.draw(st.permutations(range(size))) for size in shape)
    renamed = [rows[j] for j in datasets_in_order(shape, first, second)]
    support.assert_overlap(audit(support, shape, rows, percent), audit(support, shape, renamed, percent))


@few
@given(st.data())
def test_names_of_outputs_do_not_matter(support, data):
    """Columns in another order."""
    shape, rows, percent = data.draw(models(support))
    order = data.draw(st.permutations(range(len(rows[0]))))
    renamed = [[row[y] for y in order] for row in rows]
    support.assert_overlap(audit(support, shape, rows, percent), audit(support, shape, renamed, percent))


@few
@given(st.data())
def test_record_order_does_not_matter(support, data):
    """Both records exchanged: the worst record is the same one under another number."""
    shape, rows, percent = data.draw(models(support))
    exchanged = [rows[j] for j in np.arange(len(rows)).reshape(shape).T.ravel().tolist()]
    support.assert_overlap(audit(support, shape, rows, percent), audit(support, shape[::-1], exchanged, percent))


@few
@given(st.data())
def test_a_relabelled_witness_is_a_witness(support, data):
    """The prior that attains the lower bound, carried over to another spelling, is feasible there and leaks as much."""
    shape, rows, percent = data.draw(models(support))
    first, second = (data.draw(st.permutations(range(size))) for size in shape)
    order = datasets_in_order(shape, first, second)
    renamed = model(support, shape, [rows[j] for j in order], percent)
    result = audit(support, shape, rows, percent)
    if result.witness is not None:
        prior = result.witness.masses.sum(axis=0)[order]
        assert support.entropy(prior) >= renamed.entropy_bound - 1e-12
        assert support.worst_leakage(prior, renamed) >= result.lower - 1e-12


@few
@given(st.data())
def test_splitting_an_output_into_proportional_ones_changes_nothing(support, data):
    """An output announced with a coin, or two proportional outputs merged: the same leakage."""
    shape, rows, percent = data.draw(models(support))
    y = data.draw(st.integers(0, len(rows[0]) - 1))
    share = data.draw(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20))
    split = [[*row[:y], row[y] * share, *row[y + 1 :], row[y] * (1 - share)] for row in rows]
    support.assert_overlap(audit(support, shape, rows, percent), audit(support, shape, split, percent))


@few
@given(st.data())
def test_post_processing_never_teaches_more(support, data):
    """A garbled release: its lower bound is at most the original's upper bound."""
    shape, rows, percent = data.draw(models(support))
    noise = data.draw(support.matrices(len(rows[0]), data.draw(st.integers(2, 4))))
    garbled = [[sum(w * n[j] for w, n in zip(row, noise, strict=True)) for j in range(len(noise[0]))] for row in rows]
    assert audit(support, shape, garbled, percent).lower <= audit(support, shape, rows, percent).upper


@few
@given(st.data())
def test_more_entropy_never_teaches_more(support, data):
    """For b2 >= b1 the lower bound at b2 is at most the upper bound at b1."""
    shape, rows, percent = data.draw(models(support))
    more = data.draw(st.integers(percent, 100))
    assert audit(support, shape, rows, more).lower <= audit(support, shape, rows, percent).upper


@few
@given(st.data())
def test_a_copy_of_every_class_costs_one_bit(support, data):
    """Each class twice, and one bit more of entropy asked for: record 0 meets the same adversaries, spread over the copies."""
    (_, classes), rows, percent = data.draw(models(support))
    rows = rows[: 2 * classes]
    table = np.arange(2 * classes).reshape(2, classes)
    doubled = [rows[j] for j in np.concatenate([table, table], axis=1).ravel().tolist()]
    bits = Fraction(percent, 100)
    question = support.problem([2, classes], None, dl.Channel(rows, inputs="dataset"), f"{bits} bits")
    copied = support.problem([2, 2 * classes], None, dl.Channel(doubled, inputs="dataset"), f"{bits + 1} bits")
    lower = support.brute_force(question, np.random.default_rng(0), starts=200, records=[0])
    assert lower <= support.solve(copied, gap=1e-2, time_limit=0.4).upper + 1e-12
