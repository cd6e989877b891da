"""Designs of which neither a mechanism nor the lack of one is proved: the third answer, and what everybody who reads it says."""

import json
import math
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius import _prove
from dalenius.designs.exchange import region
from dalenius.model.constraints.affine import Affine
from dalenius.report.progress import trace_picture
from dalenius.report.release import mechanism_picture
from dalenius.results import NOT_FOUND
from dalenius_check import Status, Verdict
from every_kind import HARDLY_ANY

PROBLEM = dl.loads(HARDLY_ANY)
NEARLY_CLEAR = dl.MinDistortion(
    records=dl.Records(1, alphabet=2),
    query=dl.Identity(),
    mechanism="oblivious",
    distortion=dl.Hamming(),
    adversary=dl.FloorPriors("0.1"),
    max_leakage="0.1",
    constraints=[dl.constraints.Band(1)],
)


@pytest.fixture(scope="module")
def result():
    return dl.solve(PROBLEM)


def test_a_bound_is_proved_and_no_mechanism_shown(result):
    assert 0.49 < result.lower <= 0.5
    assert (result.upper, result.gap, result.mechanism, result.feasible) == (math.inf, 1.0, None, False)
    assert (result.status, result.termination) == (dl.answers.Status.OPEN, dl.answers.Termination.STALLED)
    assert str(result).startswith(NOT_FOUND)
    assert "0.49999" in str(result)
    assert result.lower == result.with_leakages_in("bits").lower
    with pytest.raises(dl.errors.GapNotReachedError):
        result.require(gap=0.99)


def test_it_is_verified_and_no_more(result):
    verdict = dl.verify(PROBLEM, result.certificate)
    assert verdict.proved
    assert verdict.reason.endswith("<= V in units of the distortion; no mechanism is shown")
    assert (float(verdict.lower), verdict.upper) == (result.lower, None)
    head, rest = result.certificate.text.split("\n", 1)
    forged = json.dumps(json.loads(head) | {"lower": "0.5000001"}) + "\n" + rest
    assert "lower <= the priors' bound fails" in dl.verify(PROBLEM, dl.Certificate(forged)).reason


@pytest.mark.parametrize(("beyond", "termination"), [(False, "proof_refused"), (True, "time_limit")])
def test_what_is_proved_from_below_is_kept_where_all_mechanisms_are_refused(monkeypatch, beyond, termination):
    """It was an error: nothing can be proved about this design."""
    verify, known = _prove.verify, dl.solve(NEARLY_CLEAR)
    limit = {"allowed": "seconds"} if beyond else {}
    refused = Verdict(Status.UNDECIDED if beyond else Status.REJECTED, "certificate line 1: a mechanism", **limit)

    def refusing(problem, certificate, **options):
        shown = isinstance(problem, dl.MinDistortion) and certificate.header.mechanism is not None
        return refused if shown else verify(problem, certificate, **options)

    monkeypatch.setattr(_prove, "verify", refusing)
    with nullcontext() if beyond else pytest.warns(dl.errors.ProofRefusedWarning, match="a mechanism"):
        result = dl.solve(NEARLY_CLEAR)
    assert (result.lower, result.upper, result.mechanism) == (known.lower, math.inf, None)
    assert result.termination.value == termination
    assert dl.verify(NEARLY_CLEAR, result.certificate).proved


def missed(by):
    """A cone that a row misses by so much."""
    least = Fraction(1, 3) + Fraction(1, 10) + Fraction(by)
    parts = [((0, 0, 1), Fraction(-1, 3)), ((1, 0, 1), Fraction(-1, 2))]
    cone = dl.constraints.SecondOrderCone([Affine([term], end) for term, end in parts], constant="0.1")
    return replace(NEARLY_CLEAR, constraints=[cone, dl.constraints.Linear([(0, 0, -1)], at_most=-least)])


def test_cones_that_are_missed_by_hardly_anything_have_no_mechanism():
    """What a solver takes for a touch is decided by its multipliers."""
    result = dl.solve(missed("1e-9"))
    assert (result.status, result.refusals) == (dl.answers.Status.INFEASIBLE, ())
    assert dl.verify(missed("1e-9"), result.certificate).proved


@pytest.mark.parametrize("by", ["0", "-1e-3", "1e-3"])
@pytest.mark.filterwarnings("error::dalenius.errors.ProofRefusedWarning")
def test_multipliers_that_prove_no_conflict_are_not_claimed_to(monkeypatch, by):
    """A solver that says that there is none is not believed: its proof was refused, and there was a doubt about the answer."""
    solved = region.cone_interior

    def lying(*given):
        answer = solved(*given)
        return replace(answer, excess=1e-3, prices=0.5 * answer.prices)

    monkeypatch.setattr(region, "cone_interior", lying)
    result = dl.solve(missed(by))
    assert result.status is dl.answers.Status.OPEN
    assert not result.refusals


@pytest.mark.parametrize("draw", [trace_picture, mechanism_picture])
def test_pictures_refuse_it(result, draw):
    with pytest.raises(dl.errors.InputError, match="nor a proof that there is none"):
        draw(result)


def test_the_command_line_tells_it_from_what_nothing_meets(tmp_path, command_line):
    (tmp_path / "model.toml").write_text(HARDLY_ANY)
    done = command_line("solve", "model.toml", "-o", "out", "--json", "--at-most", "1")
    assert done.returncode == 6, done.stderr
    assert "nothing is proved" in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["feasible"], answer["upper"], answer["status"]) == (False, None, "open")
    assert 0.49 < answer["lower"] <= 0.5
    assert command_line("solve", "model.toml").stdout.startswith(NOT_FOUND)
    assert "no mechanism is shown" in command_line("verify", "model.toml", "out/model.cert").stdout
    shown = json.loads(command_line("show", "out/model.cert", "--json").stdout)
    assert (shown["claim"], shown["upper"]) == ("from below alone: no mechanism is shown", None)
    assert 0.49 < float(shown["lower"]) <= 0.5
    page = command_line("report", "out", "-o", "page.html")
    assert page.returncode == 0, page.stderr
    assert "No mechanism is shown." in (tmp_path / "page.html").read_text()


def test_sweeps_keep_it(tmp_path):
    for _ in range(2):  # solved, then read
        swept = dl.sweep(PROBLEM, output=tmp_path / "swept")
        record = swept.records[0]
        assert (record.feasible, record.upper, record.gap, record.status) == (False, None, 1.0, "open")
        assert 0.49 < record.lower <= 0.5
