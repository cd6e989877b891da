"""Chains of two letters, as `markov_chain` and as `finite_chain`: the interval each comes to within a time limit, and its boxes.

A count with discrete Laplace noise, epsilon 0.5, both transition probabilities in [0.2, 0.4], the record in the middle.
"""

from __future__ import annotations

import argparse

import dalenius as dl
from dalenius.intervals import interval_text

RANGE, REST = (0.2, 0.4), (0.6, 0.8)


def adversaries(start: str, record: int) -> tuple[dl.adversaries.Adversary, dl.adversaries.Adversary]:
    """The same chains, said twice."""
    return (
        dl.MarkovChain(RANGE, RANGE, start=start, record=record),
        dl.FiniteChain([[REST, RANGE], [RANGE, REST]], start=start, record=record),
    )


def cell(count: int, adversary: dl.adversaries.Adversary, gap: float, seconds: float) -> str:
    found = dl.solve(
        dl.WorstCaseLeakage(
            records=dl.Records(count, alphabet=2),
            query=dl.Count(),
            mechanism=dl.discrete_laplace(0.5),
            adversary=adversary,
        ),
        gap=gap,
        time_limit=seconds,
    ).to("bits")
    boxes = sum(proof.leaves for proof in found.records)
    return f"{interval_text(found.lower, found.upper, places=4)}, {boxes}{'' if found.gap <= gap else ', open'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gap", type=float, default=1e-2)
    parser.add_argument("--seconds", type=float, default=15.0, help="limit of each solve")
    parser.add_argument("counts", nargs="*", type=int, default=[3, 5, 10, 20, 40])
    args = parser.parse_args()
    print("| start | n | `markov_chain` | `finite_chain` |\n|---|---|---|---|")
    for start in ("stationary", "any"):
        for count in args.counts:
            both = (cell(count, each, args.gap, args.seconds) for each in adversaries(start, count // 2))
            print(f"| {start} | {count} | {' | '.join(both)} |", flush=True)


if __name__ == "__main__":
    main()
