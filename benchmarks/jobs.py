"""What `jobs=`, or a cluster, gains on hard audits: `python benchmarks/jobs.py [JOBS...]`, 1 and 2 by default.

Seconds of the clock mean something on idle cores alone. The *path* does also elsewhere: processor seconds that nobody else can take
over, which are this process's own where it works alone, the workers' divided by their number where these work on trees and leaves,
and this process's again in the check. With `--cluster 4` so many workers of Dask on this machine are a last row. `of one` is the
clock's seconds as a share of the first row's, `busy` the workers' processor seconds as a share of what they were there for.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import audit

import dalenius as dl
from dalenius import _prove
from dalenius.search.crew import Crew, Work

CLUSTER = """import sys
from distributed import LocalCluster
with LocalCluster(n_workers={}, threads_per_worker=1, dashboard_address=None) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""
HEAD = "jobs      gap       s of one  busy    path  alone   crew  check shared  leaves"
INSTANCES = ("bit count n=50 epsilon=0.3 b=0.99 max", "modular sum m=16 n=3 flip=0.2 b=0.8 max")


class Stages:
    """Processor seconds of this process by stage, and those of the workers."""

    def __init__(self) -> None:
        self.crew = self.check = self.checks = self.workers = 0.0
        run, hire, results, verify = Crew.run, Crew.hire, Crew.results, _prove.verify

        def counted(crew: Crew, work: Work, clock: dl.search.Clock) -> bool:
            def merged(runner: Any, seconds: float) -> None:
                self.workers += seconds
                work.merged(runner, seconds)

            before = time.process_time()
            try:
                return run(crew, work._replace(merged=merged), clock)
            finally:
                self.crew += time.process_time() - before

        def hired(crew: Crew, function: Callable[..., object], *given: Any, **options: Any) -> None:
            hire(crew, partial(timed, function), *given, **options)

        def told(crew: Crew, *given: Any) -> Iterator[Any]:
            for found, seconds in results(crew, *given):
                self.workers += seconds
                self.checks += seconds
                yield found

        def checked(*given: Any, **options: Any) -> Any:
            before = time.process_time()
            try:
                return verify(*given, **options)
            finally:
                self.check += time.process_time() - before

        self._before = run, hire, results, verify
        Crew.run, Crew.hire, Crew.results, _prove.verify = counted, hired, told, checked  # type: ignore[method-assign]

    def end(self) -> None:
        """Count no more."""
        Crew.run, Crew.hire, Crew.results, _prove.verify = self._before  # type: ignore[method-assign]


def timed(function: Callable[..., object], *given: Any, **options: Any) -> tuple[object, float]:
    """What a worker is hired for, and the processor's seconds that it takes him."""
    before = time.process_time()
    return function(*given, **options), time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", type=int, default=[1, 2])
    parser.add_argument(
        "--instance", action="append", help=f"of the group `real` of audit.py: {INSTANCES[0]}; may be repeated"
    )
    parser.add_argument("--gap", type=float, help="instead of what audit.py asks for")
    parser.add_argument("--cluster", type=int, default=0, help="workers of Dask")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        ways: list[dict[str, Any]] = [{"jobs": jobs} for jobs in options.jobs]
        if options.cluster:  # in another process, whose work is nothing to this one
            command = [sys.executable, "-c", CLUSTER.format(options.cluster)]
            cluster = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.enter_context(cluster)
            assert cluster.stdout is not None
            ways.append({"scheduler": cluster.stdout.readline().strip()})
        for instance in options.instance or INSTANCES[:1]:
            problem, gap = next((problem, gap) for name, problem, gap, _ in audit.real() if name == instance)
            print(f"{instance}, gap {options.gap or gap:.1e}\n{HEAD}")
            first: float | None = None
            for way in ways:
                stages, started, own = Stages(), time.perf_counter(), time.process_time()
                result = dl.solve(problem, gap=options.gap or gap, time_limit=None, **way)
                seconds, own = time.perf_counter() - started, time.process_time() - own
                stages.end()
                first, count = first or seconds, way.get("jobs", options.cluster)
                alone, crew = own - stages.crew - stages.check, max(stages.workers / count, stages.crew)
                print(
                    f"{count:4} {result.gap:8.1e} {seconds:7.1f} {seconds / first:6.2f} "
                    f"{stages.workers / count / seconds:5.2f} {alone + crew + stages.check:7.1f} {alone:6.1f} {crew:6.1f} "
                    f"{stages.check:6.1f} {stages.checks:6.1f} {sum(proof.leaves for proof in result.records):7}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
