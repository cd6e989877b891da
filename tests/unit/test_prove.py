"""The one place that proves: ends retreat on their own, refusals are kept, and only rounding is passed over in silence."""

import logging
from dataclasses import dataclass, field, replace

import pytest

import dalenius as dl
import support
from dalenius import _prove as place
from dalenius._prove import Proved, prove
from dalenius.evidence import CERTAIN, QUICK, Lower, Upper
from dalenius.evidence.lower import UNIFORM, WitnessLine
from dalenius.evidence.upper import JointLeaf, RecordLine
from dalenius.search import Clock, Limits, Run
from dalenius_check import Status, Verdict

PROBLEM = support.problem(dl.Records(1, alphabet=2), dl.Parity(), dl.symmetric(0.1, k=2), dl.AnyPrior())
EXACT = 0.36806420716849717  # log 2 - h(0.1), attained by the uniform prior
NOBODY = (WitnessLine(None, None),)
EVERYBODY = (WitnessLine(0, UNIFORM),)
CAPACITY = (RecordLine(0), JointLeaf("1", "0", None, ("1", "1")))
LETTERS = (RecordLine(0), JointLeaf("0", "0", None, None))


def lower(value=EXACT, margin=1e-13, candidate=0, **more):
    return Lower(value=value, margin=margin, lines=EVERYBODY, candidate=candidate, **more)


def upper(value=EXACT, margin=1e-13, candidate=0, **more):
    return Upper(value=value, margin=margin, lines=CAPACITY, candidate=candidate, **more)


ZERO = Lower(value=0.0, lines=NOBODY, candidate=9)
LOG_2 = Upper(value=0.6931471805599453, margin=1e-13, lines=LETTERS, candidate=9)


@dataclass
class Proposes:
    """A proposer that has found these ends; it counts those that were asked for."""

    found: list[Lower]
    bounded: list[Upper]
    asked: list[Upper] = field(default_factory=list)

    def run(self):
        """Nothing to search."""

    def lowers(self):
        return iter(self.found)

    def uppers(self):
        for end in self.bounded:
            self.asked.append(end)
            yield end

    def result(self, proved: Proved) -> Proved:
        assert dl.verify(PROBLEM, proved.certificate).proved
        assert proved.lower <= EXACT <= proved.upper
        return proved


def test_the_first_ends_are_taken_where_they_are_proved_and_no_more_are_made():
    proposer = Proposes([lower(), ZERO], [upper(), upper(1.0, candidate=1), LOG_2])
    proved = prove(PROBLEM, proposer)
    assert (proved.lower_end, proved.upper_end, proved.refusals) == (lower(), upper(), ())
    assert len(proposer.asked) <= 2
    assert proved.upper - proved.lower < 3e-13


def test_rounding_is_passed_over_in_silence_but_kept(caplog):
    proposer = Proposes(
        [lower(margin=-1e-12), lower(margin=3e-12), ZERO], [upper(margin=-1e-12), upper(margin=3e-12), LOG_2]
    )
    with caplog.at_level(logging.DEBUG, logger="dalenius"):
        proved = prove(PROBLEM, proposer)
    assert [(refusal.end, refusal.rounding) for refusal in proved.refusals] == [("both", True)]
    assert not proved.doubted
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
    assert proved.upper - proved.lower < 1e-11


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_each_end_retreats_on_its_own(end, caplog):
    lie = {"lower": 0.39, "upper": 0.2}[end]
    proposer = Proposes([lower(lie if end == "lower" else EXACT), ZERO], [upper(lie if end == "upper" else 0.4), LOG_2])
    with pytest.warns(dl.errors.ProofRefusedWarning, match=f"{end} end"):
        proved = prove(PROBLEM, proposer)
    assert {refusal.end for refusal in proved.refusals} == {end}
    assert proved.doubted
    assert (proved.lower == 0.0) is (end == "lower")
    assert (proved.upper > 0.6) is (end == "upper")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    refusal = proved.refusals[0]
    assert refusal.reason.startswith("rejected: certificate line")
    assert float(getattr(refusal, end)) == pytest.approx(lie)


def test_both_ends_may_lie():
    with pytest.warns(dl.errors.ProofRefusedWarning):
        proved = prove(PROBLEM, Proposes([lower(0.6), ZERO], [upper(0.2), LOG_2]))
    assert {refusal.end for refusal in proved.refusals} == {"lower", "upper"}
    assert (proved.lower, proved.upper_end) == (0.0, LOG_2)


def test_a_lower_end_above_the_upper_one_is_lowered_to_it():
    """By rounding alone they may cross; what is claimed is an interval all the same."""
    proved = prove(PROBLEM, Proposes([lower(margin=-1e-15), ZERO], [upper(margin=-1e-15), upper(), LOG_2]))
    assert proved.lower <= proved.upper


def test_what_the_search_doubts_itself_is_no_surprise():
    proved = prove(PROBLEM, Proposes([lower(), ZERO], [upper(0.3, doubtful=True), upper(candidate=1), LOG_2]))
    assert [(refusal.end, refusal.rounding) for refusal in proved.refusals] == [("upper", True)]
    assert not proved.doubted


def test_a_later_candidate_is_no_rounding():
    with pytest.warns(dl.errors.ProofRefusedWarning):
        proved = prove(PROBLEM, Proposes([lower(0.5), lower(candidate=1), ZERO], [upper(), LOG_2]))
    assert proved.lower_end.candidate == 1


