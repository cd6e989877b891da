"""Audits against Markov chains: whole boxes, where their largest leakage lies, and the certificates that say so."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.audits import binary_chains
from dalenius.evidence.lower import ChainPoint
from dalenius.evidence.upper import ExpansionLeaf, Halve, RecordLine, SlopeLeaf, WindowLeaf
from dalenius.information import mutual_information
from dalenius.information.chains import Chain, joint_law
from dalenius.search import Limits, Run
from support import chain


def test_the_largest_leakage_is_not_at_a_corner():
    question = chain(5, (0.01, 0.5), 0.1, record=2)
    result = dl.solve(question, gap=1e-3)
    assert result.gap <= 1e-3
    assert dl.verify(question, result.certificate).proved
    rows = question.channel
    corners = [
        mutual_information(joint_law(Chain(5, 2, stationary=True), np.array([up, 0.1])) @ rows) for up in (0.01, 0.5)
    ]
    assert max(corners) < 0.9 * result.lower
    (point,) = result.certificate.lower_lines()
    assert isinstance(point, ChainPoint)
    assert point.tilts is None
    assert 0.06 < Fraction(point.point[0]) < 0.08
    assert {type(line) for line in result.certificate.upper_lines()} <= {
        RecordLine,
        Halve,
        SlopeLeaf,
        WindowLeaf,
        ExpansionLeaf,
    }


def test_one_chain_is_a_prior():
    for start in ("stationary", "any"):
        result = dl.solve(chain(3, 0.2, 0.3, dl.symmetric(0.1), dl.Parity(), start=start), gap=1e-3)
        assert result.gap <= 1e-3, start
    law = np.array([[[0.6 * 0.8 * 0.8, 0.6 * 0.8 * 0.2], [0.6 * 0.2 * 0.3, 0.6 * 0.2 * 0.7]]])
    law = np.concatenate([law, [[[0.4 * 0.3 * 0.8, 0.4 * 0.3 * 0.2], [0.4 * 0.7 * 0.3, 0.4 * 0.7 * 0.7]]]])
    known = dl.solve(
        support.problem(dl.Records(3, alphabet=2), dl.Parity(), dl.symmetric(0.1), dl.FixedPrior(law.round(12)))
    )
    own = dl.solve(chain(3, 0.2, 0.3, dl.symmetric(0.1), dl.Parity()), gap=1e-6)
    assert max(own.lower, known.lower) <= min(own.upper, known.upper) + 1e-12


def test_all_records_are_their_halves_in_a_stationary_chain():
    result = dl.solve(chain(4, (0.2, 0.3), (0.2, 0.3)), gap=1e-1)
    assert [(proof.record, proof.times) for proof in result.records] == [(0, 2), (1, 2)]
    assert result.record in (0, 1)
    assert result.witness is not None
    assert result.witness.masses.sum() == pytest.approx(1)
    assert result.witness.inputs == (0, 1, 2, 3, 4)
    free = dl.solve(chain(3, 0.25, 0.25, start="any"), gap=1e-1)
    assert [proof.record for proof in free.records] == [0, 1, 2]


@each(
    "method, lower, upper, mechanism, more",
    ("window", 7.144e-4, 7.152e-4, dl.discrete_laplace(0.5), {"record": 50_000}),
    ("after", 7.144e-4, 7.22e-4, None, {"record": 50_000, "start": "any"}),  # it is stationary in the middle
    ("blocks", 2e-4, 1e-3, None, {"record": 3}),
)
def test_a_hundred_thousand_records(method, lower, upper, mechanism, more):
    question = chain(100_000, (0.01, 0.1), (0.01, 0.1), mechanism, **more)
    result = dl.solve(question, gap=1e-3).to("bits")
    assert result.gap <= 1e-3 or method != "window"
    assert lower < result.lower <= result.upper < upper
    assert result.records[0].method == method
    assert dl.verify(question, result.certificate).proved
    assert dl.loads(dl.dumps(question)) == question


def test_a_first_look_and_no_time_are_proved():
    question = chain(6, (0.1, 0.3), (0.1, 0.3), record=3)
    late = dl.solve(question, time_limit=1e-3)
    assert 0 <= late.lower <= late.upper <= np.log(2) + 1e-9
    few = dl.solve(question, gap=1e-6, node_limit=8)
    assert few.termination is dl.answers.Termination.SIZE_LIMIT
    assert late.lower <= few.upper


@each("start", "any", "stationary")
def test_an_output_that_is_impossible_at_a_corner(start):
    """Where the first record is surely 0 the second is all there is to see, and the derivative for the start has no end there."""
    question = chain(2, ("0.69", "0.71"), ("0.8", "0.98"), dl.symmetric(0, k=2), dl.Threshold(1), start=start)
    several = dl.FiniteChain([[["0.29", "0.31"], ["0.69", "0.71"]], [["0.8", "0.98"], ["0.02", "0.2"]]], start=start)
    known = dl.solve(replace(question, adversary=several), gap=1e-3)
    result = dl.solve(question, gap=1e-3, node_limit=2000)
    assert result.gap <= 1e-3
    assert not result.refusals
    assert max(result.lower, known.lower) <= min(result.upper, known.upper)
    assert start != "any" or 0.6191 < result.lower <= result.upper < 0.6198


@each("start", "any", "stationary")
@each(
    "to_one, to_zero",
    *itertools.product(
        [(1 - Fraction(9, 10**40), 1 - Fraction(1, 10**40)), ("1e-390", "9e-390")],
        [("1e-40", "1e-4"), ("6e-41", 1 - Fraction(1, 10**17))],
    ),
    every=3,
)
def test_probabilities_that_doubles_do_not_tell_from_0_and_1(start, to_one, to_zero):
    """What is surely 0 is an output that nothing tells; what is 1e-40 is one that tells a lot."""
    for mechanism, query in ((dl.symmetric(0, k=2), dl.Threshold(2)), (dl.geometric(3), dl.Count())):
        question = chain(3, to_one, to_zero, mechanism, query, start=start)
        result = dl.solve(question, gap=1e-2, node_limit=50)
        assert [refusal for refusal in result.refusals if not refusal.rounding] == []
        assert dl.verify(question, result.certificate).proved


def test_letters_that_hardly_ever_change():
    """A leaf's bound was refused, at 0.0011 where it is 0.01: the long run had been found by an inverse of next to nothing."""
    rare = dl.randomized_count("0.1")
    result = dl.solve(chain(3, ("1e-40", "0.84"), "1e-40", rare, dl.Threshold(2), record=2), gap=1e-2)
    assert (result.refusals, result.gap <= 1e-2) == ((), True)
    assert 0.001248 < result.lower <= result.upper < 0.00126


def test_what_there_is_no_time_to_check_has_a_closed_form():
    result = dl.solve(chain(1000, 0.2, (0.2, 0.3), record=500), gap=1e-3)
    assert result.gap < 0.02
    assert result.records[0].method == "window"
    assert dl.solve(chain(2000, 0.2, 0.3, start="any", record=0)).upper == math.nextafter(math.log(2), 1)


def test_between_two_looks_at_the_clock_few_boxes_of_a_long_chain_are_halved(monkeypatch):
    """64 boxes of 200 records at once, and a point of each by itself, once took a second."""
    made = dict[str, list[int]]()

    def counted(name):
        work = getattr(binary_chains, name)

        def told(chain, *arguments):
            made.setdefault(name, []).append(len(np.atleast_2d(arguments[-1])))
            return work(chain, *arguments)

        monkeypatch.setattr(binary_chains, name, told)

    counted("slopes_of"), counted("joint_law")
    search = Run.of(Limits(gap=1e-9, time_limit=60.0, node_limit=24))
    binary_chains.MarkovChainAudit(chain(200, (0.05, 0.6), (0.1, 0.6), record=3), search).run()
    assert max(made["slopes_of"]) <= 8
    assert len(made["joint_law"]) <= len(made["slopes_of"]) + 1
