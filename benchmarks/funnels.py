"""Funnels and bottlenecks of random laws beside their rivals, and what search and proof take by size.

    .venv/bin/python benchmarks/funnels.py [--laws 30] [--sizes]

Every rival is measured against the proved end. Seconds are of one run: compare them with each other.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

import dalenius as dl

SIZES = ((2, 16, 1e-4), (2, 64, 1e-4), (3, 8, 1e-3), (3, 16, 1e-3))


def drawn(rng: np.random.Generator, letters: int, inputs: int) -> list[list[Fraction]]:
    """A joint law in whole numbers, some of them much larger than others."""
    weights = rng.integers(1, 1000, size=(letters, inputs)) ** 2
    return [[Fraction(int(w), int(weights.sum())) for w in row] for row in weights]


def information(joint: list[list[Fraction]]) -> float:
    """I(S;X) in nats."""
    p = np.array(joint, dtype=float)
    return float((p * np.log(p / np.outer(p.sum(1), p.sum(0)))).sum())


def rivals(laws: int) -> None:
    """The shortfall of every rival, at least: the median and the largest over the laws."""
    rng, missed = np.random.default_rng(0), dict[tuple[str, str], list[float]]()
    for _ in range(laws):
        joint = drawn(rng, int(rng.integers(2, 4)), int(rng.integers(3, 8)))
        share = float(rng.uniform(0.1, 0.7))
        entropy = -sum(float(p) * np.log(float(p)) for p in map(sum, zip(*joint, strict=True)))
        for name, problem in (
            ("funnel", dl.PrivacyFunnel(joint, share * information(joint))),
            ("bottleneck", dl.InformationBottleneck(joint, share * entropy)),
        ):
            found = dl.compare(problem, seeds=3, budget=10.0, gap=1e-3)
            for entry in found.entries:
                missed.setdefault((name, entry.method), []).append(entry.shortfall)
    for (name, method), each in missed.items():
        print(f"{name:12} {method:16} median {np.median(each):8.2%}  largest {max(each):8.2%}  of {len(each)} laws")


def sizes() -> None:
    """Gap, seconds of search and proof together, and cells."""
    rng = np.random.default_rng(0)
    for letters, inputs, gap in SIZES:
        joint = drawn(rng, letters, inputs)
        for name, problem in (
            ("funnel", dl.PrivacyFunnel(joint, 0.3 * information(joint))),
            ("bottleneck", dl.InformationBottleneck(joint, 0.3)),
        ):
            began = time.perf_counter()
            found = dl.solve(problem, gap=gap, time_limit=60.0)
            seconds = time.perf_counter() - began
            print(f"{name:12} |S| = {letters}, |X| = {inputs:2}: gap {found.gap:.1e} in {seconds:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laws", type=int, default=30)
    parser.add_argument("--sizes", action="store_true", help="sizes only")
    options = parser.parse_args()
    if not options.sizes:
        rivals(options.laws)
    sizes()
