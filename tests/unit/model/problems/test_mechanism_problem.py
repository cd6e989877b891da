"""Audits of several queries at once, and the one name of an audit of everybody."""

import itertools
import math

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.model import digest
from dalenius.model.model_file import loads
from dalenius_check.core.model import parse_model
from support import refuses

RECORDS = dl.Records(alphabets=[3, 2, 3])
LISTED = [
    (dl.Count([1, 2]), dl.geometric(1)),
    (dl.Sum([[0, 5, 1], [2, 0], [-1, 0, 3]]), dl.discrete_laplace("0.5")),
    (dl.Parity(), dl.symmetric("0.2")),
    (dl.Threshold(2), dl.laplace_threshold(1)),
    (dl.ModularSum(3), dl.Channel([["1/2", "1/4", "1/4"], [0, 1, 0], ["1/3", "1/3", "1/3"]])),
]


def audit(query, mechanism, adversary=None, records=RECORDS) -> dl.WorstCaseLeakage:
    return dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=adversary or dl.AnyPrior())


def rows_of(query, mechanism, records=RECORDS):
    """The row of every dataset, of one query alone."""
    values = query.values(records)
    channel = mechanism.channel(values)
    return np.array([channel[list(values).index(query.value(records, x))] for x in datasets(records)])


def datasets(records):
    return list(itertools.product(*map(range, records.alphabets)))


@each("chosen", (0, 1), (0, 2, 3), (1, 4), (0, 1, 2, 3))
def test_the_channel_is_the_product_over_the_queries(chosen):
    problem = audit(*dl.together([LISTED[j] for j in chosen]))
    product = np.ones((len(datasets(RECORDS)), 1))
    for j in chosen:
        product = (product[:, :, None] * rows_of(*LISTED[j])[:, None, :]).reshape(len(product), -1)
    np.testing.assert_allclose(problem.channel[problem.query.index_of_dataset(problem.records)], product, atol=1e-14)
    exact = problem.mechanism.exact_channel(np.arange(len(problem.channel))).astype(str)
    assert exact.shape == problem.channel.shape
    assert len(problem.mechanism.output_labels(np.arange(len(problem.channel)))) == problem.channel.shape[1]
    assert loads(dl.dumps(problem)) == problem


def test_vectors_are_those_that_some_dataset_has_in_their_order():
    query = dl.Joint(dl.Sum([0, 5, 1]), dl.Parity())
    records = dl.Records(2, alphabet=3)
    values = [part.values(records).tolist() for part in query.queries]
    found = sorted({(sum((0, 5, 1)[a] for a in x), sum(x) % 2) for x in datasets(records)})
    assert [(values[0][i], values[1][j]) for i, j in query.vectors(records).tolist()] == found
    assert [query.value(records, x) for x in [(0, 0), (1, 1)]] == [0, len(found) - 1]


def test_one_query_released_twice_is_no_joint_query():
    query, mechanism = dl.together([(dl.Count(), dl.geometric(1)), (dl.Count(), dl.geometric(1))])
    assert query == dl.Count()
    assert mechanism == dl.several_releases(dl.geometric(1), times=2)


@each("times", 1, 2)
def test_households_are_audits_of_their_own_vectors(times):
    """What a block of two tells is what two people alone tell, in a town of a million."""
    listed = [(dl.Count(), dl.geometric(1)), (dl.Sum([0, 1, 3]), dl.discrete_laplace("0.5"))] * times
    query, mechanism = dl.together(listed)
    town = audit(query, mechanism, dl.IndependentBlocks(2), dl.Records(1_000_000, alphabet=3))
    ((piece, question),) = town.pieces
    assert piece.total is None
    alone = audit(
        query,
        dl.several_releases(dl.geometric(1), dl.geometric("0.5"), times=times, on=[0, 1]),
        records=dl.Records(2, alphabet=3),
    )
    np.testing.assert_allclose(question.channel, alone.channel, atol=1e-14)


