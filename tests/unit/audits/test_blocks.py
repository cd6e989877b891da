"""Audits of single households: the reference values, at a million people, and which pieces there are."""

import re
from pathlib import Path

import pytest

import dalenius as dl
import support
from campaigns import each, thinned

MILLION = dl.Records(1_000_000, alphabet=2)


def count(adversary, records=MILLION, mechanism=None) -> dl.WorstCaseLeakage:
    return support.problem(records, dl.Count(), mechanism or dl.geometric(0.5), adversary)


@each("page", "people", "theory")
def test_the_pages_round_what_is_told_at_most_up(page):
    text = (Path(__file__).parents[3] / f"docs/{page}.md").read_text()
    (told,) = re.findall(r"(?:0\.\d{4}(?:, | and )?){4}", text)
    for bits, exact in zip(re.findall(r"0\.\d{4}", told), (0.0437134606, 0.1362817, 0.3667467, 0.7248199), strict=True):
        assert exact <= float(bits) < exact + 1e-4


@pytest.mark.parametrize(
    ("size", "bits"), thinned([(4, 0.36674673), (1, 0.04371346), (2, 0.13628167), (8, 0.72481990)], 2)
)
def test_a_million_people_in_households(size, bits):
    question = count(dl.IndependentBlocks(size))
    result = dl.solve(question, gap=1e-7).to("bits")
    assert result.lower - 1e-8 <= bits <= result.upper + 1e-8
    assert result.upper - result.lower <= 1e-6
    assert dl.verify(question, result.certificate).proved


def test_an_own_block_with_some_entropy_is_the_audit_of_one_block():
    blocks = dl.IndependentBlocks(4, entropy_at_least="0.6 max")
    result = dl.solve(count(blocks, dl.Records(100_000, alphabet=2)), gap=1e-3)
    assert result.gap <= 1e-3
    alone = dl.solve(count(dl.EntropyAtLeast("0.6 max"), dl.Records(4, alphabet=2)), gap=1e-3)
    assert result.lower <= alone.upper
    assert alone.lower <= result.upper


def test_the_certificate_is_that_of_one_block_with_its_name():
    result = dl.solve(count(dl.IndependentBlocks(4)))
    _, at, witness, block, *lines = result.certificate.text.splitlines()
    assert (at, block) == ('["at",0,null]', '["block",0,null]')
    assert witness.startswith('["witness",0,')
    assert lines[0] == '["record",0]'
    assert result.witness is not None
    assert result.witness.inputs == (0, 1, 2, 3, 4)


def test_every_size_is_a_piece_and_records_have_their_own_numbers():
    question = count(dl.IndependentBlocks(sizes=[1] * 5 + [3] * 2 + [2] * 4), dl.Records(19, alphabet=2))
    assert [(p.block, p.first, p.times, q.records.count) for p, q in question.pieces] == [
        (0, 0, 5, 1),
        (5, 5, 2, 3),
        (7, 11, 4, 2),
    ]
    result = dl.solve(question)
    assert result.record == 5  # of the largest household
    assert [(proof.record, proof.times) for proof in result.records] == [(5, 6), (11, 8), (0, 5)]


def test_totals_that_leave_nothing_to_decide_are_no_pieces():
    question = support.problem(
        dl.Records(101, alphabet=2), dl.Threshold(51), dl.symmetric(0.1), dl.IndependentBlocks(3)
    )
    assert [(p.total, q.query.at) for p, q in question.pieces if p.block == 0] == [(48, 3), (49, 2), (50, 1)]
    assert [len(q.records) for p, q in question.pieces if p.block > 0] == [2, 2]  # who is left over


def test_progress_tells_the_bounds_of_all_pieces():
    told = []
    question = count(dl.IndependentBlocks(sizes=[6, 5, 1]), dl.Records(12, alphabet=2), dl.discrete_laplace(1))
    result = dl.solve(question, progress=told.append)
    assert told
    assert all(moment.lower <= result.upper + 1e-9 and moment.upper >= result.lower - 1e-9 for moment in told)


def test_a_block_that_nothing_is_counted_of_tells_nothing():
    question = support.problem(
        dl.Records(alphabets=[1, 1, 2, 2]), dl.Count([1]), dl.geometric(1), dl.IndependentBlocks(2)
    )
    assert [piece.block for piece, _ in question.pieces] == [1]
    silent = support.problem(
        dl.Records(4, alphabet=2), dl.Sum([5, 5]), dl.geometric(1, range=(0, 40)), dl.IndependentBlocks(2)
    )
    result = dl.solve(silent)
    assert (result.lower, result.upper, result.record) == (0.0, 0.0, None)
