"""How long rivals need to come within 1e-3 of the certified optimum, over restarts, beside our time to a certified gap of 1e-3.

Rivals of audits: the source paper's Algorithms 1 to 5 on the full joint law of the datasets and on the aggregated problem, scipy's
SLSQP and trust-constr on the aggregated problem, cvxpy's nonlinear mode with UNO on both, SCIP and MAiNGO on the aggregated one (if
installed). Of designs: its Algorithms 6 to 11, SLSQP, projected subgradients, descent and ascent, convex programs by turns.
A rival never knows whether it has arrived, a global one believes it; only the certified interval tells. `never` says that no start
came so near within the budget, and by how much the best one falls short; `-` that the instance is too large. Everything of a row is
measured in one run; our seconds include the proof. Machines differ: compare ratios, not seconds. With --starts-table N also what N
random starts of the paper's ascent reach on its example.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import dalenius as dl
from dalenius.baselines import ConditionalSettings, LeakageSettings, full_joint, leakage_run
from dalenius.search.clock import Clock
from dalenius.studies.compare import CERTIFIED, MethodOutcome
from dalenius.studies.contest import METHODS

Instance = tuple[str, dl.WorstCaseLeakage]
GAP = 1e-3
ROWS = {"fresh": "as the text has it", "warm": "where they are"}
STEPS = {  # of 0.01 of a probability, with a tolerance to match, and our default
    "short": LeakageSettings(tolerance=1e-3, conditional=ConditionalSettings(step=0.08, tolerance=1e-3)),
    "long": LeakageSettings(),
}


def oblivious(
    n: int, alphabet: int, query: dl.queries.Query, mechanism: dl.mechanisms.Mechanism, bound: str
) -> dl.WorstCaseLeakage:
    return dl.WorstCaseLeakage(
        records=dl.Records(n, alphabet=alphabet),
        query=query,
        mechanism=mechanism,
        adversary=dl.EntropyAtLeast(bound, "nats"),
    )


def paper() -> Iterator[Instance]:
    """Table 3: parity of four bits, Laplace noise, epsilon 1."""
    for bound in ("0.5 nats", "1 nats", "1.5 nats", "2 nats", "2.6 nats"):
        yield f"table 3, b={bound}", oblivious(4, 2, dl.Parity(), dl.laplace_threshold(1.0), bound)


def parity() -> Iterator[Instance]:
    for n in (4, 8, 12, 16, 20):
        for share in ("0.5 max", "0.95 max"):
            yield f"parity n={n} b={share}", oblivious(n, 2, dl.Parity(), dl.symmetric(0.1, k=2), share)


def modular() -> Iterator[Instance]:
    for m, n in ((3, 4), (3, 8), (3, 12), (3, 20), (4, 3), (4, 6), (5, 3), (5, 6), (5, 20)):
        yield f"modular sum m={m} n={n} b=0.9 max", oblivious(n, m, dl.ModularSum(m), dl.symmetric(0.2, k=m), "0.9 max")


def count() -> Iterator[Instance]:
    for n in (4, 6, 8, 10):
        for share in ("0.5 max", "0.8 max", "0.95 max"):
            yield f"bit count n={n} b={share}", oblivious(n, 2, dl.Count(), dl.geometric(0.5, range=n), share)


def letters() -> Iterator[Instance]:
    """The sum of three records, alphabets of three to five letters."""
    for m in (3, 4, 5):
        yield f"sum m={m} n=3 b=0.8 max", oblivious(3, m, dl.Sum(), dl.geometric(0.5), "0.8 max")


def random() -> Iterator[Instance]:
    """Full channels of two records, rows from a Dirichlet law, rounded to six decimals."""
    for letters, classes, outputs in ((2, 8, 4), (3, 6, 3), (4, 4, 3), (5, 4, 4)):
        rows = np.random.default_rng(0).dirichlet(np.full(outputs, 0.6), size=letters * classes).round(6)
        rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
        for share in ("0.5 max", "0.9 max"):
            problem = dl.WorstCaseLeakage(
                records=dl.Records(alphabets=[letters, classes]),
                mechanism=dl.Channel(rows, inputs="dataset"),
                adversary=dl.EntropyAtLeast(share, "nats"),
            )
            yield f"random {letters}x{classes}x{outputs} b={share}", problem


def designs() -> Iterator[tuple[str, dl.problems.DesignProblem]]:
    """Least leakage and least distortion of five queries."""
    for name, n, letters, query, distortion, share, budgets in (
        ("count n=4", 4, 2, "count", "absolute", "0.75 max", (0.5, "0.12 nats")),
        ("modular sum 2 of 5", 2, 5, "modular_sum 5", "hamming", "0.8 max", (0.3, "0.2 nats")),
        ("modular sum 4 of 3", 4, 3, "modular_sum 3", "hamming", "0.85 max", (0.2, "0.1 nats")),
        ("sum 2 of 4", 2, 4, "sum", "squared", "0.8 max", (0.8, "0.25 nats")),
        ("threshold n=6", 6, 2, "threshold 3", "hamming", "0.65 max", (0.2, "0.08 nats")),
    ):
        given = {"records": dl.Records(n, alphabet=letters), "query": query, "distortion": distortion, "law": "uniform"}
        adversary = dl.EntropyAtLeast(share, "nats")
        yield f"{name}, least leakage", dl.MinLeakage(**given, adversary=adversary, max_distortion=budgets[0])
        yield f"{name}, least distortion", dl.MinDistortion(**given, adversary=adversary, max_leakage=budgets[1])


GROUPS = {
    "paper": paper,
    "parity": parity,
    "modular": modular,
    "count": count,
    "letters": letters,
    "random": random,
    "designs": designs,
}


def cell(entry: MethodOutcome) -> str:
    """Seconds, or never and by how much the best start falls short."""
    return f"never ({entry.shortfall:.1%})" if entry.reached is None else f"{entry.reached:.2f}"


def row(name: str, found: dl.answers.Comparison) -> str:
    """One instance: our seconds, the rivals', and what the paper's own start alone comes to."""
    entries = {entry.method: entry for entry in found.entries}
    own_start = "-"
    if "paper-full" in entries:
        first, near = entries["paper-full"].first, found.lower if found.maximises else found.upper
        short = max(1.0 - (first / near if found.maximises else near / first), 0.0)
        own_start = "arrives" if short <= GAP else f"{short:.1%} short"
    ours = entries[CERTIFIED].reached
    gap = (found.upper - found.lower) / found.upper
    cells = [f"never ({gap:.1%} wide)" if ours is None else f"{ours:.2f}"]
    cells += [cell(entries[method]) if method in entries else "-" for method in METHODS if method != CERTIFIED]
    return f"| {name:32} | {found.lower:.6f} | " + " | ".join(f"{text:>14}" for text in [*cells, own_start]) + " |"


def starts_table(number: int, seconds: float) -> None:
    """The paper's example on the full joint law: its uniform start, and random ones, by the length of steps and where rows begin."""
    print(
        "| b | certified | rows begin | steps | uniform start | random starts: least | median | best | within 1e-3 | s a start |"
    )
    for bound in (1.0, 1.5, 2.0):
        problem = oblivious(4, 2, dl.Parity(), dl.laplace_threshold(1.0), f"{bound} nats")
        result, family = dl.solve(problem, gap=GAP), full_joint(problem)
        for (rows, first), (steps, settings) in itertools.product(ROWS.items(), STEPS.items()):
            chosen = replace(settings, conditional=replace(settings.conditional, rows=rows))
            uniform = leakage_run(family, settings=chosen).value
            started, values = time.perf_counter(), []
            for seed in range(1, number + 1):
                rng = np.random.default_rng(seed)
                run = leakage_run(family, family.random(rng), settings=chosen, rng=rng, clock=Clock(seconds))
                values.append(run.value)
            each = (time.perf_counter() - started) / number
            if max(uniform, *values) > result.upper + 1e-12:
                raise SystemExit("a start ends above the certified upper bound: one of the two is wrong")
            near = int(np.sum(np.array(values) >= result.lower * (1.0 - GAP)))
            print(
                f"| {bound} | {result.lower:.7f} | {first} | {steps} | {uniform:.7f} | {min(values):.7f} | {np.median(values):.7f} | "
                f"{max(values):.7f} | {near} of {number} | {each:.2f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="which groups (all by default)")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for each method")
    parser.add_argument("--starts", type=int, default=8, help="starts of each rival: the uniform one, then random ones")
    parser.add_argument("--quick", action="store_true", help="every fifth instance, 3 seconds, 4 starts")
    parser.add_argument("--starts-table", type=int, metavar="N", help="first, N random starts on the paper's example")
    options = parser.parse_args()
    budget, number = (3.0, 4) if options.quick else (options.budget, options.starts)
    if options.starts_table:
        starts_table(options.starts_table, budget)
    print(
        f"seconds to within {GAP:g}, at most {number} starts and {budget:g} s a method; (%): what the best start falls short"
    )
    print("| instance | lower | " + " | ".join(METHODS) + " | uniform start alone, paper-full |")
    for group in options.groups or GROUPS:
        for name, problem in list(GROUPS[group]())[:: 5 if options.quick else 1]:
            print(row(name, dl.compare(problem, seeds=number, budget=budget, gap=GAP)), flush=True)


if __name__ == "__main__":
    main()
