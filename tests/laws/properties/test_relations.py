"""What must hold between the leakages of two related problems; intervals make each a comparison of opposite sides.

The tree over boxes works letter by letter and output by output, so nothing in it is symmetric by itself: that two spellings of one
question get intervals that overlap is a property of the bounds, not of the code.
"""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from support import examples

SHAPES = [(2, 4, 3), (2, 5, 2), (3, 3, 3), (3, 4, 2), (4, 2, 3), (4, 4, 2)]  # letters, classes, outputs
MORE = {"gap": 1e-2, "time_limit": 0.4}


@st.composite
def two_records(draw, support):
    """A row for every (letter, class), and an entropy bound between 0 and 95 % of the maximum."""
    letters, classes, outputs = draw(st.sampled_from(SHAPES))
    rows = draw(support.matrices(letters * classes, outputs))
    bound = f"{draw(st.integers(0, 95))}e-2 max"
    return support.problem((letters, classes), None, dl.Channel(rows, inputs="dataset"), bound)


def relation(*kinds: str):
    """Make a test of small problems of these kinds, and one of two records of several letters and classes, of what should hold."""

    def decorated(holds):
        @pytest.mark.parametrize("letters", [False, True])
        def test(support, letters):
            small = st.one_of([getattr(support, kind)() for kind in kinds])
            questions = two_records(support) if letters else small
            solve = functools.partial(support.solve, **(MORE if letters else {}))

            @(examples(2, 18) if letters else examples(2, 8))
            @given(st.data())
            def whatever_is_drawn(data):
                holds(support, data, data.draw(questions), solve)

            whatever_is_drawn()

        return test

    return decorated


def renamed(question, permutations) -> tuple[list[int], list]:
    """The old index of every dataset when the letters of all records are renamed, and the rows in that order."""
    order = np.arange(question.records.datasets).reshape(question.records.alphabets)[np.ix_(*permutations)].ravel()
    return order.tolist(), [question.mechanism.rows[j] for j in order]


@relation("oblivious")
def test_falls_with_the_entropy_bound(support, data, question, solve):
    weak, strong = sorted(data.draw(st.tuples(st.integers(0, 20), st.integers(0, 20))))
    first = solve(support.with_bound(question, f"{weak}/20 max"))
    assert solve(support.with_bound(question, f"{strong}/20 max")).lower <= first.upper


@relation("oblivious")
def test_output_labels_do_not_matter(support, data, question, solve):
    rows = question.mechanism.rows
    order = data.draw(st.permutations(range(len(rows[0]))))
    support.assert_overlap(
        solve(question), solve(support.with_rows(question, [[row[y] for y in order] for row in rows]))
    )


@relation("by_dataset")
def test_letter_labels_do_not_matter(support, data, question, solve):
    """The prior that attains the lower bound, carried over to the other spelling, is feasible there and leaks as much."""
    order, rows = renamed(question, [data.draw(st.permutations(range(size))) for size in question.records.alphabets])
    other, result = support.with_rows(question, rows), solve(question)
    support.assert_overlap(result, solve(other))
    if result.witness is not None:
        prior = result.witness.masses.sum(axis=0)[order]
        assert support.entropy(prior) >= other.entropy_bound - 1e-12
        assert support.worst_leakage(prior, other) >= result.lower - 1e-12


@relation("by_dataset")
def test_record_order_does_not_matter(support, data, question, solve):
    """The worst record is the same one under another number."""
    shape = question.records.alphabets
    axes = data.draw(st.permutations(range(len(shape)))) if len(shape) != 2 else [1, 0]
    index = np.arange(question.records.datasets).reshape(shape).transpose(axes)
    mechanism = dl.Channel([question.mechanism.rows[j] for j in index.ravel().tolist()], inputs="dataset")
    support.assert_overlap(solve(question), solve(support.problem(index.shape, None, mechanism, question.adversary)))


@relation("oblivious", "by_dataset")
def test_merging_outputs_never_teaches_more(support, data, question, solve):
    merged = support.with_rows(question, [[row[0] + row[1], *row[2:]] for row in question.mechanism.rows])
    assert solve(merged).lower <= solve(question).upper


