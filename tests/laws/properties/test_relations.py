"""What must hold between the leakages of two related problems; intervals make each a comparison of opposite sides."""

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dalenius as dl
from campaigns import draws

few = settings(
    max_examples=draws(3, 8),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def permuted(rows, order):
    return [rows[j] for j in order]


def columns(rows, order):
    return [[row[j] for j in order] for row in rows]


@few
@given(st.data())
def test_falls_with_the_entropy_bound(support, data):
    question = data.draw(support.oblivious())
    weak, strong = sorted(data.draw(st.tuples(st.integers(0, 20), st.integers(0, 20))))
    first = support.solve(support.with_bound(question, f"{weak}/20 max"))
    assert support.solve(support.with_bound(question, f"{strong}/20 max")).lower <= first.upper


@few
@given(st.data())
def test_output_labels_do_not_matter(support, data):
    question = data.draw(support.oblivious())
    rows = question.mechanism.rows
    other = support.with_rows(question, columns(rows, data.draw(st.permutations(range(len(rows[0]))))))
    support.assert_overlap(support.solve(question), support.solve(other))


@few
@given(st.data())
def test_letter_labels_do_not_matter(support, data):
    question = data.draw(support.by_dataset())
    shape = question.records.alphabets
    index = np.arange(question.records.datasets).reshape(shape)
    record = data.draw(st.integers(0, len(shape) - 1))
    order = data.draw(st.permutations(range(shape[record])))
    relabelled = np.take(index, order, axis=record).ravel().tolist()
    other = support.with_rows(question, permuted(question.mechanism.rows, relabelled))
    support.assert_overlap(support.solve(question), support.solve(other))


@few
@given(st.data())
def test_record_order_does_not_matter(support, data):
    question = data.draw(support.by_dataset())
    shape = question.records.alphabets
    axes = data.draw(st.permutations(range(len(shape))))
    index = np.arange(question.records.datasets).reshape(shape).transpose(axes)
    rows = permuted(question.mechanism.rows, index.ravel().tolist())
    mechanism = type(question.mechanism)(rows, inputs="dataset")
    other = support.problem(index.shape, None, mechanism, question.adversary)
    support.assert_overlap(support.solve(question), support.solve(other))


@few
@given(st.data())
def test_merging_outputs_never_teaches_more(support, data):
    question = data.draw(st.one_of(support.oblivious(), support.by_dataset()))
    merged = support.with_rows(question, [[row[0] + row[1], *row[2:]] for row in question.mechanism.rows])
    assert support.solve(merged).lower <= support.solve(question).upper


@few
@given(st.data())
def test_post_processing_never_teaches_more(support, data):
    question = data.draw(support.oblivious())
    rows = question.mechanism.rows
    noise = data.draw(support.matrices(len(rows[0]), 3))
    processed = [[sum(w * n[y] for w, n in zip(row, noise, strict=True)) for y in range(3)] for row in rows]
    assert support.solve(support.with_rows(question, processed)).lower <= support.solve(question).upper


@few
@given(st.data())
def test_splitting_an_output_changes_nothing(support, data):
    question = data.draw(st.one_of(support.oblivious(), support.by_dataset()))
    share = data.draw(st.fractions(0, 1, max_denominator=9))
    split = [[row[0] * share, row[0] * (1 - share), *row[1:]] for row in question.mechanism.rows]
    support.assert_overlap(support.solve(question), support.solve(support.with_rows(question, split)))


@few
@given(st.data())
def test_mixing_with_a_constant_mechanism(support, data):
    """Leakage is convex in the mechanism and zero for a constant one: (1-t) Q + t U leaks at most (1-t) L(Q)."""
    question = data.draw(support.oblivious())
    rows = question.mechanism.rows
    law, t = data.draw(support.laws(len(rows[0]))), data.draw(st.fractions(0, 1, max_denominator=8))
    mixed = [[(1 - t) * w + t * u for w, u in zip(row, law, strict=True)] for row in rows]
    upper = support.solve(question).upper
    assert support.solve(support.with_rows(question, mixed)).lower <= float(1 - t) * upper + 1e-15


@few
@given(st.data())
def test_an_idle_record_changes_nothing_in_nats(support, data):
    """A further record with one letter: the same datasets, the same leakage."""
    question = data.draw(support.by_dataset())
    longer = support.problem([*question.records.alphabets, 1], None, question.mechanism, question.adversary)
    support.assert_overlap(support.solve(question), support.solve(longer))


@few
@given(st.data())
def test_a_private_coin_of_the_mechanism(support, data):
    """Choosing between two mechanisms by a coin that is released leaks at most the weighted sum of both."""
    question = data.draw(support.oblivious())
    rows = question.mechanism.rows
    others = data.draw(support.matrices(len(rows), 2))
    t = Fraction(1, 3)
    both = [[*(t * w for w in row), *((1 - t) * w for w in other)] for row, other in zip(rows, others, strict=True)]
    first, second = support.solve(question), support.solve(support.with_rows(question, others))
    mixed = support.solve(support.with_rows(question, both))
    assert mixed.lower <= float(t) * first.upper + float(1 - t) * second.upper + 1e-15


# Sets of priors that contain one another, and the same sets in other words, on random problems of every kind.


fewer = settings(
    max_examples=draws(10, 40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def capacities(support, question):
    """Bounds of the largest capacity, by listing the settings of the others."""
    channel, shape = support.full_channel(question), question.records.alphabets
    index, best = np.arange(len(channel)).reshape(shape), (0.0, 0.0)
    for record in range(len(shape)):
        for selected in np.moveaxis(index, record, -1).reshape(-1, shape[record]):
            found = support.capacity(channel[selected])
            best = (max(best[0], found[0]), max(best[1], found[1]))
    return best


@fewer
@given(st.data())
def test_independent_records(support, data):
    question = support.with_bound(data.draw(support.everything()), dl.ProductPriors())
    low, high = capacities(support, question)
    result = dl.solve(question)
    assert result.lower <= high + 1e-12
    assert low - 1e-12 <= result.upper
    nothing = high < 1e-12 and result.upper < 1e-12  # one row, of which a certificate has only decimals
    assert nothing or result.termination is dl.answers.Termination.GAP_REACHED
    assert dl.loads(dl.dumps(question)) == question


@fewer
@given(st.data())
def test_listed_priors(support, data):
    """Any list of priors; a list that holds product priors only leaks no more than independent records."""
    question = data.draw(support.everything())
    size, shape = question.records.datasets, question.records.alphabets
    laws = [data.draw(support.laws(letters)) for letters in shape]
    product = [np.prod(weights) for weights in itertools.product(*laws)]
    other = data.draw(support.laws(size))
    listed = support.with_bound(question, dl.PriorSet([product, other]))
    result = dl.solve(listed)
    exact = [support.worst_leakage(np.array(prior, dtype=float), question) for prior in (product, other)]
    support.assert_contains(result, max(exact))
    assert result.upper - result.lower <= 1e-9
    assert dl.loads(dl.dumps(listed)) == listed
    alone = dl.solve(support.with_bound(question, dl.FixedPrior(product)))
    assert alone.lower <= dl.solve(support.with_bound(question, dl.ProductPriors())).upper
