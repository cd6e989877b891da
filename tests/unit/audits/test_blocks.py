"""Audits of single households: the reference values, at a million people, and which pieces there are."""

import math
import re
from pathlib import Path

import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from support import refuses

MILLION = dl.Records(1_000_000, alphabet=2)


def count(adversary, records=MILLION, mechanism=None) -> dl.WorstCaseLeakage:
    return support.problem(records, dl.Count(), mechanism or dl.geometric(0.5), adversary)


@each("page", "households", "theory")
def test_the_pages_round_what_is_told_at_most_up(page):
    text = (Path(__file__).parents[3] / f"docs/{page}.md").read_text()
    (told,) = re.findall(r"(?:0\.\d{4,5}(?:, | and | or )?){4}", text)
    listed, exact = re.findall(r"0\.\d{4,5}", told), (0.0437134606, 0.1362817, 0.3667467, 0.7248199)
    for bits, least in zip(listed, exact, strict=True):
        assert least <= float(bits) < least + 1e-4


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


# Audits of histograms: reference values, the least of several bounds, and what is refused.


MILLION_OF_THREE = 1_000_000


def table(cells, adversary, *, records=MILLION_OF_THREE, mechanism=None) -> dl.WorstCaseLeakage:
    return support.problem(
        dl.Records(records, alphabet=cells), dl.Histogram(), mechanism or dl.discrete_laplace("0.5"), adversary
    )


@pytest.mark.parametrize(
    ("cells", "size", "nats"), thinned([(100, 2, 0.38884075546164), (10, 1, 0.09882), (100, 4, 1.1496561)], 3)
)
def test_a_million_people(cells, size, nats):
    question = table(cells, dl.IndependentBlocks(size))
    result = dl.solve(question, gap=1e-6)
    assert result.gap <= 1e-6
    assert dl.verify(question, result.certificate).proved
    if size > 1:
        assert result.lower - 1e-7 <= nats <= result.upper + 1e-7


@each("scale", "0.2", "0.5")
def test_little_gaussian_noise_tells_nearly_everything(scale):
    """Likelihood ratios up to e^100: both ends are proved, and no proof is refused on the way."""
    result = dl.solve(table(20, dl.IndependentBlocks(2), mechanism=dl.discrete_gaussian(scale=scale)), gap=0.05)
    assert 0.95 * math.log(20) < result.lower <= result.upper <= math.log(20) + 1e-12


def test_independent_records_are_blocks_of_one():
    alone, blocks = (dl.solve(table(7, adversary)) for adversary in (dl.ProductPriors(), dl.IndependentBlocks(1)))
    assert (alone.lower, alone.upper) == (blocks.lower, blocks.upper)
    assert alone.upper - alone.lower < 1e-11


def test_two_cells_of_one_record_are_a_vector_of_two_counts():
    """One record in two cells: two independent releases of one bit, one of them turned."""
    together = dl.several_releases(dl.geometric("0.5"), times=2)
    bit = support.problem(dl.Records(1, alphabet=2), dl.Count(), together, dl.ProductPriors())
    one, two = dl.solve(bit), dl.solve(table(2, dl.ProductPriors(), records=1))
    assert max(one.lower, two.lower) <= min(one.upper, two.upper)
    assert two.upper - two.lower < 1e-11


def test_the_largest_block_is_the_one_that_counts():
    result = dl.solve(table(4, dl.IndependentBlocks(sizes=[1, 3, 2, 3]), records=9), gap=1e-6)
    alone = dl.solve(table(4, dl.IndependentBlocks(3), records=3), gap=1e-6)
    assert result.record == 1
    assert result.lower == pytest.approx(alone.lower, abs=1e-12)
    assert result.witness is not None
    assert result.witness.letter_law.tolist() == [0.25] * 4


def test_where_noise_is_small_the_letters_bound_and_where_there_is_one_letter_nothing_is_told():
    loud = dl.solve(table(100, dl.IndependentBlocks(2), mechanism=dl.discrete_laplace(6)))
    assert loud.upper == pytest.approx(math.log(100), abs=1e-12)
    assert [proof.method for proof in loud.records] == ["letters"]
    nothing = dl.solve(table(1, dl.IndependentBlocks(2)))
    assert (nothing.lower, nothing.upper) == (0.0, 0.0)


@each("size", 1, 4)
def test_noise_of_which_probabilities_underflow_tells_the_letter(size):
    """exp(-4 epsilon) is no double any more: the ends are those of no noise at all, and no more than a letter has."""
    question = table(3, dl.IndependentBlocks(size), mechanism=dl.discrete_laplace(1000))
    result = dl.solve(question)
    assert math.log(3) - 1e-10 < result.lower < math.log(3) <= result.upper < math.log(3) + 1e-10
    assert dl.verify(question, result.certificate).proved


def test_gaussian_noise_is_clamped_far_out():
    question = table(3, dl.IndependentBlocks(2), mechanism=dl.discrete_gaussian(scale=1))
    result = dl.solve(question, gap=1e-3)
    assert result.gap <= 1e-3
    assert dl.verify(question, result.certificate).proved


test_what_is_refused = refuses(
    ({"adversary": dl.AnyPrior()}, "audited against independent_blocks or product_priors, got entropy_at_least"),
    ({"adversary": dl.IndependentBlocks(2, entropy_at_least="1 nats")}, "not known for a histogram; leave it out"),
    ({"mechanism": dl.symmetric("0.1")}, "got symmetric"),
    ({"mechanism": dl.discrete_gaussian(scale=1, range=9)}, ["without a range", "; got discrete_gaussian"]),
    ({"mechanism": dl.geometric(1, range=(1, 9))}, "runs from 0 to 6, outside the range [1, 9]; widen it"),
    ({"records": dl.Records(alphabets=[2] * 5 + [3])}, "one alphabet, got from 2 to 3 letters"),
    ({"mechanism": dl.discrete_gaussian(scale=10_000)}, "are more than 65536 numbers"),
    by=lambda changed: dl.WorstCaseLeakage(
        **{
            "records": dl.Records(6, alphabet=3),
            "query": dl.Histogram(),
            "mechanism": dl.discrete_laplace(1),
            "adversary": dl.IndependentBlocks(2),
        }
        | changed
    ),
)


def test_a_design_has_no_histogram():
    with pytest.raises(dl.errors.InputError, match="a histogram is for audits"):
        support.design(dl.MinLeakage, dl.Records(4, alphabet=2), dl.Histogram(), dl.Hamming(), "0.1", dl.AnyPrior())
