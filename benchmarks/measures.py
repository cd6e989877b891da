"""The measures of a random channel in doubles, processor seconds each; and all of them as intervals, `dl.measure`.

    python benchmarks/measures.py --size 1000
    python benchmarks/measures.py --size 100 --intervals

Pointwise maximal leakage and local differential privacy of 1000 x 1000 take a few milliseconds. Measures over pairs of inputs
(`pairwise_divergence`, `local_dp_delta`) are left out beyond 300 inputs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import dalenius as dl
from dalenius.information import measures as m
from dalenius.information.capacity import capacity

PAIRS = 300


def seconds(work: Callable[[], object], times: int) -> float:
    """The least processor seconds of a few runs."""
    found = []
    for _ in range(times):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--intervals", action="store_true")
    options = parser.parse_args()
    draw = np.random.default_rng(0)
    channel, prior = draw.dirichlet(np.ones(options.size), options.size), draw.dirichlet(np.ones(options.size))
    if options.intervals:
        started = time.process_time()
        last = [("start", started)]
        dl.measure(channel, prior=prior, progress=lambda name: last.append((name, time.process_time())))
        ended = time.process_time()
        for (name, begun), (_, over) in zip(last[1:], [*last[2:], ("", ended)], strict=True):
            print(f"{name:<32} {over - begun:9.4f} s")
        print(f"{'all':<32} {ended - started:9.4f} s")
        return
    works: dict[str, Callable[[], object]] = {
        name: partial(getattr(m, name), channel, prior)
        for name in (
            "pointwise_maximal_leakage",
            "mutual_information",
            "information_privacy",
            "min_entropy_leakage",
            "bayes_advantage",
            "total_variation",
            "chi_square",
            "maximal_correlation",
            "strong_kl",
        )
    }
    works |= {name: partial(getattr(m, name), channel) for name in ("local_dp", "maximal_leakage")}
    works["shannon_capacity"] = lambda: capacity(channel)
    if options.size <= PAIRS:
        works["pairwise_divergence"] = lambda: m.pairwise_divergence(channel)
        works["local_dp_delta"] = lambda: m.local_dp_delta(channel, 2.0)
    for name, work in works.items():
        print(f"{name:<32} {seconds(work, options.times):9.4f} s")


if __name__ == "__main__":
    main()
