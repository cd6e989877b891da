"""What `jobs=` gains on one hard audit: `python benchmarks/jobs.py [JOBS...]`, 1 and 2 by default.

Seconds of the clock mean something on idle cores alone. The *path* does also elsewhere: processor seconds that nobody else can take
over, which are this process's own where it works alone, the workers' divided by their number where these work, and this process's
again in the check, whose other shares go on beside it.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import audit

import dalenius as dl
from dalenius import _prove
from dalenius.search.crew import Crew, Work

INSTANCES = ("bit count n=50 epsilon=0.3 b=0.99 max", "modular sum m=16 n=3 flip=0.2 b=0.8 max")


class Stages:
    """Processor seconds of this process by stage, and those of the workers."""

    def __init__(self) -> None:
        self.crew = self.check = self.workers = 0.0
        run, verify = Crew.run, _prove.verify

        def counted(crew: Crew, work: Work, clock: dl.search.Clock) -> bool:
            def merged(runner: Any, seconds: float) -> None:
                self.workers += seconds
                work.merged(runner, seconds)

            before = time.process_time()
            try:
                return run(crew, work._replace(merged=merged), clock)
            finally:
                self.crew += time.process_time() - before

        def checked(*given: Any, **options: Any) -> Any:
            before = time.process_time()
            try:
                return verify(*given, **options)
            finally:
                self.check += time.process_time() - before

        self._back: Callable[[], None] = lambda: (setattr(Crew, "run", run), setattr(_prove, "verify", verify))[0]
        Crew.run, _prove.verify = counted, checked  # type: ignore[method-assign]

    def end(self) -> None:
        """Count no more."""
        self._back()


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--instance", default=INSTANCES[0], help=f"of the group `real` of audit.py: {INSTANCES[0]}")
    options = parser.parse_args()
    problem, gap = next((problem, gap) for name, problem, gap, _ in audit.real() if name == options.instance)
    print(options.instance)
    print(
        f"{'jobs':>4} {'gap':>8} {'s':>7} {'path':>7} {'alone':>6} {'crew':>6} {'check':>6} {'cpu s':>7} {'leaves':>7}"
    )
    for jobs in options.jobs:
        stages, started, own, others = Stages(), time.perf_counter(), time.process_time(), children()
        result = dl.solve(problem, gap=gap, time_limit=None, jobs=jobs)
        seconds, own, others = time.perf_counter() - started, time.process_time() - own, children() - others
        stages.end()
        alone, crew = own - stages.crew - stages.check, max(stages.workers / jobs, stages.crew)
        leaves = sum(proof.leaves for proof in result.records)
        print(
            f"{jobs:4} {result.gap:8.1e} {seconds:7.1f} {alone + crew + stages.check:7.1f} {alone:6.1f} {crew:6.1f} "
            f"{stages.check:6.1f} {own + others:7.1f} {leaves:7}",
            flush=True,
        )


if __name__ == "__main__":
    main()
