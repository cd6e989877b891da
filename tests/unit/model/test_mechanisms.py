"""Mechanisms: entries in doubles and exactly, the exponential mechanism, noisy histograms, trees of releases."""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import dalenius as dl
import support
from campaigns import each
from dalenius.information.measures.numbers import doubles
from dalenius.model.mechanisms.exponential_mechanism import MergedExponential
from dalenius.model.mechanisms.known_others import KnownOthers, sorted_histograms
from dalenius.model.model_file import loads
from dalenius.model.queries.histogram import histograms
from dalenius.model.schema import model_schema
from support import refuses

MECHANISMS = [
    (dl.geometric("1/2"), 4),
    (dl.geometric(3, range=(-2, 6)), 4),
    (dl.geometric(1000), 3),
    (dl.exponential(1, range=5, sensitivity=2), 4),
    (dl.exponential(0), 3),
    (dl.laplace_threshold(1), 2),
    (dl.randomized_response("3/2"), 5),
    (dl.symmetric(0.2), 3),
    (dl.Channel([["1/3", "2/3"], [0.1, 0.9]]), 2),
    (dl.subset_selection("log 3", size=2), 4),
    (dl.optimized_unary_encoding("3/2"), 4),
    (dl.local_hashing("2 bits", buckets=3), 3),
    (dl.hadamard_response(0), 3),
    (dl.DesignedMechanism([["1/3", "2/3"], [0.1, 0.9]]), 2),
]


@each("mechanism, inputs", *MECHANISMS)
def test_doubles_are_beside_the_exact_numbers(mechanism, inputs):
    values = np.arange(inputs)
    with ctx.workprec(200):
        exact, doubles = mechanism.exact_channel(values), mechanism.channel(values)
        assert exact.shape == doubles.shape
        for row, beside in zip(exact, doubles, strict=True):
            assert arb(sum(row)).overlaps(arb(1))
            for x, y in zip(row, beside.tolist(), strict=True):
                assert abs(arb(x) - arb(y)) <= arb(4e-16)
                assert isinstance(x, fmpq) or x.rel_accuracy_bits() >= 100


def test_rational_kinds_are_exact():
    rows = dl.symmetric("1/5").exact_channel(np.arange(3))
    assert rows.tolist() == [[fmpq(4, 5) if x == y else fmpq(1, 10) for y in range(3)] for x in range(3)]
    rows = dl.Channel([[0.3, "0.7000000001"], [1, 0]]).exact_channel(np.arange(2))
    assert sum(rows[0]) == 1


@dataclass(frozen=True)
class Doubled(dl.mechanisms.Mechanism):
    """A kind of one's own, in doubles."""

    kind: ClassVar[str] = "doubled"

    def channel(self, values):
        return np.full((values.size, 3), 1 / 3)


def test_a_class_of_ones_own_is_its_doubles_divided_by_their_sums():
    rows = Doubled().exact_channel(np.arange(2))
    assert all(sum(row) == 1 for row in rows)
    assert rows[0, 0] == fmpq(1, 3)


def test_entries_are_told_from_zero_however_small_epsilon_is():
    for epsilon in ("1e-300", "1000"):
        rows = dl.geometric(epsilon).exact_channel(np.arange(4))
        assert all(x > 0 for x in rows.ravel())
        assert all(x.rel_accuracy_bits() >= 30 for x in rows.ravel())


# The exponential mechanism with its outputs beyond some values merged: the whole one's columns summed, in doubles and in balls.


@each("epsilon, values, span", ("1", [0, 1, 2], (-4, 9)), ("1/3", [2, 5], (2, 40)), (0, [1, 3], (0, 7)))
def test_merged_outputs_are_sums_of_columns(epsilon, values, span):
    values = np.array(values)
    whole = dl.exponential(epsilon, range=span).channel(values)
    outputs = np.clip(np.arange(span[0], span[1] + 1), values[0], values[-1]) - values[0]
    summed = np.stack([whole[:, outputs == y].sum(axis=1) for y in range(values[-1] - values[0] + 1)], axis=1)
    merged = MergedExponential(Fraction(epsilon) / 2, span)
    assert np.allclose(merged.channel(values), summed, rtol=1e-13, atol=0)
    assert np.allclose(doubles(np.asarray(merged.exact_channel(values))), summed, rtol=1e-13, atol=0)


