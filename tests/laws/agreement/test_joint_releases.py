"""Several queries of one dataset, proved; when leakages of single releases add up, and when not."""

import math

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each

BITS = dl.Records(2, alphabet=2)
FIRST, SECOND = (dl.Count(), dl.geometric(1)), (dl.Parity(), dl.symmetric("0.2"))


def solved(listed, adversary, records=BITS, **limits):
    query, mechanism = dl.together(listed)
    question = dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=adversary)
    result = dl.solve(question, **limits)
    assert dl.verify(question, result.certificate).proved
    return question, result


def test_no_prior_tells_more_than_what_is_proved(support):
    records = dl.Records(alphabets=[2, 3])
    question, result = solved([FIRST, (dl.Sum([[0, 1], [0, 2, 1]]), dl.geometric("0.5"))], dl.AnyPrior(), records)
    rows = question.channel[question.query.index_of_dataset(records)]
    letters = records.letters_of_datasets(1)
    rng = np.random.default_rng(5)
    for draw in range(draws(20, 5000)):
        prior = rng.dirichlet(np.full(len(rows), (0.05, 0.5, 3.0)[draw % 3]))
        joint = np.array([(prior * (letters == a)) @ rows for a in range(3)])
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        told = float(
            np.where(joint > 0, joint * np.log(np.maximum(joint, 1e-300) / np.maximum(product, 1e-300)), 0).sum()
        )
        assert told <= result.upper + 1e-12


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
