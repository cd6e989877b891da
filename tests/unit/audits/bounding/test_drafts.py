"""Leaves are worked out while they close, each once; the proof that is handed out is one that any checker proves anew."""

import signal
from types import SimpleNamespace

import pytest

import dalenius as dl
import support
from dalenius import _prove
from dalenius.audits import bounding
from dalenius.search.clock import Clock
from dalenius_check.core.bounds import Joint

LIMIT = 1e3  # seconds, which are counted here


@pytest.fixture
def checks(monkeypatch, work_clock):
    """What was checked, drafts and proofs, each with the row leaves that it worked out, where drafts are due early."""
    seen, row, verify = [], Joint.row, _prove.verify

    def counted(*given, draft=False, **options):
        seen.append([draft, 0])
        return verify(*given, draft=draft, **options)

    def worked(*given):
        seen[-1][1] += 1
        return row(*given)

    monkeypatch.setattr(_prove, "verify", counted)
    monkeypatch.setattr(Joint, "row", worked)
    monkeypatch.setattr(bounding, "DUE", 0.01)
    return seen


def problem():
    return support.problem(dl.Records(10, alphabet=2), dl.Count(), dl.geometric("0.5", range=10), "0.95 max")


def test_a_proof_finds_what_drafts_have_worked_out(checks, monkeypatch):
    """Told leaves prove the tree's target; without drafts its largest bound is claimed, which is hardly less."""
    told = dl.solve(problem(), gap=3e-3, time_limit=LIMIT)
    assert told.gap <= 3e-3
    *early, (last, left) = checks
    rows = told.certificate.text.count('["row"')
    assert not last
    assert sum(draft for draft, _ in early) > 2
    assert any(not draft for draft, _ in early)
    assert sum(worked for draft, worked in early if not draft) < 0.05 * rows  # open ones, for an interval on the way
    assert left < 0.2 * rows
    assert dl.verify(problem(), told.certificate).proved
    monkeypatch.setattr(bounding, "DUE", 1e9)
    alone = dl.solve(problem(), gap=3e-3, time_limit=LIMIT)
    assert told.lower == alone.lower
    assert alone.upper <= told.upper <= told.lower / (1 - 3e-3)
    assert told.records[0].leaves == alone.records[0].leaves


def test_a_proof_on_the_way_costs_the_search_its_own_time_alone(monkeypatch):
    """What no leaf accounts for is kept free, not leaves twice; the proof at the end is as far from the last as others are."""
    moment, proved = SimpleNamespace(monotonic=lambda: moment.now, process_time=lambda: moment.now, now=0.0), []
    monkeypatch.setattr("dalenius.search.clock.time", moment)
    clock = Clock(time_limit=100.0, started=0.0, busy=0.0)
    search = SimpleNamespace(clock=clock, known={}, jobs=1, anytime=True)
    found = bounding.Drafts(problem(), search, SimpleNamespace(checking_now=3.0))

    def stand():
        proved.append(moment.now)
        moment.now += 5.0
        return True

    for moment.now, width in ((1.0, 1.0), (30.0, 0.1), (40.0, 0.01), (72.0, 1e-3)):
        found.prove(width, lambda: None, stand)
    assert proved == [1.0, 40.0]
    assert clock.reserved == 2.0
    assert clock.time_limit == 98.0


def test_after_a_stop_what_had_closed_is_only_read(checks):
    """Ctrl-C in the middle of a long search once left log 2: its proof had a second, and took two."""
    found = []

    def progress(moment):
        if moment.stage == "dual" and moment.upper < 1.5 * moment.lower and not found:
            found.append(moment.upper)
            signal.raise_signal(signal.SIGINT)

    result = dl.solve(problem(), gap=1e-3, time_limit=LIMIT, progress=progress)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert result.upper <= found[0] * (1 + 1e-9)
    draft, left = checks[-1]
    assert not draft
    assert left < 0.3 * result.certificate.text.count('["row"')
