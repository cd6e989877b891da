"""Two checkouts side by side: is any interval wider, and is the work slower?

Every model of the library (or of a named set), and the audits of benchmarks/audit.py where groups are named, are solved by both
checkouts with equal gaps, node limits and seeds, one after the other in two processes of their own that differ in PYTHONPATH only:

    python benchmarks/compare_checkouts.py --before ../old/src --after src --set fast
    python benchmarks/compare_checkouts.py --before ../old/src --after src --set minimal --benchmark parity modular

The race of trees gives its turns by time, so that on a loaded machine a model's interval varies from run to run. Two remedies: by
default time is counted, a millisecond for each look at the clock, which makes runs of one checkout identical (--clock cpu: the
processor's own, so that others on the machine take no time from a limit; --clock wall: as in life); and --repeat with one and the
same folder twice shows the noise that is left. CPU seconds are measured in either case, the least of the repeats counts. Seconds of
two processes on one machine may differ by a few per cent for no reason at all.

Audits that close, side by side with another release's:

    python benchmarks/compare_checkouts.py --before ../old/src --set none --benchmark parity modular count real random \
        --clock cpu --audit-seconds 20 --node-limit 1000000

An interval is called wider if its width exceeds the other one's by more than the tolerance that the last lines say. Exit status 1: a
model has become wider, or one checkout has no answer where the other one has.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import itertools
import json
import math
import os
import queue
import statistics
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

HERE = Path(__file__).resolve().parent
SETS = ("minimal", "fast", "various")
GROUPS = ("parity", "modular", "count", "real", "random", "capacity")
SIDES = ("before", "after")
PROCESSOR = time.process_time
TICK = 1e-3  # seconds for each look at a counted clock
ROUNDING = 1e-10  # relative to the upper end: a width below this is rounding alone


# ---------------------------------------------------------------- the worker: one checkout, one job a line


def worker(clock: str) -> None:
    """Answer the jobs on standard input, each with a line on standard output."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = sys.stderr  # what is printed on the way is no answer
    if clock == "cpu":
        time.monotonic = PROCESSOR  # before anything of the package can have taken hold of it
    if clock == "counted":
        ticks = itertools.count()
        time.monotonic = lambda: TICK * next(ticks)
        time.process_time = lambda: 0.0
    instances: dict[str, list[Any]] = {}
    for line in sys.stdin:
        try:
            answer = _solved(json.loads(line), instances)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            answer = {"failure": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), file=answers)


def _solved(job: dict[str, Any], instances: dict[str, list[Any]]) -> dict[str, Any]:
    import dalenius as dl

    if "count" in job:
        return {"count": len(_instances(job["count"], instances))}
    if "group" in job:
        _, problem, gap, _ = _instances(job["group"], instances)[job["index"]]
    else:
        problem, gap = dl.load(job["path"]), job["gap"]
    audit = isinstance(problem, dl.WorstCaseLeakage)
    limits = {"time_limit": job["audit_seconds" if audit else "design_seconds"], "node_limit": job["node_limit"]}
    before = PROCESSOR()
    result = dl.solve(problem, gap=gap, seed=job["seed"], **limits)
    seconds = PROCESSOR() - before
    audited = getattr(result, "audit", result)  # a design's; None where there is no mechanism
    proofs = getattr(audited, "secrets", getattr(audited, "records", ()))
    return {
        "lower": _plain(result.lower),
        "upper": _plain(result.upper),
        "gap": result.gap,
        "closed": result.gap <= gap,
        "leaves": sum(proof.leaves for proof in proofs),
        "methods": [proof.method for proof in proofs],
        "rounds": getattr(result, "rounds", 0),
        "termination": result.termination.value,
        "certificate": hashlib.sha256(result.certificate.text.encode()).hexdigest(),
        "seconds": seconds,
    }


def _plain(x: float) -> float | None:
    """A number that JSON has; None: infinite, nothing meets the budget."""
    return x if math.isfinite(x) else None


