"""Funnels and bottlenecks of random laws beside their rivals, and what search and proof take by size.

    .venv/bin/python benchmarks/funnels.py [--laws 30] [--sizes | --curves]

Every rival is measured against the proved end. Seconds are of one run: compare them with each other.
"""

from __future__ import annotations

import argparse
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import dalenius as dl

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from privacy_funnel import TABLES, law_of, revealed

SIZES = ((2, 16, 1e-4), (2, 64, 1e-4), (3, 8, 1e-3), (3, 16, 1e-3))


def drawn(rng: np.random.Generator, letters: int, inputs: int) -> list[list[Fraction]]:
    """A joint law in whole numbers, some of them much larger than others."""
    weights = rng.integers(1, 1000, size=(letters, inputs)) ** 2
    return [[Fraction(int(w), int(weights.sum())) for w in row] for row in weights]


def rivals(laws: int) -> None:
    """The shortfall of every rival, at least: the median and the largest over the laws."""
    rng, missed = np.random.default_rng(0), dict[tuple[str, str], list[float]]()
    for _ in range(laws):
        joint = drawn(rng, int(rng.integers(2, 4)), int(rng.integers(3, 8)))
        share = float(rng.uniform(0.1, 0.7))
        entropy = -sum(float(p) * np.log(float(p)) for p in map(sum, zip(*joint, strict=True)))
        for name, problem in (
            ("funnel", dl.PrivacyFunnel(joint, share * revealed(joint))),
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
            ("funnel", dl.PrivacyFunnel(joint, 0.3 * revealed(joint))),
            ("bottleneck", dl.InformationBottleneck(joint, 0.3)),
        ):
            began = time.perf_counter()
            found = dl.solve(problem, gap=gap, time_limit=60.0)
            seconds = time.perf_counter() - began
            print(f"{name:12} |S| = {letters}, |X| = {inputs:2}: gap {found.gap:.1e} in {seconds:.1f} s")


def curves(gap: float = 0.005) -> None:
    """What a band for all limits costs, as a multiple of one solve of the same gap: processor seconds."""
    rng = np.random.default_rng(1)
    laws = {name: law_of(counts) for name, counts in TABLES.items()}
    laws |= {f"|S| = {letters}, |X| = {inputs}": drawn(rng, letters, inputs) for letters, inputs in ((2, 32), (3, 8))}
    dl.solve(dl.PrivacyFunnel([[0.5, 0], [0, 0.5]], 0.1))  # what is loaded once
    for name, joint in laws.items():
        whole = revealed(joint)
        began = time.process_time()
        for share in (0.1, 0.3, 0.6):
            dl.solve(dl.PrivacyFunnel(joint, share * whole), gap=gap)
        one, began = (time.process_time() - began) / 3.0, time.process_time()
        curve = dl.answers.FunnelCurve.of(dl.PrivacyFunnel(joint, 0.95 * whole), gap=gap)
        seconds, top = time.process_time() - began, curve.at(0.95 * whole)[1]
        widest = max(high - low for k in range(1, 31) for low, high in [curve.at(k / 31 * 0.95 * whole)]) / top
        print(
            f"{name:36} {seconds / one:.1f} solves of {one:.2f} s, {len(curve.points)} limits, band within {widest:.2%}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laws", type=int, default=30)
    parser.add_argument("--sizes", action="store_true", help="sizes only")
    parser.add_argument("--curves", action="store_true", help="curves only")
    options = parser.parse_args()
    if options.curves:
        curves()
        raise SystemExit
    if not options.sizes:
        rivals(options.laws)
    sizes()
