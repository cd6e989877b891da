"""What `--jobs` gains on a sweep, and what fan-out and writing cost: `python benchmarks/sweeps.py [JOBS...]`, 1 and 2 by default.

The grid is 25 entropy bounds by three epsilons of the survey model, stopped by nodes. Seconds of the clock mean something on idle
cores alone. The *path* does also elsewhere: the points' processor seconds, laid out on so many workers in the order of the plan, each
after those that it may begin with; add the second or two in which workers begin. *Cost* is what is left of this process's processor
seconds beside the points: fan-out, keys, files and lists.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.catalogue.models import library_model
from dalenius.studies import engine
from dalenius.studies.plan import ENTROPY, Plan, Point, Settings

SURVEY = "real/fair-cell-geometric"
GRID = {ENTROPY: "0:1 max:25", "mechanism.epsilon": "0.1,0.3,1"}


def laid_out(points: Sequence[Point], seconds: Mapping[int, float], workers: int) -> float:
    """When the last point is done, where each is begun in this order as soon as somebody is free and what it waits for is done."""
    done, waiting, busy, now = set[int](), list(points), list[tuple[float, int]](), 0.0
    while waiting or busy:
        ready = next((point for point in waiting if done.issuperset(point.before)), None)
        if ready is not None and len(busy) < workers:
            waiting.remove(ready)
            heapq.heappush(busy, (now + seconds[ready.index], ready.index))
        else:
            now, index = heapq.heappop(busy)
            done.add(index)
    return now


def processor_seconds(problem: dl.problems.Problem, options: Mapping[str, Any]) -> tuple[dict[int, float], float]:
    """Of each point, solved here, and of all else."""
    seconds, inside = dict[int, float](), engine.solved

    def counted(point: Point, *given: Any, **more: Any) -> Any:
        before = time.process_time()
        try:
            return inside(point, *given, **more)
        finally:
            seconds[point.index] = time.process_time() - before

    engine.solved = counted
    try:
        before = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            dl.sweep({SURVEY: problem}, GRID, output=folder, **options)
        return seconds, time.process_time() - before - sum(seconds.values())
    finally:
        engine.solved = inside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--gap", type=float, default=1e-2)
    parser.add_argument("--node-limit", type=int, default=1000)
    parser.add_argument("--path-only", action="store_true", help="do not run with processes")
    options = parser.parse_args()
    limits = {"gap": options.gap, "node_limit": options.node_limit, "time_limit": None}
    problem = library_model(SURVEY).load()
    seconds, cost = processor_seconds(problem, limits)
    total = sum(seconds.values())
    print(f"{len(seconds)} points, {total:.1f} processor seconds, the longest {max(seconds.values()):.2f}")
    print(f"cost: {cost:.2f} s, {cost / total:.1%} of the points', {1e3 * cost / len(seconds):.1f} ms a point")
    plan = Plan.of({SURVEY: problem}, GRID, Settings(**limits))
    for jobs in options.jobs:
        path = laid_out(plan.schedule, seconds, jobs)
        print(f"jobs {jobs}: path {path:.1f} s, {path / total:.2f} of one's", end="" if not options.path_only else "\n")
        if not options.path_only:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            started = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                swept = dl.sweep({SURVEY: problem}, GRID, output=Path(folder), jobs=jobs, **limits)
            elapsed, then = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
            others = then.ru_utime + then.ru_stime - used.ru_utime - used.ru_stime
            print(f"; {elapsed:.1f} s of the clock, workers {others:.1f} s, {len(swept.records)} records")


if __name__ == "__main__":
    main()