def _instances(group: str, known: dict[str, list[Any]]) -> list[Any]:
    """The instances of a group of benchmarks/audit.py: name, problem, gap, time limit."""
    if group not in known:
        spec = importlib.util.spec_from_file_location("audit_benchmark", HERE / "audit.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        known[group] = list(module.GROUPS[group]())
    return known[group]


class Checkout:
    """A process that solves with one checkout's package; begun anew after a job that took too long."""

    def __init__(self, folder: Path, clock: str) -> None:
        self.folder, self.clock = folder, clock
        self.process: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str] = queue.Queue()

    def ask(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer, or a `failure` where there is none in time."""
        if self.process is None:
            self._begin()
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            line = self.lines.get(timeout=seconds)
        except (queue.Empty, BrokenPipeError):
            self.end()
            return {"failure": f"no answer within {seconds:g} s"}
        if not line:
            self.end()
            return {"failure": "the process has died"}
        return json.loads(line)

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _begin(self) -> None:
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, str(Path(__file__).resolve()), "--worker", "--clock", self.clock]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | threads | {"PYTHONPATH": str(self.folder)},
        )
        assert self.process.stdout is not None
        self.lines = queue.Queue()
        threading.Thread(target=_listen, args=(self.process.stdout, self.lines), daemon=True).start()
        warm_up = {"path": str(HERE.parent / "models/design/parity-n4-leakage.toml"), "gap": 0.5, "seed": 0}
        self.ask(
            warm_up | {"node_limit": 10, "design_seconds": None, "audit_seconds": None}, 300.0
        )  # it imports what comes late


def _listen(source: TextIO, lines: queue.Queue[str]) -> None:
    for line in source:
        lines.put(line)
    lines.put("")


# ---------------------------------------------------------------- the comparison


@dataclass
class Row:
    """One model or instance: every repeat's answer of both checkouts."""

    name: str
    answers: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {side: [] for side in SIDES})

    def failure(self, side: str) -> str | None:
        return next((answer["failure"] for answer in self.answers[side] if "failure" in answer), None)

    def width(self, side: str) -> float:
        """The median of the repeats' widths; 0 where nothing meets the budget."""
        return statistics.median((answer["upper"] or 0.0) - (answer["lower"] or 0.0) for answer in self.answers[side])

    def noise(self, side: str) -> float:
        """How much the widths of the repeats differ, relative to the least."""
        widths = [(answer["upper"] or 0.0) - (answer["lower"] or 0.0) for answer in self.answers[side]]
        return (max(widths) - min(widths)) / max(min(widths), ROUNDING)

    def seconds(self, side: str) -> float:
        return min(answer["seconds"] for answer in self.answers[side])

    def closed(self, side: str) -> bool:
        """Whether every repeat reached the gap that was asked for."""
        return all(answer.get("closed", False) for answer in self.answers[side])

    def ratio(self) -> float:
        """Of the seconds."""
        return self.seconds("after") / self.seconds("before")

    def verdict(self, slack: float) -> str:
        failed = [side for side in SIDES if self.failure(side)]
        if failed:
            return "NO ANSWER: " + " and ".join(failed)
        first, second = (self.answers[side][0] for side in SIDES)
        if first["certificate"] == second["certificate"]:
            return "same"
        if (first["upper"] is None) != (second["upper"] is None):
            return "DIFFERENT"
        if self.disjoint():
            return "CONTRADICTION"
        before, after = self.width("before"), self.width("after")
        rounding = ROUNDING * max(abs(first["upper"] or 0.0), 1e-3)
        if after > before * (1.0 + slack) + rounding:
            return "WIDER"
        return "narrower" if before > after * (1.0 + slack) + rounding else "as wide"

    def disjoint(self) -> bool:
        """Whether two proved intervals of one number have nothing in common: then one of them is wrong."""
        every = [answer for side in SIDES for answer in self.answers[side] if answer["upper"] is not None]
        return bool(every) and max(answer["lower"] for answer in every) > min(answer["upper"] for answer in every)


def rows(options: argparse.Namespace) -> Iterator[Row]:
    """Solve everything with both checkouts, in turns, the first one first in every other repeat."""
    checkouts = {side: Checkout(getattr(options, side).resolve(), options.clock) for side in SIDES}
    common = {
        "gap": options.gap,
        "seed": options.seed,
        "node_limit": options.node_limit,
        "design_seconds": options.design_seconds or None,
        "audit_seconds": options.audit_seconds or None,
    }
    with contextlib.ExitStack() as stack:
        for checkout in checkouts.values():
            stack.callback(checkout.end)
        for number, (name, job) in enumerate(_jobs(options, checkouts)):
            row = Row(name)
            for repeat in range(options.repeat):
                for side in SIDES if (number + repeat) % 2 == 0 else SIDES[::-1]:
                    row.answers[side].append(checkouts[side].ask(common | job, options.timeout))
            yield row


