"""Audits that many work on: the same answer as alone, proved as always, also where workers die, limits are met, or Ctrl-C comes."""

import os
import signal
import subprocess
from concurrent.futures import BrokenExecutor

import numpy as np
import pytest

import dalenius as dl
import support
from colleagues import Colleagues
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.reduction import record_channels
from dalenius.search import Clock
from dalenius.search.crew import Crew, Work
from dalenius.search.pools import LocalPool


@pytest.fixture
def together(monkeypatch):
    """Who works on the audits of `dl.solve`, from their start and in short turns."""

    def call(pool: Colleagues) -> Colleagues:
        monkeypatch.setattr("dalenius._solve.crew_of", pool.crew_of)
        monkeypatch.setattr("dalenius.audits.tree_room.ALONE", -1.0)
        monkeypatch.setattr("dalenius.search.crew.TURN", 2.0**-9)
        monkeypatch.setattr("dalenius.search.crew.LONGER", 0.0)
        monkeypatch.setattr(
            "dalenius.audits.bounds.row_solver._compiled", lambda clock: row_multipliers
        )  # loading takes long
        return pool

    return call


def rows_of_two():
    """A full channel of two records whose last gap the tree over boxes of the conditionals closes."""
    rows = np.random.default_rng(1).dirichlet(np.full(3, 0.6), size=16).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    return support.problem(dl.Records(alphabets=[4, 4]), None, dl.Channel(rows, inputs="dataset"), "0.7 max")


def count(share, records=6):
    return support.problem(dl.Records(records, alphabet=2), dl.Count(), dl.geometric(1.0), share)


CASES = [
    pytest.param(count("0.95 max"), 1e-2, {"dual"}, marks=pytest.mark.thorough),
    (count("0.95 max", 8), 0.12, {"dual"}),  # in groups of outputs
    pytest.param(rows_of_two(), 1e-2, {"dual tree"}, marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("question", "gap", "methods"), CASES)
def test_the_answer_is_that_of_one(together, support, question, gap, methods):
    alone = dl.solve(question, gap=gap, time_limit=None)
    pool = together(Colleagues(3, fails=dict.fromkeys((1, 4), BrokenExecutor())))
    result = dl.solve(question, gap=gap, time_limit=None)
    assert pool.tasks > 4
    assert pool.closed
    assert result.gap <= gap
    assert {proof.method for proof in result.records} & methods
    support.assert_overlap(result, alone)
    assert dl.verify(question, result.certificate).proved


def posterior_tree(target):
    channel = record_channels(count("0.5 max"))[0]
    return PosteriorTree(PosteriorRelaxation(channel, decimals=6), 0.3, target=target)


def test_boxes_of_the_posterior_reach_their_target_together():
    alone = posterior_tree(0.6)
    while alone.grow(Clock()):
        pass
    many = posterior_tree(0.6)
    work = Work(lambda: many if many.waits else None, lambda _: np.inf, lambda *_: None, lambda: many.upper <= 0.6)
    assert Crew(lambda: Colleagues(2, fails={1: BrokenExecutor()})).run(work, Clock())
    assert max(alone.upper, many.upper) <= 0.6
    assert 0.5 * alone.leaves < many.leaves < 2.0 * alone.leaves
    assert many.point is not None


def test_limits_are_for_all_together(together):
    pool = together(Colleagues(4))
    result = dl.solve(count("0.95 max"), gap=1e-6, node_limit=300, time_limit=None)
    assert pool.tasks > 1
    assert result.termination is dl.answers.Termination.SIZE_LIMIT
    assert max(proof.leaves for proof in result.records) <= 300 + 64 * 5


@pytest.mark.thorough
def test_time_is_up_for_everybody(together):
    pool = together(Colleagues())
    result = dl.solve(rows_of_two(), gap=1e-9, time_limit=1.0)
    assert pool.tasks > 1
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert 0.0 < result.lower <= result.upper


def test_an_interrupt_answers_with_what_is_proved(together):
    together(Colleagues(before=lambda number: signal.raise_signal(signal.SIGINT) if number == 3 else None))
    result = dl.solve(rows_of_two(), gap=1e-9, time_limit=None)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert dl.verify(rows_of_two(), result.certificate).proved


def test_workers_that_all_die_are_done_without(together):
    pool = together(Colleagues(fails=dict.fromkeys(range(10**3), BrokenExecutor())))
    assert dl.solve(count("0.95 max", 4), gap=1e-2, time_limit=None).gap <= 1e-2
    assert pool.tasks < 40


def children() -> list[int]:
    """The processes that this one has begun and that work on trees."""
    found = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "LokyProcess"], capture_output=True, text=True, check=False
    )
    return [int(number) for number in found.stdout.split()]


def test_a_process_that_is_killed():
    """Really: it is begun anew."""
    killed: list[int] = []

    def merged(runner, seconds):
        if not killed:
            killed.append(children()[0])
            os.kill(killed[0], signal.SIGKILL)

    tree = posterior_tree(0.58)
    crew = Crew(lambda: LocalPool(1))
    try:
        assert crew.run(
            Work(lambda: tree if tree.waits else None, lambda _: 200.0, merged, lambda: tree.upper <= 0.58), Clock()
        )
    finally:
        crew.close()
    assert killed
    assert tree.upper <= 0.58
    assert not children()


def test_work_for_processes_that_have_lost_one_is_lost_like_what_they_were_at(monkeypatch):
    """Whoever gives it to them need not ask before."""

    class Broken:
        def submit(self, *_):
            raise BrokenExecutor("one was lost, and nobody has heard yet")

    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", lambda *_, **__: Broken())
    pool = LocalPool(1)
    task = pool.submit(abs, -1)
    assert task.done()
    with pytest.raises(pool.lost, match="nobody has heard"):
        task.result()


@pytest.mark.thorough
def test_processes_one_of_which_is_killed(monkeypatch):
    """Two of them, really."""
    monkeypatch.setattr("dalenius.audits.tree_room.ALONE", -1.0)
    killed: list[int] = []

    def progress(moment):
        if moment.stage != "search" and not killed and children():
            killed.append(children()[0])
            os.kill(killed[0], signal.SIGKILL)

    question, gap = rows_of_two(), 2e-3
    result = dl.solve(question, gap=gap, time_limit=None, jobs=2, progress=progress)
    assert killed
    assert result.gap <= gap
    assert dl.verify(question, result.certificate).proved
    assert not children()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # what a cluster says when its workers die
def test_a_cluster_one_of_whose_workers_is_killed(monkeypatch):
    """Three workers of Dask, in processes of their own."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("dalenius.audits.tree_room.ALONE", -1.0)
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:

        def progress(moment):
            if moment.stage != "search" and not killed:
                killed.append(next(iter(cluster.workers.values())).process.process.pid)
                os.kill(killed[0], signal.SIGKILL)

        question, gap = rows_of_two(), 1e-5
        result = dl.solve(question, gap=gap, time_limit=None, scheduler=cluster.scheduler_address, progress=progress)
    assert killed
    assert result.gap <= gap
    assert dl.verify(question, result.certificate).proved


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere"])
def test_nobody_answers_there(address):
    pytest.importorskip("distributed")
    with pytest.raises(dl.errors.InputError, match="scheduler: expected the address of a Dask scheduler"):
        dl.solve(count("0.5 max"), scheduler=address)
