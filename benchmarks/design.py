"""How far and how fast designs close: `make benchmarks`, or with names of groups; --quick for the small instances.

Each row is a claim the checker proved in the same run; seconds include that check. Machines differ: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import dalenius as dl
import dalenius.designs  # with the modelling language, which takes a second to import

Instance = tuple[str, dl.problems.DesignProblem, float, float]  # name, problem, gap asked for, time limit in seconds


Named = tuple[str, dl.problems.DesignProblem]


def least_leakage(n: int, size: int, query: dl.queries.Query, budget: float, bound: str, **more: Any) -> Named:
    return f"D={budget} b={bound}", dl.MinLeakage(
        records=dl.Records(n, alphabet=size),
        query=query,
        max_distortion=budget,
        adversary=dl.EntropyAtLeast(bound, "nats"),
        **{"distortion": dl.Hamming(), **more},
    )


def least_distortion(n: int, size: int, query: dl.queries.Query, budget: float, bound: str, **more: Any) -> Named:
    return f"L={budget} b={bound}", dl.MinDistortion(
        records=dl.Records(n, alphabet=size),
        query=query,
        max_leakage=f"{budget} nats",
        adversary=dl.EntropyAtLeast(bound, "nats"),
        **{"distortion": dl.Hamming(), **more},
    )


def squares(n: int, letters: int, modulus: int) -> dl.Table:
    """The sum of squares modulo a number, for every dataset."""
    datasets = itertools.product(range(letters), repeat=n)
    return dl.Table([sum(x * x for x in dataset) % modulus for dataset in datasets])


def parity() -> Iterator[Instance]:
    for n in (4, 1000):
        for bound in ("0.5 max", *(["0.97 max"] if n == 4 else []), f"{n - 0.95} bits"):
            leakage = 0.05 if bound == "0.97 max" else 0.3
            for name, problem in (
                least_leakage(n, 2, dl.Parity(), 0.1, bound),
                least_leakage(n, 2, dl.Parity(), 0.3, bound),
                least_distortion(n, 2, dl.Parity(), leakage, bound),
            ):
                yield f"parity n={n} {name}", problem, 1e-6, 5.0


def modular() -> Iterator[Instance]:
    for m, leakage in ((3, 0.19), (4, 0.3), (5, 0.39)):
        for name, problem in (
            least_leakage(3, m, dl.ModularSum(m), 0.3, "0.8 max"),
            least_distortion(3, m, dl.ModularSum(m), leakage, "0.8 max"),
        ):
            yield f"modular sum m={m} n=3 {name}", problem, 1e-4, 30.0


def count() -> Iterator[Instance]:
    for bound, leakage, gap, limit in (("0.5 max", 0.254, 1e-3, 60.0), ("0.9 max", 0.1, 2e-3, 120.0)):
        for name, problem in (
            least_leakage(6, 2, dl.Count(), 0.5, bound, distortion=dl.Absolute()),
            least_distortion(6, 2, dl.Count(), leakage, bound, distortion=dl.Absolute()),
        ):
            yield f"bit count n=6 {name}", problem, gap, limit


def full() -> Iterator[Instance]:
    for bound, leakage in (("0.5 max", 0.45), ("0.8 max", 0.25)):
        for name, problem in (
            least_leakage(3, 4, squares(3, 4, 4), 0.3, bound, mechanism="full"),
            least_distortion(3, 4, squares(3, 4, 4), leakage, bound, mechanism="full"),
        ):
            yield f"squares mod 4, full {name}", problem, 1e-2, 120.0


def real() -> Iterator[Instance]:
    """Counts of more people, and squares near full entropy: what textbook sizes leave out."""
    for name, problem, gap in (
        ("bit count n=6", least_leakage(6, 2, dl.Count(), 0.5, "0.9 max", distortion=dl.Absolute()), 1e-3),
        ("bit count n=6", least_distortion(6, 2, dl.Count(), 0.1, "0.9 max", distortion=dl.Absolute()), 1e-3),
        ("squares mod 4, full", least_leakage(3, 4, squares(3, 4, 4), 0.3, "0.8 max", mechanism="full"), 1e-3),
        ("squares mod 4, full", least_distortion(3, 4, squares(3, 4, 4), 0.25, "0.8 max", mechanism="full"), 1e-3),
        ("bit count n=20", least_leakage(20, 2, dl.Count(), 1, "0.9 max", distortion=dl.Absolute()), 2e-2),
    ):
        yield f"{name} {problem[0]}", problem[1], gap, 60.0


def linear() -> Iterator[Instance]:
    """Under a privacy notion: absolute distortion, a random law of one record."""
    for size in (20, 50, 100, 200):
        weights = np.random.default_rng(size).integers(1, 1000, size).tolist()
        law = dl.Iid([Fraction(weight, sum(weights)) for weight in weights])
        for privacy in (dl.LocalDP("log 2"), dl.PointwiseMaximalLeakage("log 2")):
            yield f"{size} x {size} {privacy.kind}", dl.MinDistortion(
                records=dl.Records(1, alphabet=size), query=dl.Identity(), distortion=dl.Absolute(), law=law, privacy=privacy
            ), 1e-9, 300.0  # fmt: skip


GROUPS = {"parity": parity, "modular": modular, "count": count, "full": full, "real": real, "linear": linear}
QUICK = ("parity", "modular")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="which groups (all by default)")
    parser.add_argument("--quick", action="store_true", help="parities and modular sums, with a looser gap")
    options = parser.parse_args()
    print(
        f"{'instance':46} {'lower':>12} {'upper':>12} {'gap':>8} {'asked':>8} {'s':>6} {'rounds':>6} {'lines':>7} {'at most':>11}"
    )
    for group in options.groups or (QUICK if options.quick else GROUPS):
        for name, problem, gap, limit in GROUPS[group]():
            asked = max(gap, 1e-3) if options.quick else gap
            started = time.perf_counter()
            result = dl.solve(problem, gap=asked, time_limit=limit)
            seconds = time.perf_counter() - started
            mark = " " if result.gap <= asked else "*"
            told = float("nan") if result.leakage is None else result.leakage[1]
            print(
                f"{name:46} {result.lower:12.8f} {result.upper:12.8f} {result.gap:8.1e}{mark}{asked:8.0e} {seconds:6.1f} "
                f"{result.rounds:6} {result.certificate.lines:7} {told:11.8f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