@each("weights", [[0, 1], [0, 2], [0, 0], [0, 0]], [[0, 0], [0, 0], [3, 3], [0, 1]])
def test_a_query_may_be_constant_on_a_block(weights):
    """About one block nothing is told by that query: what is proved is the worse of the blocks' own audits."""
    records, listed = dl.Records(4, alphabet=2), [(dl.Count(), dl.geometric("0.7")), (dl.Sum(weights), dl.geometric(1))]
    found = dl.solve(audit(*dl.together(listed), dl.IndependentBlocks(2), records))
    alone = []
    for own in (weights[:2], weights[2:]):
        constant = all(len(set(row)) == 1 for row in own)
        releases = listed[:1] if constant else [listed[0], (dl.Sum(own), dl.geometric(1))]
        alone.append(dl.solve(audit(*dl.together(releases), records=dl.Records(2, alphabet=2))))
    assert found.lower <= max(one.upper for one in alone)
    assert found.upper >= max(one.lower for one in alone)
    assert found.upper - found.lower < 1e-9 < min(one.upper for one in alone)


test_what_is_refused = refuses(
    (lambda: dl.Joint(dl.Count()), "from 2 to 8 queries, got 1"),
    (
        lambda: dl.Joint(dl.Count(), dl.Identity()),
        "is made of parity, modular_sum, count, sum, threshold; got Identity",
    ),
    (lambda: dl.together([(dl.Count(), dl.geometric(1)), (dl.Identity(), dl.symmetric(0))]), "only sums"),
    (lambda: audit(dl.Joint(dl.Count(), dl.Parity()), dl.geometric(1)), "needs several_releases"),
    (
        lambda: audit(dl.Count(), dl.several_releases(dl.geometric(1), on=[1])),
        "a part is on query 1, but there are 1; count queries from 0",
    ),
    (lambda: dl.several_releases(dl.geometric(1), on=[0, 1]), "of each of the 1 mechanisms"),
    (
        lambda: audit(*dl.together(LISTED[:2]), dl.IndependentBlocks(2), dl.Records(alphabets=[3, 2, 3])),
        "records of one alphabet",
    ),
    (
        lambda: support.design(
            dl.MinLeakage, RECORDS, dl.Joint(dl.Count(), dl.Parity()), dl.Hamming(), "0.1", dl.AnyPrior()
        ),
        "a joint query is for audits",
    ),
    (
        lambda: audit(
            dl.Joint(dl.Sum([0, 10**6 + 3, 1]), dl.Sum([0, 1, 10**6 + 9])),
            dl.several_releases(dl.geometric(1)),
            records=dl.Records(9, alphabet=3),
        ),
        "span",
    ),
)


# The name of the audit's question: the source paper's is an alias, and the measure called maximal leakage is another number.


FLIPPED = support.problem(dl.Records(1, alphabet=2), dl.Identity(), dl.symmetric("0.1"), dl.AnyPrior())


def test_the_papers_name_is_the_same_question():
    assert dl.MaximalLeakage is dl.WorstCaseLeakage
    assert type(dl.loads(dl.dumps(FLIPPED))) is dl.MaximalLeakage


def test_it_is_not_the_measure_that_is_called_maximal_leakage():
    """A bit that flips with probability 0.1: log 2 - h(0.1), about 0.531 bits, and log 1.8, about 0.848."""
    solved, measured = dl.solve(FLIPPED).to("bits"), dl.measure(FLIPPED, units="bits")["maximal_leakage"]
    assert (
        solved.lower
        <= 1 + 0.1 * math.log2(0.1) + 0.9 * math.log2(0.9)
        <= solved.upper
        == pytest.approx(0.531, abs=1e-4)
    )
    assert measured.lower <= math.log2(1.8) <= measured.upper == pytest.approx(0.848, abs=1e-4)


def test_model_files_may_say_either_and_certificates_say_the_papers():
    text = dl.dumps(FLIPPED)
    assert text.startswith('problem = "worst_case_leakage"\n')
    papers = text.replace("worst_case_leakage", "maximal_leakage")
    assert dl.loads(text) == dl.loads(papers) == FLIPPED
    for model in map(parse_model, (text.encode(), papers.encode())):
        assert (model.problem, model.digest) == ("maximal_leakage", digest(FLIPPED))
    certificate = dl.solve(dl.loads(papers)).certificate
    assert certificate.header.problem == "maximal_leakage"
    verdict = dl.verify(dl.loads(text), certificate)
    assert verdict.proved
    assert "worst-case leakage about one record" in " ".join(verdict.lines)