def test_a_claim_about_the_curve_that_is_given_up_is_no_rounding():
    """The same end is proved without it, and what was claimed of other entropy bounds is gone."""
    false = upper(above=(("0.2", "0"),))
    with pytest.warns(dl.errors.ProofRefusedWarning, match="both end"):
        proved = prove(PROBLEM, Proposes([lower(), ZERO], [false, upper(), LOG_2]))
    assert ([refusal.rounding for refusal in proved.refusals], proved.upper_end.above) == ([False], ())


def test_a_claim_about_the_curve_may_be_rounded_further():
    nearly, enough = (upper(above=((claim, "0"),)) for claim in ("0.368064207168496", "0.368064207168599"))
    proved = prove(PROBLEM, Proposes([lower(), ZERO], [nearly, enough, LOG_2]))
    assert ([refusal.rounding for refusal in proved.refusals], proved.upper_end) == ([True], enough)


def test_nothing_to_prove_is_one_error():
    with pytest.raises(dl.errors.DaleniusError, match=r"nothing can be proved about this model: .*fails"):
        prove(PROBLEM, Proposes([lower(), ZERO], [upper(0.1), upper(0.2, candidate=1)]))


def test_rounding_does_not_help_against_the_checkers_limits(monkeypatch):
    """A candidate that is beyond them is left at its first refusal."""

    seen = []

    def verify(problem, certificate, **_):
        seen.append(certificate.header.upper)
        return Verdict(Status.UNDECIDED, "undecided at more than a few lines", cause="limit")

    monkeypatch.setattr(place, "verify", verify)
    with pytest.raises(dl.errors.DaleniusError, match="more than a few lines"):
        prove(PROBLEM, Proposes([lower(), lower(margin=1e-12), ZERO], [upper(), upper(margin=1e-12), LOG_2]))
    assert len(seen) == 3  # both together, the upper end alone, the one that needs no search


@pytest.fixture
def first_too_slow(monkeypatch):
    """The first check is undecided for lack of time; lists the lower ends of all."""
    verify, seen = place.verify, []

    def slow(problem, certificate, **options):
        seen.append(certificate.header.lower)
        if len(seen) == 1:
            return Verdict(Status.UNDECIDED, "certificate line 3: limit: 5 seconds", cause="limit", allowed="seconds")
        return verify(problem, certificate, **options)

    monkeypatch.setattr(place, "verify", slow)
    return seen


def test_when_it_is_late_the_last_end_is_tried_whatever_it_is(first_too_slow):
    """A proposer need not have an end that needs no search; it once ended with nothing to prove."""

    proved = prove(PROBLEM, Proposes([lower(), ZERO], [upper()]), Run.of(Limits(time_limit=5.0)))
    assert proved.upper - proved.lower < 3e-13
    assert [refusal.limit for refusal in proved.refusals] == [dl.answers.Termination.TIME_LIMIT]


def test_when_it_is_late_the_lower_end_is_one_that_rounding_cannot_refute(first_too_slow):
    """There is time for one check: that of a leakage whose last digits were those of doubles was refused, and 0 was left of it."""

    found = [lower(margin=-1e-12, doubtful=True), lower(margin=1e-9), ZERO]
    proved = prove(PROBLEM, Proposes(found, [upper(), LOG_2]), Run.of(Limits(time_limit=5.0)))
    assert proved.lower_end == found[1]
    assert not proved.doubted
    assert len(first_too_slow) == 3


def test_what_a_lower_end_takes_too_long_for_costs_no_upper_one(monkeypatch):
    """Both are tried where it is late, however long they may take: the point of a long chain, beside the window that bounds it."""
    verify = place.verify

    def slow(problem, certificate, **options):
        if certificate.header.lower != "0":
            return Verdict(Status.UNDECIDED, "certificate line 2: limit: 1 seconds", cause="limit", allowed="seconds")
        return verify(problem, certificate, **options)

    monkeypatch.setattr(place, "verify", slow)
    proved = prove(PROBLEM, Proposes([lower(), ZERO], [upper(candidate=QUICK), LOG_2]), Run.of(Limits(time_limit=5.0)))
    assert (proved.lower_end, proved.upper_end) == (ZERO, upper(candidate=QUICK))
    assert [refusal.limit for refusal in proved.refusals] == 2 * [dl.answers.Termination.TIME_LIMIT]


def test_a_lower_end_is_not_made_that_nobody_will_try(first_too_slow):
    """One may be a prior of millions of weights, which was once written in every rounding although the time was over."""

    class Certain(Proposes):
        def lowers(self):
            yield lower()
            pytest.fail("the next one was made")

        def certain_lower(self):
            return replace(ZERO, candidate=CERTAIN)

    proved = prove(PROBLEM, Certain([], [upper(), LOG_2]), Run.of(Limits(time_limit=5.0)))
    assert proved.lower_end in (lower(), replace(ZERO, candidate=CERTAIN))


def test_after_a_stop_a_short_proof_leaves_a_witness_its_time(monkeypatch):
    """It took all that was left, so that no lower end was proved that takes a hundredth of a second."""
    monkeypatch.setattr(Clock, "spared", property(lambda clock: 1.0))
    monkeypatch.setattr(Clock, "pace", property(lambda clock: 1.0))
    desk = place._Desk(PROBLEM, Run.of(Limits()))
    short, certain = (desk._spared(replace(LOG_2, candidate=candidate)) for candidate in (QUICK, CERTAIN))
    assert 0.0 < PROBLEM.costs.whole.seconds < certain - short < 0.2
