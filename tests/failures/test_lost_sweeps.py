"""Sweeps that are killed, with processes at work, and clusters that lose a worker: the records of the run that nothing happened to."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.catalogue.models import library_model
from dalenius.studies.grid import ENTROPY
from dalenius.studies.keeping import records_in

pytestmark = pytest.mark.thorough
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


def same(found: list[dl.answers.Record], expected: tuple[dl.answers.Record, ...]) -> bool:
    """Record for record, but for where the files are."""
    return [{**vars(one), "files": 0, "seconds": 0} for one in found] == [
        {**vars(one), "files": 0, "seconds": 0} for one in expected
    ]


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
    assert same(found, uninterrupted)
    assert all(record.seconds == before[record.index] for record in found if record.index in before), "done twice"
    dl.answers.Sweep.read(folder).verify()


@pytest.mark.filterwarnings("ignore")  # what a cluster says when its workers die
def test_a_cluster_one_of_whose_workers_is_killed(tmp_path, uninterrupted):
    """Three workers of Dask, in processes of their own, on the same grid as a process alone."""
    distributed = pytest.importorskip("distributed")
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:

        def progress(moment):
            if moment.done >= 10 and not killed:
                killed.append(next(iter(cluster.workers.values())).process.process.pid)
                os.kill(killed[0], signal.SIGKILL)

        problem = {SURVEY: library_model(SURVEY).load()}
        address = cluster.scheduler_address
        swept = dl.sweep(problem, GRID, output=tmp_path, scheduler=address, progress=progress, **BY_NODES)
    assert killed
    assert not swept.failed
    assert same(list(swept.records), uninterrupted)
    assert same(records_in(Path(tmp_path)), uninterrupted)
