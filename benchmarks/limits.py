"""Whether limits are kept: of 30 models in time and memory, the proof included, and of the commands, at the sizes of the docs and at
ten times these, in time and at a signal: `make benchmarks`, or with names.

Every solve has a process of its own. Seconds are those of `solve`, in which nothing is imported any more (the modelling language of
designs is imported before); memory is the largest that the process ever held, beyond what importing left, so that the problem itself
is in it. Machines differ, and a busy one stretches seconds but not the processor's: both are printed, and `--clock processor`
has limits count the latter, as if nobody else were there. Of a command seconds are what it took after its imports; `signal` is how
long after a SIGTERM, in the second second, it was still at work. Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

if "processor" in sys.argv:
    time.monotonic = time.process_time  # before anything can have taken hold of it

import numpy as np

import dalenius as dl

MODELS = Path(__file__).parents[1] / "models"
MEMORY = 200.0  # mebibytes
SECONDS = (2.0, 10.0)
LIBRARY = (
    "parity/laplace-n4",
    "count/geometric-n8-b0.8",
    "channel/random-10x10x10",
    "channel/random-50x2x100",
    "identity/random-100-b0.97",
    "scale/count-n200",
    "design/count-n6",
    "design/squares-full",
)


def audit(
    records: dl.Records,
    query: dl.queries.Query,
    mechanism: dl.mechanisms.Mechanism,
    adversary: str | dl.adversaries.Adversary,
) -> dl.WorstCaseLeakage:
    bound = adversary if isinstance(adversary, dl.adversaries.Adversary) else dl.EntropyAtLeast(adversary, "nats")
    return dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=bound)


def letters(count: int, mechanism: dl.mechanisms.Mechanism) -> dl.WorstCaseLeakage:
    """One record, released itself."""
    return audit(dl.Records(1, alphabet=count), dl.Identity(), mechanism, "0.5 max")


def bits(count: int, outputs: int, adversary: str | dl.adversaries.Adversary = "0.5 max") -> dl.WorstCaseLeakage:
    """A row for every dataset of so many bits."""
    rows = np.random.default_rng(count).dirichlet(np.ones(outputs), size=2**count).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    return audit(dl.Records(count, alphabet=2), dl.Identity(), dl.Channel(rows, inputs="dataset"), adversary)


def counted(people: int, epsilon: float, adversary: str | dl.adversaries.Adversary) -> dl.WorstCaseLeakage:
    return audit(dl.Records(people, alphabet=2), dl.Count(), dl.geometric(epsilon), adversary)


def sums(count: int, alphabet: int, modulus: int) -> dl.WorstCaseLeakage:
    query = dl.Parity() if modulus == 2 else dl.ModularSum(modulus)
    return audit(dl.Records(count, alphabet=alphabet), query, dl.symmetric(0.1), "0.9 max")


def priors(count: int, people: int) -> dl.WorstCaseLeakage:
    listed = np.random.default_rng(people).integers(1, 9, size=(count, 2**people))
    return counted(people, 0.5, dl.PriorSet([[f"{w}/{row.sum()}" for w in row.tolist()] for row in listed]))


def design(people: int, **goal: float) -> dl.problems.DesignProblem:
    """The best count of so many people."""
    parts = {
        "records": dl.Records(people, alphabet=2),
        "query": dl.Count(),
        "distortion": dl.Absolute(),
        "adversary": dl.EntropyAtLeast("0.9 max"),
    }
    return (dl.MinLeakage if "max_distortion" in goal else dl.MinDistortion)(**parts, **goal)


def private(inputs: int) -> dl.problems.DesignProblem:
    """The best private release of a letter."""
    return dl.MinDistortion(
        records=dl.Records(1, alphabet=inputs),
        query=dl.Identity(),
        distortion=dl.Absolute(),
        privacy=dl.LocalDP("log 3"),
    )


CASES: dict[str, Callable[[], dl.problems.Problem]] = {
    **{name: (lambda name=name: dl.load(MODELS / f"{name}.toml")) for name in LIBRARY},
    **{f"identity symmetric {n}": (lambda n=n: letters(n, dl.symmetric(0.2))) for n in (256, 1024, 2000, 4096)},
    "identity randomized response 512": lambda: letters(512, dl.randomized_response(1.0)),
    "identity 12 bits": lambda: audit(
        dl.Records(12, alphabet=2), dl.Identity(), dl.randomized_response(1.0), "0.5 max"
    ),
    "parity 10^6 x 2": lambda: sums(10**6, 2, 2),
    "parity 10^6 x 10,000": lambda: sums(10**6, 10_000, 2),
    "modular sum 256, 1,000 x 256": lambda: sums(1000, 256, 256),
    "count 200": lambda: counted(200, 0.1, "0.95 max"),
    "count 1,000": lambda: counted(1000, 0.5, "0.9 max"),
    "count 3,000": lambda: counted(3000, 0.5, "0.9 max"),
    "matrix 4,096 x 8": lambda: bits(12, 8),
    "matrix 1,024 x 64": lambda: bits(10, 64),
    "matrix 65,536 x 2": lambda: bits(16, 2),
    "matrix 4,096 x 8, independent": lambda: bits(12, 8, dl.ProductPriors()),
    "count 1,000, independent": lambda: counted(1000, 0.5, dl.ProductPriors()),
    "64 priors on 1,024": lambda: priors(64, 10),
    "16 priors on 16,384": lambda: priors(16, 14),
    "design count 60": lambda: design(60, max_distortion=1.0),
    "design count 200": lambda: design(199, max_distortion=2.0),
    "private letter 200": lambda: private(200),
}


NOISE = ("--mechanism", "discrete_laplace scale=20", "--query", "sum", "--people", "2000")
"""The release of the rows with wide alphabets."""

KEPT = 0.2, 0.5  # share of a limit, and seconds of work, that it may be passed by, whichever is more
ANSWERED = 2.0  # seconds within which a signal is to be answered


def written(model: dl.problems.Problem, folder: Path) -> str:
    """A model as a file."""
    path = folder / "model.toml"
    path.write_text(dl.dumps(model))
    return str(path)


def proved(model: dl.WorstCaseLeakage, folder: Path) -> list[str]:
    """A model and its certificate as files."""
    path, certificate = written(model, folder), folder / "model.cert"
    certificate.write_text(dl.solve(model, gap=0.1, time_limit=5).certificate.text)
    return [path, str(certificate)]


def channel(size: int, folder: Path) -> str:
    """A random matrix as a table."""
    rows = np.random.default_rng(size).integers(1, 1000, size=(size, size))
    lines = [
        ",".join(f"y{y}" for y in range(size)),
        *(",".join(f"{w}/{sum(row)}" for w in row) for row in rows.tolist()),
    ]
    (folder / "channel.csv").write_text("\n".join(lines))
    return str(folder / "channel.csv")


def chained(count: int) -> dl.WorstCaseLeakage:
    """A count of a chain of bits, from any start."""
    chain = dl.MarkovChain(to_one=[0.1, 0.12], to_zero=[0.2, 0.22], start="any", record=count // 2)
    return audit(dl.Records(count, alphabet=2), dl.Count(), dl.geometric(0.5), chain)


def released(count: int, times: int) -> dl.WorstCaseLeakage:
    """A count released many times."""
    return audit(
        dl.Records(count, alphabet=2), dl.Count(), dl.several_releases(dl.geometric("0.5"), times=times), "0.8 max"
    )


def histogram(people: int, letters: int) -> dl.WorstCaseLeakage:
    """The counts of all letters."""
    return audit(
        dl.Records(people, alphabet=letters), dl.Histogram(), dl.discrete_laplace(0.5), dl.IndependentBlocks(2)
    )


def square(size: int) -> dl.WorstCaseLeakage:
    """A letter through a random matrix."""
    rows = np.random.default_rng(size).integers(1, 1000, size=(size, size)).tolist()
    return letters(size, dl.Channel([[f"{w}/{sum(row)}" for w in row] for row in rows]))


def household(people: int) -> dl.WorstCaseLeakage:
    """A count of households, with real noise."""
    return audit(dl.Records(1000, alphabet=2), dl.Count(), dl.laplace(1), dl.IndependentBlocks(people))


def summed(people: int, letters: int) -> dl.problems.DesignProblem:
    """The best sum within a budget of leakage."""
    return dl.MinDistortion(
        records=dl.Records(people, alphabet=letters),
        query=dl.Sum(),
        distortion=dl.Absolute(),
        adversary=dl.EntropyAtLeast("0.8 max"),
        max_leakage="0.2 nats",
    )


UNLIMITED = ("compose", "report")  # take no limit: the seconds in their rows are what they may take
COMMANDS: dict[str, tuple[float, Callable[[Path], list[str]]]] = {
    "audit, 61 letters, blocks of 2": (10, lambda f: ["audit", *NOISE, "--alphabet", "61", "--blocks", "2"]),
    "audit, 121 letters, blocks of 2": (10, lambda f: ["audit", *NOISE, "--alphabet", "121", "--blocks", "2"]),
    "audit, 61 letters, blocks of 5": (10, lambda f: ["audit", *NOISE, "--alphabet", "61", "--blocks", "5"]),
    "audit, 61 letters, blocks of 7": (10, lambda f: ["audit", *NOISE, "--alphabet", "61", "--blocks", "7"]),
    "audit, 1,000 letters, blocks of 2": (10, lambda f: ["audit", *NOISE, "--alphabet", "1000", "--blocks", "2"]),
    "audit, count of 8": (5, lambda f: ["audit", written(counted(8, 0.5, "6 bits"), f)]),
    "audit, count of 80": (5, lambda f: ["audit", written(counted(80, 0.5, "60 bits"), f)]),
    "audit, 10^6 people, 100 cells": (10, lambda f: ["audit", written(histogram(10**6, 100), f)]),
    "audit, 10^6 people, 1,000 cells": (10, lambda f: ["audit", written(histogram(10**6, 1000), f)]),
    "solve, chain of 30": (5, lambda f: ["solve", written(chained(30), f)]),
    "solve, chain of 300": (5, lambda f: ["solve", written(chained(300), f)]),
    "solve, 2 releases of 8": (5, lambda f: ["solve", written(released(8, 2), f)]),
    "solve, 3 releases of 20": (5, lambda f: ["solve", written(released(20, 3), f)]),
    "solve, 10 releases of 2": (5, lambda f: ["solve", written(released(2, 10), f)]),
    "solve, matrix 50 x 50": (5, lambda f: ["solve", written(square(50), f)]),
    "solve, matrix 500 x 500": (5, lambda f: ["solve", written(square(500), f)]),
    "noise, count of 20": (5, lambda f: ["noise", written(counted(20, 0.5, "0.8 max"), f), "--at-most", "0.1"]),
    "noise, count of 200": (5, lambda f: ["noise", written(counted(200, 0.5, "0.8 max"), f), "--at-most", "0.1"]),
    "noise, real, households of 4": (5, lambda f: ["noise", written(household(4), f), "--at-most", "0.1"]),
    "compare, two methods, count of 8": (
        10,
        lambda f: ["compare", written(counted(8, 0.5, "6 bits"), f), "--methods", "paper-aggregated", "--seeds", "1"],
    ),
    "compose, two counts of 80": (5, lambda f: ["compose", *2 * proved(counted(80, 0.5, "60 bits"), f)]),
    "report, count of 80": (
        5,
        lambda f: ["report", *proved(counted(80, 0.5, "60 bits"), f)[1:], "-o", str(f / "r.html")],
    ),
    "measure, count of 60": (5, lambda f: ["measure", written(counted(60, 0.5, "0.9 max"), f)]),
    "measure, count of 600": (5, lambda f: ["measure", written(counted(600, 0.5, "0.9 max"), f)]),
    "measure, matrix 50 x 50": (5, lambda f: ["measure", channel(50, f), "--prior", "uniform"]),
    "measure, matrix 500 x 500": (5, lambda f: ["measure", channel(500, f), "--prior", "uniform"]),
    "design, count of 4": (0.5, lambda f: ["solve", written(design(4, max_distortion=0.3), f)]),
    "design, count of 40": (5, lambda f: ["solve", written(design(40, max_distortion=1.0), f)]),
    "design, sum 2 x 3": (10, lambda f: ["solve", written(summed(2, 3), f)]),
    "design, sum 2 x 30": (5, lambda f: ["solve", written(summed(2, 30), f)]),
    "audit, count of 1,000": (5, lambda f: ["audit", written(counted(1000, 0.5, "0.9 max"), f)]),
    "sweep, one point, count of 60": (
        5,
        lambda f: [
            "sweep",
            written(counted(60, 0.5, "0.9 max"), f),
            "--set",
            "mechanism.epsilon=0.5",
            "-o",
            str(f / "o"),
        ],
    ),
}
"""Commands by name, with a limit."""


def commanded(name: str, seconds: float) -> dict[str, float | str]:
    """One command, in this process."""
    import tempfile

    import dalenius.alternating.mechanism_scheme
    import dalenius.cli
    import dalenius.designs

    with tempfile.TemporaryDirectory() as place:
        arguments = COMMANDS[name][1](Path(place))
        limit = ["--time-limit", str(seconds)] if arguments[0] not in UNLIMITED else []
        sys.argv[1:] = [*arguments, *limit]
        print("begun", file=sys.stderr, flush=True)
        started, busy = time.perf_counter(), time.process_time()
        try:
            status: object = dalenius.cli.main()
        except SystemExit as ended:
            status = ended.code
        took = {"seconds": time.perf_counter() - started, "processor": time.process_time() - busy}
    return {"answer": f"exit status {status or 0}", **took}


def table_of_commands(names: list[str], clock: str) -> None:
    """How long each command took, and how long it was still at work after a signal."""
    print(
        f"a limit may be passed by {KEPT[0]:.0%} or {KEPT[1]:g} s of work, whichever is more; a signal is answered in {ANSWERED:g} s"
    )
    print(f"{'command':34} {'limit':>5} {'s':>6} {'cpu s':>6} {'ratio':>5}  {'signal':>6}  what failed")
    for name, (seconds, _) in COMMANDS.items():
        if names and not any(part in name for part in names):
            continue
        command = [sys.executable, __file__, "--clock", clock, "--command", name]
        ran = subprocess.run([*command, str(seconds)], capture_output=True, text=True, check=False)
        if ran.returncode:
            print(f"{name:34} {seconds:5g}  ended with {ran.returncode}: {ran.stderr.strip()[-200:]}", flush=True)
            continue
        found = json.loads(ran.stdout.splitlines()[-1])
        after = ended_after(command)
        taken = found["processor" if clock == "processor" else "seconds"]
        failed = ["limit"] if taken > max((1.0 + KEPT[0]) * seconds, seconds + KEPT[1]) else []
        failed += ["signal"] if after > ANSWERED else []
        print(
            f"{name:34} {seconds:5g} {found['seconds']:6.2f} {found['processor']:6.2f} {taken / seconds:5.2f}  {after:6.2f}  "
            f"{' and '.join(failed) or found['answer']}",
            flush=True,
        )


def ended_after(command: list[str]) -> float:
    """Seconds of work from a SIGTERM, a second after the imports, to the end; of a command that has a minute. 0 where it was done."""
    with subprocess.Popen([*command, "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "begun" not in (line := process.stderr.readline()) and line:
            pass
        begun = worked(process.pid)
        while process.poll() is None and worked(process.pid) < begun + 1.0:
            time.sleep(0.01)
        if process.poll() is not None:
            return 0.0
        process.terminate()
        then = last = worked(process.pid)
        while process.poll() is None:
            last = max(last, worked(process.pid))
            time.sleep(0.005)
    return last - then


def worked(process: int) -> float:
    """The processor's seconds that a process has had."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def held() -> float:
    """The most mebibytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def measure(name: str, seconds: float) -> dict[str, float | str]:
    """One solve, in this process."""
    import dalenius.alternating.mechanism_scheme
    import dalenius.designs  # noqa: F401 - what importing costs is not what is measured

    imported = held()
    problem = CASES[name]()
    started, busy = time.perf_counter(), time.process_time()
    try:
        answer = str(dl.solve(problem, time_limit=seconds, memory_limit=MEMORY))
    except dl.errors.DaleniusError as error:
        answer = f"{type(error).__name__}: {error}"
    return {
        "answer": answer,
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - busy,
        "memory": held() - imported,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models whose names contain one of these (all by default)")
    parser.add_argument("--seconds", type=float, action="append", help="limits, instead of 2 and 10")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--command", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--commands", action="store_true", help="of the commands alone")
    options = parser.parse_args()
    if options.command:
        print(json.dumps(commanded(options.command[0], float(options.command[1]))))
        return
    if options.one:
        print(json.dumps(measure(options.one[0], float(options.one[1]))))
        return
    table_of_commands(options.names, options.clock)
    if options.commands:
        return
    print(f"\nmemory limit {MEMORY:g} MiB; over: by how many percent of a limit it was passed")
    print(f"{'model':34} {'limit':>5} {'s':>6} {'cpu s':>6} {'over':>5} {'MiB':>6} {'over':>5}  answer")
    worst = [0.0, 0.0]
    for name in CASES:
        if options.names and not any(part in name for part in options.names):
            continue
        for seconds in options.seconds or SECONDS:
            command = [sys.executable, __file__, "--clock", options.clock, "--one", name, str(seconds)]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode:
                print(f"{name:34} {seconds:5g}  ended with {ran.returncode}: {ran.stderr.strip()[-200:]}", flush=True)
                continue
            found = json.loads(ran.stdout.splitlines()[-1])
            taken = found["processor" if options.clock == "processor" else "seconds"]
            over = [max(100.0 * (x / most - 1.0), 0.0) for x, most in ((taken, seconds), (found["memory"], MEMORY))]
            worst = [max(pair) for pair in zip(worst, over, strict=True)]
            print(
                f"{name:34} {seconds:5g} {found['seconds']:6.2f} {found['processor']:6.2f} {over[0]:4.0f}% "
                f"{found['memory']:6.0f} {over[1]:4.0f}%  {found['answer'][:110]}",
                flush=True,
            )
    print(f"worst: {worst[0]:.0f} % of the time, {worst[1]:.0f} % of the memory")


if __name__ == "__main__":
    main()
