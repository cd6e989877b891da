"""Randomised letters and their histogram: against every string of letters listed; whom of the others an audit needs."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.information.measures.numbers import doubles
from dalenius.model.model_file import loads
from dalenius.model.problems.known_others import KnownOthers, sorted_histograms
from dalenius.model.queries.histogram import histograms

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


@each(
    "made, message",
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
        lambda: asked(4, 2, dl.randomized_histogram(1, others=[1, 0]), dl.IndependentBlocks(2)),
        "histogram with randomized_histogram",
    ),
    (
        lambda: support.design(
            dl.MinLeakage, dl.Records(3, alphabet=2), dl.Histogram(), dl.Hamming(), "0.1", dl.AnyPrior()
        ),
        "a histogram is for audits",
    ),
    (lambda: asked(3, 2, dl.geometric(1)), "against independent_blocks or product_priors"),
)
def test_what_is_refused(made, message):
    with pytest.raises(dl.errors.InputError, match=message):
        made()