@relation("oblivious")
def test_post_processing_never_teaches_more(support, data, question, solve):
    rows, outputs = question.mechanism.rows, data.draw(st.integers(2, 4))
    noise = data.draw(support.matrices(len(rows[0]), outputs))
    processed = [[sum(w * n[y] for w, n in zip(row, noise, strict=True)) for y in range(outputs)] for row in rows]
    assert solve(support.with_rows(question, processed)).lower <= solve(question).upper


@relation("oblivious", "by_dataset")
def test_splitting_an_output_changes_nothing(support, data, question, solve):
    """An output announced with a coin, or two proportional outputs merged."""
    rows = question.mechanism.rows
    y, share = data.draw(st.integers(0, len(rows[0]) - 1)), data.draw(st.fractions(0, 1, max_denominator=20))
    split = [[*row[:y], row[y] * share, *row[y + 1 :], row[y] * (1 - share)] for row in rows]
    support.assert_overlap(solve(question), solve(support.with_rows(question, split)))


@relation("oblivious")
def test_mixing_with_a_constant_mechanism(support, data, question, solve):
    """Leakage is convex in the mechanism and zero for a constant one: (1-t) Q + t U leaks at most (1-t) L(Q)."""
    rows = question.mechanism.rows
    law, t = data.draw(support.laws(len(rows[0]))), data.draw(st.fractions(0, 1, max_denominator=8))
    mixed = [[(1 - t) * w + t * u for w, u in zip(row, law, strict=True)] for row in rows]
    assert solve(support.with_rows(question, mixed)).lower <= float(1 - t) * solve(question).upper + 1e-15


@relation("by_dataset")
def test_an_idle_record_changes_nothing_in_nats(support, data, question, solve):
    """A further record with one letter: the same datasets, the same leakage."""
    longer = support.problem([*question.records.alphabets, 1], None, question.mechanism, question.adversary)
    support.assert_overlap(solve(question), solve(longer))


@relation("oblivious")
def test_a_private_coin_of_the_mechanism(support, data, question, solve):
    """Choosing between two mechanisms by a coin that is released leaks at most the weighted sum of both."""
    rows = question.mechanism.rows
    others = data.draw(support.matrices(len(rows), 2))
    t = Fraction(1, 3)
    both = [[*(t * w for w in row), *((1 - t) * w for w in other)] for row, other in zip(rows, others, strict=True)]
    first, second = solve(question), solve(support.with_rows(question, others))
    mixed = solve(support.with_rows(question, both))
    assert mixed.lower <= float(t) * first.upper + float(1 - t) * second.upper + 1e-15


@examples(2, 18)
@given(st.data())
def test_a_copy_of_every_class_costs_one_bit(support, data):
    """Each class twice, and one bit more of entropy asked for: record 0 meets the same adversaries, spread over the copies."""
    rows = data.draw(two_records(support)).mechanism.rows
    classes, bits = len(rows) // 2, Fraction(data.draw(st.integers(0, 95)), 100)
    rows = rows[: 2 * classes]
    table = np.arange(2 * classes).reshape(2, classes)
    doubled = [rows[j] for j in np.concatenate([table, table], axis=1).ravel().tolist()]
    question = support.problem([2, classes], None, dl.Channel(rows, inputs="dataset"), f"{bits} bits")
    copied = support.problem([2, 2 * classes], None, dl.Channel(doubled, inputs="dataset"), f"{bits + 1} bits")
    lower = support.brute_force(question, np.random.default_rng(0), starts=200, records=[0])
    assert lower <= support.solve(copied, **MORE).upper + 1e-12


# Sets of priors that contain one another, and the same sets in other words, on random problems of every kind.


@examples(10, 40)
@given(st.data())
def test_independent_records(support, data):
    question = support.with_bound(data.draw(support.everything()), dl.ProductPriors())
    low, high = support.product_leakage(question)
    result = dl.solve(question)
    assert result.lower <= high + 1e-12
    assert low - 1e-12 <= result.upper
    nothing = high < 1e-12 and result.upper < 1e-12  # one row, of which a certificate has only decimals
    assert nothing or result.termination is dl.answers.Termination.GAP_REACHED
    assert dl.loads(dl.dumps(question)) == question


@examples(10, 40)
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
