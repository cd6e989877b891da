"""How long rivals need to come within 1e-3 of the certified optimum, over restarts, beside our time to a certified gap of 1e-3.

Rivals: the source paper's Algorithms 1 to 5 on the full joint law of the datasets and on the aggregated problem, and scipy's SLSQP
on the aggregated problem. A rival never knows whether it has arrived; only the certified interval tells. `never` says that no start
came so near within the budget, and by how much the best one falls short. Everything of a row is measured in one run; our seconds
include the proof. Machines differ: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

import dalenius as dl
from dalenius.compare import METHODS, Entry, methods_for

Instance = tuple[str, dl.MaximalLeakage]
GAP = 1e-3


def oblivious(n: int, alphabet: int, query: dl.Query, mechanism: dl.Mechanism, bound: str) -> dl.MaximalLeakage:
    return dl.MaximalLeakage(
        records=dl.Records(n, alphabet=alphabet), query=query, mechanism=mechanism, adversary=dl.EntropyAtLeast(bound)
    )


def paper() -> Iterator[Instance]:
    """Table 3: parity of four bits, Laplace noise, epsilon 1."""
    for bound in ("0.5 nats", "1 nats", "1.5 nats", "2 nats", "2.6 nats"):
        yield f"table 3, b={bound}", oblivious(4, 2, dl.Parity(), dl.laplace_threshold(1.0), bound)


def parity() -> Iterator[Instance]:
    for n in (4, 6, 8, 10):
        for share in ("0.5 max", "0.95 max"):
            yield f"parity n={n} b={share}", oblivious(n, 2, dl.Parity(), dl.symmetric(2, 0.1), share)


def modular() -> Iterator[Instance]:
    for m, n in ((3, 3), (4, 3), (3, 5)):
        for share in ("0.7 max", "0.9 max"):
            yield f"modular sum m={m} n={n} b={share}", oblivious(n, m, dl.ModularSum(m), dl.symmetric(m, 0.2), share)


def count() -> Iterator[Instance]:
    for n in (4, 6, 8):
        for share in ("0.5 max", "0.8 max", "0.95 max"):
            yield f"bit count n={n} b={share}", oblivious(n, 2, dl.Count(), dl.geometric(n, 0.5), share)


def random() -> Iterator[Instance]:
    """Full channels of two records, rows from a Dirichlet law, rounded to six decimals."""
    for letters, classes, outputs in ((2, 8, 4), (3, 6, 3), (4, 4, 3)):
        rows = np.random.default_rng(0).dirichlet(np.full(outputs, 0.6), size=letters * classes).round(6)
        rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
        for share in ("0.5 max", "0.9 max"):
            problem = dl.MaximalLeakage(
                records=dl.Records(alphabets=[letters, classes]),
                mechanism=dl.Channel(rows, inputs="dataset"),
                adversary=dl.EntropyAtLeast(share),
            )
            yield f"random {letters}x{classes}x{outputs} b={share}", problem


GROUPS = {"paper": paper, "parity": parity, "modular": modular, "count": count, "random": random}


def cell(entry: Entry) -> str:
    """Seconds, or never and by how much the best start falls short."""
    return f"never ({entry.shortfall:.1%})" if entry.reached is None else f"{entry.reached:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="which groups (all by default)")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for each method")
    parser.add_argument("--starts", type=int, default=8, help="starts of each rival: the uniform one, then random ones")
    parser.add_argument("--quick", action="store_true", help="every third instance, 3 seconds, 4 starts")
    options = parser.parse_args()
    budget, starts = (3.0, 4) if options.quick else (options.budget, options.starts)
    rivals = list(METHODS)[1:]
    print(
        f"seconds to within {GAP:g}, at most {starts} starts and {budget:g} s a method; (%): what the best start falls short"
    )
    print(f"{'instance':32} {'lower':>10} {'upper':>10} {'certified':>10}  " + "  ".join(f"{r:>16}" for r in rivals)
          + "  uniform start alone, full joint")  # fmt: skip
    for group in options.groups or GROUPS:
        for name, problem in list(GROUPS[group]())[:: 3 if options.quick else 1]:
            found = dl.compare(problem, methods=methods_for(problem), seeds=starts, budget=budget, gap=GAP)
            cells = {entry.method: entry for entry in found.entries}
            ours = cells["certified"].reached
            first = max(1.0 - cells["paper-full"].first / found.lower, 0.0) if "paper-full" in cells else None
            print(
                f"{name:32} {found.lower:10.6f} {found.upper:10.6f} {'never' if ours is None else format(ours, '.2f'):>10}  "
                + "  ".join(f"{cell(cells[r]) if r in cells else '-':>16}" for r in rivals)
                + ("" if first is None else f"  {first:.1%} short"),
                flush=True,
            )


if __name__ == "__main__":
    main()