# Randomised letters and their histogram: against every string of letters listed; whom of the others an audit needs.


CASES = [(2, 3, None), (2, 3, (1, 0, 2)), (3, 2, (1, 1)), (1, 4, (0, 1, 0, 1))]


def asked(count, letters, mechanism, adversary=None):
    return support.problem(dl.Records(count, alphabet=letters), dl.Histogram(), mechanism, adversary or dl.AnyPrior())


def of_letters(letters, k):
    return tuple(letters.count(c) for c in range(k))


def by_strings(held, k, flip):
    """The law of the histogram of these letters, each string of answers by itself."""
    law = Counter()
    for answers in itertools.product(range(k), repeat=len(held)):
        law[of_letters(answers, k)] += math.prod(
            1 - flip if a == b else flip / (k - 1) for a, b in zip(held, answers, strict=True)
        )
    return law


@each("count, k, others", *CASES)
def test_the_channel_is_that_of_strings_of_answers(count, k, others):
    flip = Fraction(1, 3)
    problem = asked(count, k, dl.randomized_histogram(flip=flip, others=others))
    outputs = [tuple(row) for row in histograms(count + sum(others or ()), k).tolist()]
    exact = problem.exact_channel
    for x, held in enumerate(histograms(count, k).tolist()):
        people = [a for a in range(k) for _ in range(held[a] + (others[a] if others else 0))]
        law = by_strings(people, k, flip)
        assert [Fraction(int(p.p), int(p.q)) for p in exact[x]] == [law[y] for y in outputs]
    np.testing.assert_allclose(problem.channel, doubles(exact), rtol=1e-14)
    assert problem.mechanism.output_labels(np.arange(len(exact)))[0] == str(outputs[0])
    assert loads(dl.dumps(problem)) == problem


@each("count, k", (3, 3), (2, 4))
def test_what_is_alike_is_one_number(count, k):
    """In balls, too: permuting letters moves entries, and numbers are the same; of all inputs' histograms only sorted ones are new."""
    problem = asked(count, k, dl.randomized_histogram(1))
    index, listed = problem.alike, histograms(count, k).tolist()
    place = {tuple(row): j for j, row in enumerate(listed)}
    for order in itertools.permutations(range(k)):
        moved = [place[tuple(row[c] for c in order)] for row in listed]
        assert (index[np.ix_(moved, moved)] == index).all()
    law = by_strings([0] * count, k, Fraction((k - 1) / (math.exp(1) + k - 1)))
    np.testing.assert_allclose(
        problem.channel[place[(count, *[0] * (k - 1))]], [float(law[tuple(y)]) for y in listed], rtol=1e-12
    )


def test_values_are_histograms_in_their_order():
    query = dl.Histogram().of_records(dl.Records(3, alphabet=3))
    records = dl.Records(3, alphabet=3)
    names = query.value_names(records)
    assert names[:2] == ["(0, 0, 3)", "(0, 1, 2)"]
    for x in itertools.product(range(3), repeat=3):
        assert names[query.value(records, x)] == str(of_letters(x, 3))
    assert [names[k] for k in query.index_of_dataset(records)[:2]] == ["(3, 0, 0)", "(2, 1, 0)"]


def covered(counts, listed):
    """Whether some listed numbers are below these, up to the order of the letters."""
    return any(all(a <= b for a, b in zip(t, sorted(counts, reverse=True), strict=True)) for t in listed)


