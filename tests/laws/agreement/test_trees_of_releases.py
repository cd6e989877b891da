"""Trees of releases, proved, against every path listed with its product of probabilities."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.information.entropies import mutual_information

MATRICES = [
    [
        [Fraction(1, 2), Fraction(1, 2), Fraction(0)],
        [Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)],
        [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)],
    ],
    [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 2), Fraction(1, 2)], [Fraction(0), Fraction(1)]],
]
RECORDS = dl.Records(2, alphabet=2)  # the count has three values


def drawn(rng, depth):
    """A tree as nested tuples (matrix, what follows each output)."""
    which = int(rng.integers(2))
    outputs = len(MATRICES[which][0])
    follow = [drawn(rng, depth - 1) if depth > 1 and rng.random() < 0.6 else None for _ in range(outputs)]
    return which, follow


def built(tree):
    which, follow = tree
    return dl.adaptive(dl.Channel(MATRICES[which]), then=[more and built(more) for more in follow])


def every_path(tree, value):
    """The probability of every path on a value; the definition, nothing merged."""
    which, follow = tree
    for p, more in zip(MATRICES[which][value], follow, strict=True):
        yield from [p] if more is None else (p * rest for rest in every_path(more, value))


def question(mechanism, adversary=None):
    return support.problem(RECORDS, dl.Count(), mechanism, adversary or dl.AnyPrior())


def listed(tree):
    return np.array([[float(p) for p in every_path(tree, value)] for value in range(3)])


def test_merging_alike_paths_loses_nothing():
    """Of every law of the values, what all paths tell is what the merged outputs tell."""
    rng = np.random.default_rng(11)
    merged = 0
    for _ in range(draws(20, 2000)):
        tree = drawn(rng, 3)
        whole, channel = listed(tree), question(built(tree)).channel
        merged += whole.shape[1] > channel.shape[1]
        law = rng.dirichlet(np.ones(3))
        told = [mutual_information(law[:, None] * rows) for rows in (whole, channel)]
        assert told[0] == pytest.approx(told[1], abs=1e-13)
        assert float(sum(map(float, built(tree).exact_channel(np.arange(3))[0]))) == pytest.approx(1.0, abs=1e-14)
    assert merged > 3


@pytest.mark.campaign(minutes=2)
def test_no_prior_tells_more_than_what_is_proved():
    rng = np.random.default_rng(12)
    for _ in range(draws(2, 15, 60)):
        tree = drawn(rng, 3)
        audit = question(built(tree))
        result = dl.solve(audit, gap=1e-3)
        assert dl.verify(audit, result.certificate).proved
        rows = listed(tree)[[0, 1, 1, 2]]
        for _ in range(draws(50, 2000)):
            prior = rng.dirichlet(np.full(4, 0.3))
            joint = np.array([prior[:2] @ rows[:2], prior[2:] @ rows[2:]])
            assert mutual_information(joint) <= result.upper + 1e-12


def test_a_question_asked_whatever_came_first_is_several_releases():
    """Three looks as a tree and as one release of three answers: proved to the same interval, with as many outputs."""
    look = dl.symmetric("0.3")
    tree = dl.adaptive(look, then=[dl.adaptive(look, then=[look, look])] * 2)
    parity = {"records": RECORDS, "query": dl.Parity(), "adversary": dl.EntropyAtLeast("1 bits")}
    asked = [dl.WorstCaseLeakage(mechanism=m, **parity) for m in (tree, dl.several_releases(look, times=3))]
    np.testing.assert_allclose(asked[0].channel, asked[1].channel, atol=1e-15)
    results = [dl.solve(one, gap=1e-6) for one in asked]
    assert results[0].lower == pytest.approx(results[1].lower, rel=1e-6)
    assert all(dl.verify(one, result.certificate).proved for one, result in zip(asked, results, strict=True))


def test_what_comes_next_adds_at_most_its_own_leakage():
    """Where the data are known but for the record: L(tree) <= L(first) + the largest L of what may follow."""
    first, good, bad = dl.symmetric("0.3"), dl.symmetric("0.1"), dl.symmetric("0.4")
    tree = dl.adaptive(first, then=[bad, good])
    alone = {"records": RECORDS, "query": dl.Parity(), "adversary": dl.AnyPrior()}
    told = {m: dl.solve(dl.WorstCaseLeakage(mechanism=m, **alone), gap=1e-6) for m in (first, good, bad, tree)}
    assert told[tree].lower <= told[first].upper + max(told[good].upper, told[bad].upper)
    assert told[tree].upper >= told[first].lower
    assert told[good].upper < math.log(2)


# Several queries of one dataset, proved; when leakages of single releases add up, and when not.


BITS = dl.Records(2, alphabet=2)
FIRST, SECOND = (dl.Count(), dl.geometric(1)), (dl.Parity(), dl.symmetric("0.2"))


def solved(listed, adversary, records=BITS, **limits):
    query, mechanism = dl.together(listed)
    question = dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=adversary)
    result = dl.solve(question, **limits)
    assert dl.verify(question, result.certificate).proved
    return question, result


def test_no_prior_tells_more_than_what_is_proved_of_a_joint_query(support):
    records = dl.Records(alphabets=[2, 3])
    question, result = solved([FIRST, (dl.Sum([[0, 1], [0, 2, 1]]), dl.geometric("0.5"))], dl.AnyPrior(), records)
    rows = question.channel[question.query.index_of_dataset(records)]
    letters = records.letters_of_datasets(1)
    rng = np.random.default_rng(5)
    for draw in range(draws(20, 5000)):
        prior = rng.dirichlet(np.full(len(rows), (0.05, 0.5, 3.0)[draw % 3]))
        assert support.leakage(prior, letters, rows) <= result.upper + 1e-12


@each("adversary", dl.ProductPriors(), dl.AnyPrior())
def test_leakages_add_up_where_the_data_are_known(adversary):
    alone = [solved([one], adversary)[1] for one in (FIRST, SECOND)]
    together = solved([FIRST, SECOND], adversary)[1]
    assert max(one.lower for one in alone) <= together.upper
    assert together.lower <= sum(one.upper for one in alone)


def test_against_an_entropy_bound_they_do_not():
    """Of two fair bits the second one, and their parity, tell nothing of the first one; together they tell it."""
    second = (dl.Sum([[0, 0], [0, 1]]), dl.Channel([[1, 0], [0, 1]]))
    parity = (dl.Parity(), dl.Channel([[1, 0], [0, 1]]))
    fair = dl.EntropyAtLeast("1 max")
    query, mechanism = dl.together([second, parity])
    question = dl.WorstCaseLeakage(records=BITS, query=query, mechanism=mechanism, adversary=fair)
    assert dl.solve(question).lower == pytest.approx(math.log(2), abs=1e-9)
    alone = dl.WorstCaseLeakage(records=BITS, query=parity[0], mechanism=parity[1], adversary=fair)
    assert dl.solve(alone).upper < 1e-9
