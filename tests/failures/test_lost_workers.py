"""Audits and sweeps that many work on: the same answer as alone, also where workers die or the sweep is killed, limits are met, or
Ctrl-C comes.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, thinned
from colleagues import Colleagues
from dalenius import _prove
from dalenius.audits import bounding
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.catalogue.models import library_model
from dalenius.reduction import record_channels
from dalenius.search import Clock
from dalenius.search.crew import Crew, Work
from dalenius.search.pools import LocalPool
from dalenius.studies.keeping import records_in
from dalenius.studies.plan import ENTROPY
from dalenius_check.core.bounds import Joint


@pytest.fixture
def together(monkeypatch):
    """Who works on the audits of `dl.solve`, from their start and in short turns."""

    def call(pool: Colleagues) -> Colleagues:
        monkeypatch.setattr("dalenius._solve.crew_of", pool.crew_of)
        monkeypatch.setattr("dalenius.audits.tree_room.ALONE", -1.0)
        monkeypatch.setattr("dalenius.search.crew.TURN", 2.0**-9)
        monkeypatch.setattr("dalenius.search.crew.LONGER", 0.0)
        monkeypatch.setattr(
            "dalenius.audits.bounds.rows._compiled", lambda clock: row_multipliers
        )  # loading takes long
        return pool

    return call


def count(share, records=6):
    return support.problem(dl.Records(records, alphabet=2), dl.Count(), dl.geometric(1.0), share)


CASES = [
    pytest.param(count("0.95 max"), 1e-2, {"dual"}, marks=pytest.mark.thorough),
    (count("0.95 max", 8), 0.12, {"dual"}),  # in groups of outputs
    pytest.param(support.rows_of_two(), 1e-2, {"dual tree", "posterior"}, marks=pytest.mark.thorough),
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


@pytest.mark.parametrize("lost", thinned([True, False], every=2))
def test_leaves_of_the_proof_are_worked_out_by_those_who_found_them(together, monkeypatch, lost):
    """While the search goes on, and a share each at its end; by this process alone what is lost on the way."""
    verify, row, own, rows = _prove.verify, Joint.row, [False], [0, 0]

    def checked(*given, **options):
        own[0] = True
        try:
            return verify(*given, **options)
        finally:
            own[0] = False

    def worked(*given):
        rows[own[0]] += 1
        return row(*given)

    class Hired(Colleagues):
        hired = 0

        def submit(self, function, *arguments):
            if isinstance(function, partial):
                self.hired += 1
                self.fails = {self.tasks: BrokenExecutor()} if lost and self.hired == 2 else {}
            return super().submit(function, *arguments)

    for place, name, stands_in in ((_prove, "verify", checked), (Joint, "row", worked), (bounding, "DUE", 0.01)):
        monkeypatch.setattr(place, name, stands_in)
    monkeypatch.setattr("dalenius.evidence.certificate.LITTLE", 0)
    pool = together(Hired(3))
    result = dl.solve(count("0.95 max", 8), gap=0.12, time_limit=None)
    assert result.gap <= 0.12
    assert pool.hired > 2
    assert pool.renewed == lost
    assert 0 < sum(rows) < 1.5 * result.certificate.text.count('["row"')
    assert (rows[1] > 2) == lost  # a line that was worked out at another place may be left
    assert dl.verify(count("0.95 max", 8), result.certificate).proved


def test_nobody_waits_for_leaves_after_ctrl_c(together, monkeypatch, work_clock):
    """Without a limit it once waited for ever for who would never tell; what is missing is worked out here."""

    stopped = []

    class Silent(Colleagues):
        def submit(self, function, *arguments):
            if not isinstance(function, partial):
                return super().submit(function, *arguments)
            if not stopped:
                stopped.append(signal.raise_signal(signal.SIGINT))
            return Future()

    monkeypatch.setattr("dalenius.search.crew.LOOK", 0.0)
    monkeypatch.setattr("dalenius.evidence.certificate.LITTLE", 0)
    together(Silent())
    result = dl.solve(count("0.95 max", 8), gap=5e-2, time_limit=None)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert 0.0 <= result.lower <= result.upper < 0.69


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
    result = dl.solve(support.rows_of_two(), gap=1e-9, time_limit=1.0)
    assert pool.tasks > 1
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert 0.0 < result.lower <= result.upper


def test_an_interrupt_answers_with_what_is_proved(together):
    together(Colleagues(before=lambda number: signal.raise_signal(signal.SIGINT) if number == 3 else None))
    result = dl.solve(support.rows_of_two(), gap=1e-9, time_limit=None)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert dl.verify(support.rows_of_two(), result.certificate).proved


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

    question, gap = support.rows_of_two(), 2e-3
    result = dl.solve(question, gap=gap, time_limit=None, jobs=2, progress=progress)
    assert killed
    assert result.gap <= gap
    assert dl.verify(question, result.certificate).proved
    assert not children()


@pytest.fixture
def cluster(monkeypatch) -> Iterator[tuple[str, Callable[[], int]]]:
    """The address of three workers of Dask, in processes of their own, and what kills one of them.

    Nobody is given up because the machine is busy: the limits of Dask, and ours for finding it, are seconds of the wall clock.
    """
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    monkeypatch.setattr("dalenius.search.pools.PATIENCE", 600)
    patient = dict.fromkeys(("comm.timeouts.connect", "comm.timeouts.tcp", "deploy.lost-worker-timeout"), "600s")
    with (
        dask.config.set(
            {"distributed.scheduler.worker-ttl": None, **{f"distributed.{k}": v for k, v in patient.items()}}
        ),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as workers,
    ):

        def kill() -> int:
            number = next(iter(workers.workers.values())).process.process.pid
            os.kill(number, signal.SIGKILL)
            return number

        yield workers.scheduler_address, kill


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # what a cluster says when its workers die
def test_a_cluster_one_of_whose_workers_is_killed(monkeypatch, cluster):
    monkeypatch.setattr("dalenius.audits.tree_room.ALONE", -1.0)
    (address, kill), killed = cluster, list[int]()

    def progress(moment):
        if moment.stage != "search" and not killed:
            killed.append(kill())

    question, gap = support.rows_of_two(), 1e-5
    result = dl.solve(question, gap=gap, time_limit=None, scheduler=address, progress=progress)
    assert killed
    assert result.gap <= gap
    assert dl.verify(question, result.certificate).proved


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere"])
def test_nobody_answers_there(address):
    pytest.importorskip("distributed")
    with pytest.raises(dl.errors.InputError, match="scheduler: expected the address of a Dask scheduler"):
        dl.solve(count("0.5 max"), scheduler=address)


# Sweeps ------------------------------------------------------------------------------------------------------------------------


SURVEY = "real/fair-cell-geometric"
GRID = {ENTROPY: "0:1 max:25", "mechanism.epsilon": "0.1,0.3,1"}
BY_NODES = {"gap": 2e-2, "node_limit": 300, "time_limit": None}  # stopped by nodes, not by time
COMMAND = [
    sys.executable,
    "-m",
    "dalenius.cli",
    "sweep",
    SURVEY,
    *(f"--set={path}={values}" for path, values in GRID.items()),
]
COMMAND += ["--gap=2e-2", "--node-limit=300", "--time-limit=inf", "--quiet", "-o", "out"]


@pytest.fixture(scope="module")
def uninterrupted() -> tuple[dl.answers.Record, ...]:
    return dl.sweep({SURVEY: library_model(SURVEY).load()}, GRID, **BY_NODES).records


def differences(found: list[dl.answers.Record], expected: tuple[dl.answers.Record, ...]) -> list[tuple[object, ...]]:
    """Record for record, but for what the clock decides: turns of trees are seconds, so that upper ends differ within the gap."""
    timed = {"files", "seconds", "upper", "claim", "gap", "certificate_sha256"}
    assert all(one.gap <= BY_NODES["gap"] for one in (*found, *expected))
    return [
        (one.index, name, value, vars(other)[name])
        for one, other in zip(found, expected, strict=True)
        for name, value in vars(one).items()
        if name not in timed and value != vars(other)[name]
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_twice_and_run_again(tmp_path, uninterrupted, jobs):
    """25 x 3 points of the survey; SIGKILL comes once a third, and once two thirds of the records are there."""
    folder, command = tmp_path / "out", [*COMMAND, "--jobs", jobs]
    for enough in (25, 50):
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        while len(list(folder.glob("*.record.json"))) < enough:
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended with {process.wait(timeout=0.1)}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = {record.index: record.seconds for record in records_in(folder)}
        assert enough <= len(before) < 75
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    found = records_in(folder)
    assert not differences(found, uninterrupted)
    assert all(record.seconds == before[record.index] for record in found if record.index in before), "done twice"
    dl.answers.Sweep.read(folder).verify()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # what a cluster says when its workers die
def test_a_cluster_that_sweeps_and_loses_a_worker(tmp_path, uninterrupted, cluster):
    """On the same grid as a process alone."""
    (address, kill), killed = cluster, list[int]()

    def progress(moment):
        if moment.done >= 10 and not killed:
            killed.append(kill())

    problem = {SURVEY: library_model(SURVEY).load()}
    swept = dl.sweep(problem, GRID, output=tmp_path, scheduler=address, progress=progress, **BY_NODES)
    assert killed
    assert not swept.failed
    assert not differences(list(swept.records), uninterrupted)
    assert not differences(records_in(Path(tmp_path)), uninterrupted)


# A kill at any moment: every file is whole, nothing that is listed is missing, no index is ahead of its history, a rerun mends.


@pytest.mark.campaign(minutes=7)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the campaign forks: run it on another system")
def test_a_kill_at_any_moment(tmp_path):
    """Of solve, sweep, frontier and library submit; the whole campaign kills two hundred times."""
    kills, names = draws(2, 10, 50), ["sweep", "submit", "solve", "frontier"][: draws(1, 4)]
    command = [sys.executable, Path(__file__).parents[1] / "killed.py", kills, 7, tmp_path / "place", *names]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    *wrong, killed = done.stdout.splitlines()
    assert not wrong
    assert int(killed.removesuffix(" killed")) >= kills // 2 * len(names)
