"""How far and how fast the audit closes on the instances people study: `make benchmarks`, or with names of groups.

Each row is a claim the checker proved in the same run; seconds include that check. Machines differ: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

import dalenius as dl

Instance = tuple[str, dl.WorstCaseLeakage, float, float]  # name, problem, gap asked for, time limit in seconds


def oblivious(
    n: int, alphabet: int, query: dl.queries.Query, mechanism: dl.mechanisms.Mechanism, bound: str
) -> dl.WorstCaseLeakage:
    return dl.WorstCaseLeakage(
        records=dl.Records(n, alphabet=alphabet),
        query=query,
        mechanism=mechanism,
        adversary=dl.EntropyAtLeast(bound, "nats"),
    )


def parity() -> Iterator[Instance]:
    for n in (4, 1000):
        for flip in (0.01, 0.1, 0.303):
            for bound in ("0.5 max", "0.8 max", "0.95 max", f"{n - 0.5} bits"):
                yield (
                    f"parity n={n} flip={flip} b={bound}",
                    oblivious(n, 2, dl.Parity(), dl.symmetric(flip, k=2), bound),
                    1e-6,
                    2.0,
                )


def modular() -> Iterator[Instance]:
    for m, n, gap, limit in (
        (3, 3, 1e-4, 10.0),
        (3, 1000, 1e-4, 10.0),
        (4, 3, 1e-4, 30.0),
        (5, 3, 1e-3, 60.0),
        (8, 3, 1e-3, 120.0),
        (16, 3, 1e-3, 120.0),
    ):
        for flip in (0.2, 0.6):
            for share in (0.7, 0.8, 0.9, 0.97):
                problem = oblivious(n, m, dl.ModularSum(m), dl.symmetric(flip, k=m), f"{share} max")
                yield f"modular sum m={m} n={n} flip={flip} b={share} max", problem, gap, limit


def count() -> Iterator[Instance]:
    for n, gap, limit in ((6, 1e-3, 60.0), (10, 1e-2, 120.0), (50, 1e-3, 120.0), (200, 1e-3, 120.0)):
        for epsilon in (1.0, 0.3):
            for share in (0.5, 0.8, 0.95):
                problem = oblivious(n, 2, dl.Count(), dl.geometric(epsilon, range=n), f"{share} max")
                yield f"bit count n={n} epsilon={epsilon} b={share} max", problem, gap, limit


def random() -> Iterator[Instance]:
    """Full channels of two records: `letters` and `classes` letters, rows from a Dirichlet law, rounded to six decimals."""
    for letters, classes, outputs in ((2, 8, 4), (3, 6, 3), (4, 4, 3), (2, 10, 6)):
        for seed in range(3):
            rows = np.random.default_rng(seed).dirichlet(np.full(outputs, 0.6), size=letters * classes).round(6)
            rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
            for share in (0.5, 0.7, 0.9):
                problem = dl.WorstCaseLeakage(
                    records=dl.Records(alphabets=[letters, classes]),
                    mechanism=dl.Channel(rows, inputs="dataset"),
                    adversary=dl.EntropyAtLeast(f"{share} max"),
                )
                yield f"random {letters}x{classes}x{outputs} seed={seed} b={share} max", problem, 1e-3, 60.0


def capacity() -> Iterator[Instance]:
    """One record and any prior: Shannon capacity, to nine digits (benchmarks/capacity.py compares with a conic solver)."""
    for size in (50, 200, 500):
        rows = np.random.default_rng(size).dirichlet(np.ones(size), size=size).round(9)
        rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(9)
        problem = dl.WorstCaseLeakage(
            records=dl.Records(1, alphabet=size), mechanism=dl.Channel(rows, inputs="dataset"), adversary=dl.AnyPrior()
        )
        yield f"capacity {size}x{size}", problem, 1e-9, 60.0


def real() -> Iterator[Instance]:
    """Counts of many people, and sums near full entropy: what textbook sizes leave out."""
    for n, epsilon, share, gap, limit in (
        (10, "0.3", "0.5", 1e-3, 30.0),
        (10, "0.3", "0.8", 1e-3, 30.0),
        (10, "0.3", "0.95", 1e-3, 30.0),
        (10, "1", "0.5", 1e-3, 30.0),
        (10, "1", "0.8", 1e-3, 30.0),
        (10, "1", "0.95", 1e-3, 30.0),
        (20, "0.3", "0.95", 1e-3, 20.0),
        (50, "0.3", "0.99", 5e-3, 60.0),
        (50, "0.3", "0.95", 3e-2, 60.0),
        (100, "0.1", "0.98", 5e-3, 30.0),
        (200, "0.02", "0.95", 2e-3, 10.0),
        (1000, "0.01", "0.995", 1e-2, 60.0),
    ):
        problem = oblivious(n, 2, dl.Count(), dl.geometric(epsilon, range=n), f"{share} max")
        yield f"bit count n={n} epsilon={epsilon} b={share} max", problem, gap, limit
    for m, flip, share, gap, limit in (
        (3, "0.6", "0.97", 1e-4, 10.0),
        (4, "0.6", "0.97", 1e-3, 60.0),
        (8, "0.2", "0.7", 1e-3, 30.0),
        (8, "0.2", "0.8", 1e-3, 30.0),
        (8, "0.2", "0.9", 1e-3, 30.0),
        (16, "0.2", "0.8", 2e-3, 60.0),
    ):
        problem = oblivious(3, m, dl.ModularSum(m), dl.symmetric(flip, k=m), f"{share} max")
        yield f"modular sum m={m} n=3 flip={flip} b={share} max", problem, gap, limit


GROUPS = {"parity": parity, "modular": modular, "count": count, "real": real, "random": random, "capacity": capacity}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="which groups (all by default)")
    options = parser.parse_args()
    print(
        f"{'instance':48} {'lower':>12} {'upper':>12} {'gap':>8} {'asked':>8} {'s':>6} {'cpu s':>6} {'leaves':>7}  proofs"
    )
    for group in options.groups or GROUPS:
        for name, problem, gap, limit in GROUPS[group]():
            started, before = time.perf_counter(), time.process_time()
            result = dl.solve(problem, gap=gap, time_limit=limit)
            seconds, processor = time.perf_counter() - started, time.process_time() - before
            leaves = sum(proof.leaves for proof in result.records)
            methods = ",".join(sorted({proof.method for proof in result.records}))
            mark = " " if result.gap <= gap else "*"
            ends = f"{result.lower:12.8f} {result.upper:12.8f} {result.gap:8.1e}{mark}{gap:8.0e}"
            print(
                f"{name:48} {ends} {seconds:6.1f} {processor:6.1f} {leaves:7}  {methods}",
                flush=True,
            )


if __name__ == "__main__":
    main()
