"""Does more time ever give a wider interval, and does other work on the machine? `python benchmarks/anytime.py [NAMES...]`.

Every solve has a process of its own. A row has the gaps that were proved within ever longer limits of the processor's seconds, and by
how much one of them is above the least before it: `grows` is 1 where none is. With `--beside 4` so many busy processes are there while
the same limits count as in life; of each answer the least gap is then taken that was proved idle in no more processor seconds than it
took, and `load` is the worst ratio of the two. What is proved within the gap that was asked for counts as that gap.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

if "--processor" in sys.argv:
    time.monotonic = time.process_time  # before anything can have taken hold of it

import dalenius as dl

MODELS = Path(__file__).parents[1] / "models"
LIMITS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
GAP = 1e-3
COUNTS = {  # people: epsilon, entropy
    "count 20, 95 %": (20, 0.3, "0.95 max"),
    "count 30, 97 %": (30, 0.3, "0.97 max"),
    "count 50, 95 %": (50, 0.3, "0.95 max"),
    "count 50, 99 %": (50, 0.3, "0.99 max"),
    "count 100, 98 %": (100, 0.1, "0.98 max"),
    "count 200, 95 %": (200, 0.02, "0.95 max"),
    "count 500, 98 %": (500, 0.02, "0.98 max"),
    "count 1000, 99.5 %": (1000, 0.01, "0.995 max"),
    "count 5000, 99.9 %": (5000, 0.002, "0.999 max"),
}


def model(name: str) -> dl.problems.Problem:
    """A count of the table, or a model of the library."""
    if name not in COUNTS:
        return dl.load(MODELS / f"{name}.toml")
    people, epsilon, entropy = COUNTS[name]
    return dl.WorstCaseLeakage(
        records=dl.Records(people, alphabet=2),
        query=dl.Count(),
        mechanism=dl.geometric(epsilon),
        adversary=dl.EntropyAtLeast(entropy),
    )


def one(name: str, limit: float) -> None:
    """Solve in this process."""
    import dalenius.designs  # noqa: F401 - what importing costs is not what is measured

    problem = model(name)
    busy, started = time.process_time(), time.perf_counter()
    result = dl.solve(problem, gap=GAP, time_limit=limit)
    print(json.dumps([result.gap, time.process_time() - busy, time.perf_counter() - started]))


def asked(name: str, limit: float, *clock: str) -> tuple[float, float, float]:
    """The gap that another process proves, its processor's seconds, and those of the machine."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, "--one", name, str(limit), *clock]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | threads)
    gap, busy, seconds = json.loads(ran.stdout.splitlines()[-1])
    return max(gap, GAP), busy, seconds


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Have so many processes at work meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(COUNTS), help="counts, or models of the library")
    parser.add_argument("--limits", nargs="+", type=float, default=LIMITS)
    parser.add_argument("--beside", type=int, default=0, help="busy processes, in a second pass")
    parser.add_argument("--processor", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one[0], float(options.one[1]))
        return
    print(f"{'model':26} " + " ".join(f"{limit:15g}" for limit in options.limits) + "  grows  load")
    for name in options.names:
        idle, grows = list[tuple[float, float]](), 1.0
        print(f"{name:26}", end=" ", flush=True)
        for limit in options.limits:
            gap, seconds, _ = asked(name, limit, "--processor")
            grows = max(grows, gap / min([gap, *(before for before, _ in idle)]))
            idle.append((gap, seconds))
            print(f"{gap:8.1e} {seconds:6.2f}", end=" ", flush=True)
        print(f" {grows:5.2f}", end="", flush=True)
        if options.beside:
            load = 1.0
            with busy(options.beside):
                for limit in options.limits:
                    gap, seconds, _ = asked(name, limit)
                    known = [before for before, took in idle if took <= seconds]
                    load = max(load, gap / min([gap, *known]))
            print(f" {load:5.2f}", end="")
        print(flush=True)


if __name__ == "__main__":
    main()
