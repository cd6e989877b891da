"""The engine: whoever works, and whoever is lost, the records are the same."""

import signal
from concurrent.futures import BrokenExecutor

import pytest

import dalenius as dl
import support
from colleagues import Colleagues
from dalenius.search.pools import LocalPool
from dalenius.studies import engine as engines
from dalenius.studies.engine import LOSSES, Engine
from dalenius.studies.keeping import Memory
from dalenius.studies.plan import ENTROPY, Plan, Settings

COUNT = support.problem(dl.Records(2, alphabet=2), dl.Count(), dl.geometric(1), dl.AnyPrior())
PLAN = Plan.of(
    {"count": COUNT}, {ENTROPY: "0.8:0.9 max:3", "mechanism.epsilon": [0.5, 1]}, Settings(gap=0.1, time_limit=None)
)


def records(pool=None, schedule=PLAN.schedule, **options):
    engine = Engine(PLAN.settings, Memory(), pool, len(PLAN.points), **options)
    assert {record.index for record in list(engine.run(schedule))} == engine.keep.records.keys()
    return engine, [engine.keep.records[index] for index in sorted(engine.keep.records)]


@pytest.fixture(scope="module")
def alone():
    return records()[1]


def test_points_begin_with_proofs_that_say_more(alone):
    assert [record.index for record in alone] == list(range(6))
    assert all(record.started_from in (None, *PLAN.points[record.index].before) for record in alone)
    assert any(record.started_from is not None for record in alone)
    assert all(record.gap <= 0.1 and record.termination == "gap_reached" for record in alone)


@pytest.mark.parametrize(("size", "lost"), [(3, (0, 2, 3, 7)), pytest.param(20, (4,), marks=pytest.mark.thorough)])
def test_many_make_the_same_records_though_some_are_lost(alone, size, lost):
    pool = Colleagues(size, fails=dict.fromkeys(lost, BrokenExecutor()))
    engine, found = records(pool)
    assert found == alone
    assert not engine.failed
    assert bool(pool.renewed) is bool(lost)


@pytest.mark.thorough
def test_processes_make_the_same_records(alone):
    pool = LocalPool(2)
    try:
        assert records(pool)[1] == alone
    finally:
        pool.close()


def test_a_point_that_loses_whoever_works_on_it_is_given_up(alone):
    pool = Colleagues(1, fails=dict.fromkeys(range(100), BrokenExecutor()))
    engine, found = records(pool, PLAN.schedule[:1])
    assert not found
    assert engine.failed.keys() == {0}
    assert pool.tasks == LOSSES + 1


def test_a_point_that_fails_has_no_record_and_the_others_go_on(alone, monkeypatch):
    solve, asked = engines.solve, []

    def failing(problem, **options):
        asked.append(problem)
        if len(asked) == 3:
            raise dl.errors.DaleniusError("nothing can be proved")
        return solve(problem, **options)

    monkeypatch.setattr(engines, "solve", failing)
    engine, found = records()
    assert engine.failed == {PLAN.schedule[2].index: "nothing can be proved"}
    assert len(found) == 5
    asked.clear()
    with pytest.raises(dl.errors.DaleniusError, match="nothing"):
        records(strict=True)


def test_ctrl_c_leaves_out_what_was_at_work(alone):
    """By others, and here, where what it would have answered is not what a rerun answers."""
    _, found = records(Colleagues(1, before=lambda number: signal.raise_signal(signal.SIGINT) if number == 4 else None))
    assert 2 < len(found) < 6
    assert found == [record for record in alone if record in found]
    told = []

    def progress(moment):
        told.append(moment)
        if moment.progress and [one.done for one in told if one.progress].count(2) == 1 == moment.done - 1:
            signal.raise_signal(signal.SIGINT)

    _, found = records(progress=progress)
    assert 0 < len(found) < 6
    assert [record for record in alone if record.index in {one.index for one in found}] == found
    assert told[0].total == 6
    assert [moment.done for moment in told if moment.record] == list(range(1, len(found) + 1))