def _jobs(options: argparse.Namespace, checkouts: dict[str, Checkout]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in [] if options.set == "none" else options.models or _names(options.library, options.set):
        yield name, {"path": str((options.library / f"{name}.toml").resolve())}
    for group in options.benchmark:
        count = checkouts["before"].ask({"count": group}, options.timeout)["count"]
        yield from ((f"{group} {index}", {"group": group, "index": index}) for index in range(count))


def _names(folder: Path, last: str) -> list[str]:
    sets = tomllib.loads((folder / "sets.toml").read_text(encoding="utf-8"))
    return sorted(name for members in SETS[: SETS.index(last) + 1] for name in sets[members])


def show(row: Row, slack: float) -> None:
    for side in SIDES:
        name = row.name if side == "before" else ""
        if failure := row.failure(side):
            print(f"{name:36} {side:6} {failure}")
            continue
        answer = row.answers[side][0]
        interval = "infeasible" if answer["upper"] is None else f"[{answer['lower']:.10f}, {answer['upper']:.10f}]"
        work = f"{answer['leaves']:6} leaves" + (f" {answer['rounds']:3} rounds" if answer["rounds"] else "")
        methods = ", ".join(f"{times} {method}" for method, times in _counted(answer["methods"]).items())
        noise = f" varies by {row.noise(side):.1%}" if row.noise(side) > 1e-6 else ""
        print(
            f"{name:36} {side:6} {interval:30} {answer['gap']:8.2e} {row.seconds(side):7.2f} s {work}  {methods}{noise}"
        )
    print(f"{'':36} {row.verdict(slack)}", flush=True)


def _counted(methods: list[str]) -> dict[str, int]:
    return {method: methods.count(method) for method in dict.fromkeys(methods)}


def summary(done: list[Row], options: argparse.Namespace) -> dict[str, Any]:
    """What is to be said about all of them."""
    answered = [row for row in done if not any(row.failure(side) for side in SIDES)]
    timed = [row for row in answered if row.seconds("before") >= options.least_seconds]
    closed = [row for row in timed if row.closed("before")]
    total = {side: sum(row.seconds(side) for row in answered) for side in SIDES}
    verdicts = [row.verdict(options.slack) for row in done]
    return {
        "verdicts": {verdict: verdicts.count(verdict) for verdict in sorted({*verdicts})},
        "no wider than before": not any(verdict.isupper() or verdict.startswith("NO ANSWER") for verdict in verdicts),
        "tolerance": {"relative to the width": options.slack, "relative to the upper end": ROUNDING},
        "noise": {side: max((row.noise(side) for row in answered), default=0.0) for side in SIDES},
        "cpu seconds": total,
        "ratio of totals": total["after"] / max(total["before"], 1e-9),
        "median of ratios": statistics.median([row.ratio() for row in timed] or [1.0]),
        "ratios of": len(timed),
        "closed before": len(closed),
        "median of these": statistics.median([row.ratio() for row in closed] or [1.0]),
        "slower by a tenth": sorted(
            ((row.name, row.ratio()) for row in closed if row.ratio() > 1.1), key=lambda x: -x[1]
        ),
        "not closed now": [row.name for row in closed if not row.closed("after")],
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="source folder of the one checkout")
    parser.add_argument("--after", type=Path, default=HERE.parent / "src", help="source folder of the other one")
    parser.add_argument("--library", type=Path, default=HERE.parent / "models", help="folder of the models, for both")
    parser.add_argument("--set", choices=[*SETS, "none"], default="various", help="which models (all by default)")
    parser.add_argument("--models", nargs="+", default=[], metavar="NAME", help="these models instead of a set")
    parser.add_argument("--benchmark", nargs="+", default=[], choices=GROUPS, help="groups of benchmarks/audit.py, too")
    parser.add_argument("--gap", type=float, default=1e-3, help="asked of every model (benchmarks have their own)")
    parser.add_argument("--node-limit", type=int, default=300, help="leaves that a tree may have")
    parser.add_argument("--design-seconds", type=float, default=20.0, help="of a design, on that clock; 0: no limit")
    parser.add_argument("--audit-seconds", type=float, default=0.0, help="of an audit, on that clock; 0: no limit")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--clock", choices=["counted", "cpu", "wall"], default="counted")
    parser.add_argument("--slack", type=float, default=0.01, help="by how much of its width an interval may be wider")
    parser.add_argument("--least-seconds", type=float, default=0.05, help="shorter runs give no ratio of their own")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds after which a model has no answer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there, too")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not (options.worker or options.before):
        parser.error("the following arguments are required: --before")
    return options


def main() -> int:
    options = arguments()
    if options.worker:
        worker(options.clock)
        return 0
    done = []
    for row in rows(options):
        show(row, options.slack)
        done.append(row)
    found = summary(done, options)
    print(f"\n{len(done)} compared at gap {options.gap:g}, {options.node_limit} leaves, seed {options.seed}:", end=" ")
    print(", ".join(f"{count} {verdict}" for verdict, count in found["verdicts"].items()))
    print(
        f"tolerance: {options.slack:.1%} of the width, and {ROUNDING:g} of the upper end ({options.clock} time)",
        end="; ",
    )
    print("noise of the repeats: " + ", ".join(f"{side} {noise:.1%}" for side, noise in found["noise"].items()))
    print(
        "CPU seconds: " + ", ".join(f"{side} {seconds:.1f}" for side, seconds in found["cpu seconds"].items()), end="; "
    )
    print(f"total {found['ratio of totals']:.3f}, median {found['median of ratios']:.3f} of {found['ratios of']}")
    print(f"closed before: {found['closed before']}, median {found['median of these']:.3f}", end="; ")
    print(
        "slower by a tenth: " + (", ".join(f"{n} {x:.2f}" for n, x in found["slower by a tenth"]) or "none"), end="; "
    )
    print("not closed now: " + (", ".join(found["not closed now"]) or "none"))
    print("no wider than before" if found["no wider than before"] else "WIDER THAN BEFORE")
    if options.json:
        everything = {"summary": found, "rows": [asdict(row) | {"verdict": row.verdict(options.slack)} for row in done]}
        options.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    return 0 if found["no wider than before"] else 1


if __name__ == "__main__":
    sys.exit(main())
