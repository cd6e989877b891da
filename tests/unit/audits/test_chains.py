"""Audits against chains of several letters: ranges of transition matrices, starts, and the certificates that say so."""

from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.audits.chains import Box
from dalenius.evidence.lower import ChainPoint
from dalenius.evidence.upper import ExpansionLeaf, Halve, LettersLine, RecordLine

WEEK = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]


def stay(count, transitions, query=None, mechanism=None, **more) -> dl.WorstCaseLeakage:
    return support.problem(
        dl.Records(count, alphabet=3),
        query or dl.Count(letters=[2]),
        mechanism or dl.geometric(0.5),
        dl.FiniteChain(transitions, **more),
    )


def around(matrix, width):
    return [[(round(p - width, 3), round(p + width, 3)) for p in row] for row in matrix]


def test_ranges_are_proved():
    question = stay(5, around(WEEK, 0.01), record=2)
    result = dl.solve(question, gap=1e-2)
    assert result.gap <= 1e-2
    assert 0.0771 < result.lower < 0.0772
    assert dl.verify(question, result.certificate).proved
    (point,) = result.certificate.lower_lines()
    assert isinstance(point, ChainPoint)
    assert sum(map(Fraction, point.point[:3])) == 1
    lines = {type(line) for line in result.certificate.upper_lines()}
    assert lines <= {RecordLine, Halve, ExpansionLeaf, LettersLine}
    assert dl.loads(dl.dumps(question)) == question
    assert result.witness is not None
    assert result.witness.masses.sum() == pytest.approx(1)


def test_a_letter_that_is_hardly_ever_met():
    """Its share of the stationary law was lost among roundings, and with it what follows it: the checker refused every leaf."""
    rare = dl.FiniteChain([[("0.227", 1), ("0.182", 1)], [(0, "1e-40"), (0, 1)]])
    question = support.problem(dl.Records(4, alphabet=2), dl.Sum(), dl.geometric("0.1"), rare)
    result = dl.solve(question, node_limit=8)
    assert not result.refusals
    assert 0.0 <= result.lower <= result.upper < 0.05


SMALL = ("1e-300", "1e-390")  # the latter is 0 as a double


@pytest.mark.parametrize("least", SMALL)
@pytest.mark.parametrize("start", ["any", "stationary"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_probabilities_that_no_double_holds_are_answered(least, start):
    """Points and ends of boxes once had more digits than a certificate has room for."""
    adversaries = (
        dl.MarkovChain((least, "0.5"), (least, "0.5"), start=start),
        dl.FiniteChain([[(least, "0.5"), (0, 1)], [("0.156", 1), ("0.125", 1)]], start=start),
    )
    for adversary in adversaries:
        question = support.problem(dl.Records(2, alphabet=2), dl.Count(), dl.geometric(1), adversary)
        result = dl.solve(question, node_limit=20)
        assert not result.refusals
        assert 0.0 < result.lower <= result.upper < 0.7


def test_numbers_are_one_chain():
    law = np.array([0.25, 0.375, 0.375])
    paths = np.einsum("a,ab,bc->abc", law, np.array(WEEK), np.array(WEEK)).reshape(1, -1)
    known = dl.solve(
        support.problem(dl.Records(3, alphabet=3), dl.Sum(), dl.geometric(0.5), dl.FixedPrior(paths[0].round(12)))
    )
    own = dl.solve(stay(3, WEEK, dl.Sum(), start=["1/4", "3/8", "3/8"]), gap=1e-6)
    assert own.gap <= 1e-6
    assert max(own.lower, known.lower) <= min(own.upper, known.upper) + 1e-12
    assert [proof.record for proof in own.records] == [0, 1, 2]


def test_a_first_letter_that_is_known_tells_nothing():
    assert dl.solve(stay(3, around(WEEK, 0.05), start=[1, 0, 0], record=0)).upper < 1e-8


def test_any_start():
    free = dl.solve(stay(3, WEEK, start="any", record=0), gap=1e-2)
    assert free.gap <= 1e-2
    assert dl.solve(stay(3, WEEK, start=[0.5, 0, 0.5], record=0), gap=1e-6).lower <= free.upper


def test_a_first_look_and_no_time_are_proved():
    question = stay(4, around(WEEK, 0.08), record=1)
    late = dl.solve(question, time_limit=1e-3)
    assert 0 <= late.lower <= late.upper <= np.log(3) + 1e-9
    few = dl.solve(question, gap=1e-6, node_limit=4)
    assert few.termination is dl.answers.Termination.SIZE_LIMIT
    assert late.lower <= few.upper


def test_boxes_have_no_ends_that_no_law_has():
    box = Box.of([[(Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1))]] * 2)
    assert box.groups[0] == ((0, Fraction(1, 2)), (Fraction(1, 2), 1))
    middle, left, right = box.halves(1)
    assert middle == Fraction(3, 4)
    assert left.groups[0] == ((Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 2), middle))
    assert right.groups == (((0, Fraction(1, 4)), (middle, 1)), box.groups[1])
    assert all(sum(law) == 1 for law in box.middle)
    assert box.corner(np.array([[1.0, 0.0], [0.0, 1.0]])) == ((Fraction(1, 2), Fraction(1, 2)), (0, 1))


def bits(transitions, start, count=3) -> dl.WorstCaseLeakage:
    return support.problem(
        dl.Records(count, alphabet=2), dl.Count(), dl.geometric(3), dl.FiniteChain(transitions, start=start)
    )


def test_what_is_less_than_any_double_is_possible():
    """It was 0 in doubles, the proof of that was refused, and all there is to know was the upper end."""
    known = dl.solve(bits([[(0, 1), (0, 1)], [(0, 1), "1e-300"]], ["1/2", "1/2"]))
    for start in (["1/2", "1/2"], "stationary"):
        found = dl.solve(bits([[(0, 1), (0, 1)], [(0, 1), "1e-330"]], start))
        assert found.gap <= 1e-4
        assert not found.refusals
        assert max(found.lower, known.lower) <= min(found.upper, known.upper) + 1e-3


def test_letters_that_hardly_ever_change_have_a_stationary_law():
    """(1/2, 1/2), for as long as they may change at all: three records are one letter."""
    apart = dl.solve(bits([[(0, 1), "1e-20"], ["1e-20", (0, 1)]], "stationary"))
    even = dl.solve(bits([[(0, 1), "1e-20"], ["1e-20", (0, 1)]], ["1/2", "1/2"]))
    assert apart.gap <= 1e-3
    assert max(apart.lower, even.lower) <= min(apart.upper, even.upper) + 1e-9


@pytest.mark.parametrize("wrong", [1.005, 1.05])
def test_a_lower_end_that_doubles_know_badly_retreats_before_it_is_0(wrong, monkeypatch):
    """Of leakages as small as rounding is."""
    from dalenius.audits import chains

    told = chains.mutual_information
    monkeypatch.setattr(chains, "mutual_information", lambda joint: wrong * told(joint))
    faint = dl.solve(stay(3, WEEK, mechanism=dl.geometric("1e-6")))
    monkeypatch.undo()
    exact = dl.solve(stay(3, WEEK, mechanism=dl.geometric("1e-6")))
    assert 0.5 * exact.upper < faint.lower <= exact.upper
