"""Problem 1 by the alternating scheme: the interval is proved as always, and the result keeps what the scheme did."""

import signal

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.outcome import Scope, Termination

COUNT = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(1.0, range=3)}


def alternated(problem, **options):
    """Solved, with what holds whatever stopped it."""
    result = dl.solve(problem, method="alternating", **options)
    assert 0.0 <= result.lower <= result.upper
    assert result.scope is Scope.GLOBAL
    assert dl.verify(problem, result.certificate).proved
    if result.alternating:
        best = max(one.value for one in result.alternating)
        assert result.lower <= best * (1.0 + 1e-12), "the lower end is the scheme's"
    return result


def test_the_papers_example_from_the_uniform_prior(support):
    result = alternated(dl.load("parity/laplace-n4"), gap=1e-6, curve=["0.5"])
    assert result.gap <= 1e-6
    assert result.certificate.header.curve is not None, (
        "with claims about the whole curve, too, where they are asked for"
    )
    support.assert_contains(result, 0.0795415058653)
    (one,) = result.alternating
    assert (one.scope, one.termination, one.record, one.cycle) == (Scope.BLOCKWISE, Termination.GAP_REACHED, 0, None)
    assert list(one.gains) == ["posterior", "marginal", "row 0", "row 1", "conditionals"]
    assert max(one.gains.values()) <= 1e-6 * one.value + 1e-11
    assert [sweep.number for sweep in one.trace] == list(range(1, len(one.trace) + 1))
    assert 0.0 < one.trace[0].value <= one.trace[-1].value == one.value
    assert "record 0: blockwise at 0.0795415 nats" in str(one)
    assert str(result.alternating) == f"(<{one}>,)"


@pytest.mark.thorough
def test_every_kind_of_record_has_its_scheme_and_units_are_one_story():
    problem = support.problem(dl.Records(alphabets=[2, 3]), dl.Sum(), dl.geometric(1.0, range=3), "0.7 max")
    result = alternated(problem, gap=2e-2, time_limit=20.0)
    assert sorted(one.record for one in result.alternating) == [0, 1]
    assert any(moment.stage == "alternating" for moment in result.trace)
    bits = result.to("bits")
    for nats, other in zip(result.alternating, bits.alternating, strict=True):
        assert other.units == "bits"
        assert other.value == pytest.approx(nats.value / 0.6931471805599453)
        assert other.trace[-1].value == pytest.approx(nats.trace[-1].value / 0.6931471805599453)


def test_it_overlaps_the_search_and_says_who_found_the_prior():
    problem = dl.WorstCaseLeakage(**COUNT, adversary=dl.EntropyAtLeast("0.6 max"))
    result, plain = alternated(problem, gap=1e-2), dl.solve(problem, gap=1e-2)
    assert result.gap <= 1e-2
    assert max(result.lower, plain.lower) <= min(result.upper, plain.upper)
    assert not plain.alternating
    assert {use.block for use in result.solvers} >= {"posterior", "row"}


@pytest.mark.parametrize("limit", [1e-3, 0.05, 0.2])
def test_a_time_limit_makes_it_wider_and_no_more(limit):
    problem = dl.WorstCaseLeakage(**COUNT, adversary=dl.EntropyAtLeast("0.6 max"))
    result = alternated(problem, gap=1e-9, time_limit=limit)
    for one in result.alternating:
        assert one.termination is not Termination.GAP_REACHED or one.scope is Scope.BLOCKWISE


def test_ctrl_c_during_the_scheme_ends_it_with_what_is_proved():
    problem, told = dl.WorstCaseLeakage(**COUNT, adversary=dl.EntropyAtLeast("0.6 max")), list[str]()

    def progress(moment):
        if moment.stage == "alternating" and moment.stage not in told:
            signal.raise_signal(signal.SIGINT)
        told.append(moment.stage)

    result = alternated(problem, gap=1e-6, progress=progress)
    assert result.termination is Termination.INTERRUPTED
    assert result.alternating[0].termination is Termination.INTERRUPTED
    assert result.alternating[0].scope is Scope.FEASIBLE


@each("bound", "1 max", 0)
def test_nothing_to_alternate_between_is_no_error(bound):
    """Where only the uniform prior is left there is no scheme; without an entropy bound rows are free."""
    result = alternated(dl.WorstCaseLeakage(**COUNT, adversary=dl.EntropyAtLeast(bound, "nats")), gap=1e-2)
    assert result.gap <= 1e-2
    assert len(result.alternating) == (bound == 0)