@each("size, others, letters", (1, 3, 2), (2, 5, 3), (1, 60, 3), (2, 40, 4), (3, 700, 2))
def test_whatever_the_others_are_some_listed_numbers_are_below(size, others, letters):
    """The theorem that coverage rests on, by enumeration; and the format's own rule is met."""
    known = KnownOthers.of(size, others, letters)
    assert all(covered(counts, known.above) for counts in sorted_histograms(others, letters))
    assert {sum(t) for t in known.below} <= {others}
    (total,) = {sum(t) for t in known.above}
    step = math.gcd(*(c for t in known.above for c in t))
    if total:
        assert total // step <= -(-(others - letters * (step - 1)) // step)
        assert {tuple(c // step for c in t) for t in known.above} == set(sorted_histograms(total // step, letters))


def test_pieces_say_whom_they_know():
    pieces = asked(4, 3, dl.randomized_histogram(1), dl.IndependentBlocks(1)).pieces
    assert [(piece.written, piece.bounds, piece.attained) for piece, _ in pieces] == [
        ("3,0,0", True, True),
        ("2,1,0", True, True),
        ("1,1,1", True, True),
    ]
    assert pieces[0][1].mechanism.others == (3, 0, 0)
    assert KnownOthers.of(size=2, others=999_998, letters=3) == KnownOthers(above=((0, 0, 0),), below=())


test_histograms_that_are_refused = refuses(
    (lambda: dl.randomized_histogram(), "either epsilon or flip"),
    (lambda: dl.randomized_histogram(flip=2), "flip must be from 0 to 1"),
    (lambda: dl.randomized_histogram(1, others=[-1, 2]), "others"),
    (lambda: asked(3, 2, dl.randomized_histogram(1, others=[1])), "one number for each of 2 letters, got 1"),
    (lambda: asked(3, 1, dl.randomized_histogram(1)), "at least 2 letters"),
    (lambda: asked(200, 4, dl.randomized_histogram(1)), "have 1373701 histograms; at most 65536"),
    (lambda: asked(120, 3, dl.randomized_histogram(1)), "ask about households"),
    (
        lambda: support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.randomized_histogram(1), dl.AnyPrior()),
        "its query must be histogram",
    ),
    (
        lambda: support.design(
            dl.MinLeakage, dl.Records(3, alphabet=2), dl.Histogram(), dl.Hamming(), "0.1", dl.AnyPrior()
        ),
        "a histogram is for audits",
    ),
    (lambda: asked(3, 2, dl.geometric(1)), "against independent_blocks or product_priors"),
)


def test_households_are_not_asked_about_known_others():
    with pytest.raises(dl.errors.InputError, match="histogram with randomized_histogram"):
        asked(4, 2, dl.randomized_histogram(1, others=[1, 0]), dl.IndependentBlocks(2))


# Trees of releases: channels, exact numbers, model files, and what is refused before it takes memory.


LOOK = dl.symmetric("0.1")


def audit(query, mechanism, records=None, adversary=None):
    return support.problem(records or dl.Records(3, alphabet=2), query, mechanism, adversary or dl.AnyPrior())


def test_stages_of_a_joint_query_are_on_their_own_query():
    """A count first; where it says 3, the parity too."""
    query = dl.Joint(dl.Count(), dl.Parity())
    tree = dl.adaptive(dl.geometric(1), then=[None, None, None, dl.adaptive(dl.symmetric("0.2"), on=1)])
    problem = audit(query, tree)
    counts = dl.geometric(1).channel(np.arange(4))
    parities = dl.symmetric("0.2").channel(np.arange(2))[[0, 1, 0, 1]]
    np.testing.assert_allclose(problem.channel, np.hstack([counts[:, :3], counts[:, 3:] * parities]), atol=1e-15)
    assert problem.mechanism.output_labels(np.arange(4))[2:] == ["2", "3; 0", "3; 1"]
    assert loads(dl.dumps(problem)) == problem


def test_alike_paths_are_one_output():
    tree = dl.adaptive(LOOK, then=[dl.adaptive(LOOK, then=[None, LOOK]), dl.adaptive(LOOK, then=[LOOK, None])])
    problem = audit(dl.Parity(), tree)
    assert tree.output_labels(np.arange(2)) == ["0; 0", "0; 1; 0, in any order", "0; 1; 1, in any order", "1; 1"]
    np.testing.assert_allclose(problem.channel[0], [0.81, 2 * 0.9 * 0.9 * 0.1, 2 * 0.9 * 0.1 * 0.1, 0.01], atol=1e-15)
    index = problem.alike
    assert (index[0] == index[1, ::-1]).all()
    assert len(set(index[0].tolist())) == 4


def test_equal_numbers_are_told_whatever_they_were_made_of():
    """In balls, too: the product of the same two entries is one number in whatever order they come."""
    tree = dl.adaptive(dl.randomized_response(1), then=[dl.geometric(1), dl.geometric(1)])
    index = audit(dl.Parity(), tree).alike
    assert (index == index[::-1, ::-1]).all()


def test_a_tree_out_of_a_model_file_may_leave_out_what_follows():
    text = """
problem = "maximal_leakage"
records = { count = 3, alphabet = 2 }
query = { kind = "parity" }
adversary = { entropy_at_least = 0 }

[mechanism]
kind = "adaptive"
mechanism = { kind = "symmetric", flip = 0.1 }
then = [{}, { mechanism = { kind = "symmetric", flip = 0.1 }, then = [{}, {}] }]
"""
    assert loads(text).mechanism == dl.adaptive(LOOK, then=[None, dl.adaptive(LOOK, then=[None, None])])
    stage = model_schema()["definitions"]["stage"]["anyOf"]
    assert [sorted(one["properties"]) for one in stage] == [[], ["mechanism", "on", "then"]]


def test_households_see_the_rows_of_their_own_values():
    """Of matrices every total of the others is a piece with its rows; of a threshold, what is left of it."""
    rows = dl.Channel([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"], [0, 1]])
    tree = dl.adaptive(rows, then=[None, rows])
    whole = tree.channel(np.arange(4))
    pieces = audit(dl.Count(), tree, adversary=dl.IndependentBlocks(2), records=dl.Records(3, alphabet=2)).pieces
    for piece, question in pieces:
        start, size = piece.total, len(piece.records)
        np.testing.assert_allclose(question.channel, whole[start : start + size + 1], atol=1e-15)
    looks = dl.adaptive(LOOK, then=[None, LOOK])
    left = audit(dl.Threshold(2), looks, adversary=dl.IndependentBlocks(1)).pieces
    assert [(piece.total, piece.query, piece.mechanism) for piece, _ in left] == [(1, dl.Threshold(1), looks)]


def deep(depth):
    tree = dl.adaptive(LOOK)
    for _ in range(depth - 1):
        tree = dl.adaptive(LOOK, then=[None, tree])
    return tree


def wide():
    """A shared part: few objects, 2^17 stages when it is written out."""
    tree = LOOK
    for _ in range(16):
        tree = dl.adaptive(LOOK, then=[tree, tree])
    return tree


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: deep(17), "at most 16 stages deep, got 17"),
        (lambda: wide(), "at most 16 stages deep, got 17|at most 65536 stages"),
        (lambda: dl.adaptive(LOOK, then=[deep(15)] * 5000), "at most 65536 stages, got 75001"),
        (lambda: audit(dl.Parity(), dl.adaptive(LOOK, then=[LOOK])), "one entry for each of 2 outputs, got 1"),
        (
            lambda: audit(
                dl.Count(), dl.adaptive(dl.geometric(1, range=999), then=[dl.geometric(1, range=999)] * 1000)
            ),
            "at most 262144 paths, got 1000000",
        ),
        (
            lambda: audit(
                dl.Count(),
                dl.adaptive(dl.geometric(1), then=[dl.geometric(1)] * 400),
                records=dl.Records(399, alphabet=2),
            ),
            "more than 16777216 entries",
        ),
        (lambda: dl.adaptive(dl.subset_selection(1, size=1)), "adaptive knows matrix, "),
        (lambda: dl.adaptive(dl.gaussian(1)), "adaptive knows matrix, "),
        (lambda: dl.adaptive(dl.Channel([[1]], inputs="dataset")), "rows are the query's values"),
        (lambda: audit(dl.Parity(), dl.adaptive(LOOK, on=1)), "a part is on query 1, but there are 1"),
        (
            lambda: audit(dl.Count(), dl.adaptive(dl.geometric(1)), adversary=dl.IndependentBlocks(1)),
            "adaptive with matrices",
        ),
    ],
)
def test_trees_that_are_refused(made, message):
    with pytest.raises(dl.errors.InputError, match=message):
        made()


@each(
    "table, message",
    (
        "{ kind = 'adaptive', mechanism = { kind = 'symmetric', flip = 0.1 }, then = [1, {}] }",
        "expected a table, empty",
    ),
    ("{ kind = 'adaptive', then = [{}, {}] }", "missing mechanism"),
    ("{ kind = 'adaptive', mechanism = { kind = 'adaptive' } }", "kind must be one of"),
    ("{ kind = 'adaptive', mechanism = { kind = 'symmetric', flip = 0.1, times = 2 } }", "unknown key 'times'"),
)
def test_what_a_file_must_say(table, message):
    text = f"""
problem = "maximal_leakage"
records = {{ count = 3, alphabet = 2 }}
query = {{ kind = "parity" }}
adversary = {{ entropy_at_least = 0 }}
mechanism = {table}
"""
    with pytest.raises(dl.errors.InputError, match=message):
        loads(text)
