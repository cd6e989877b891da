"""The measures of a random channel in doubles, processor seconds each; and all of them as intervals, `dl.measure`.

    python benchmarks/measures.py --size 1000
    python benchmarks/measures.py --size 100 --intervals
    python benchmarks/measures.py --rivals                  # beside qif and dit, where they are installed: equal values, in one run

Pointwise maximal leakage and local differential privacy of 1000 x 1000 take a few milliseconds. Measures over pairs of inputs
(`pairwise_divergence`, `local_dp_delta`) are left out beyond 300 inputs. Capacities have a benchmark of their own (capacity.py).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np

import dalenius as dl
from dalenius.information import measures as m
from dalenius.information.arrays import Floats
from dalenius.information.capacity import capacity

PAIRS = 300
NO_PRIOR = ("maximal_leakage", "local_dp")


def seconds(work: Callable[[], object], times: int) -> float:
    """The least processor seconds of a few runs."""
    found = []
    for _ in range(times):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def by_qif(channel: Floats, prior: Floats) -> dict[str, Callable[[], float]]:
    import qif

    guess, shannon, alike = qif.measure.bayes_vuln, qif.measure.shannon, qif.metric.discrete(qif.uint)
    return {
        "mutual_information": lambda: shannon.add_leakage(prior, channel) * math.log(2.0),
        "min_entropy_leakage": lambda: guess.min_entropy_leakage(prior, channel) * math.log(2.0),
        "bayes_advantage": lambda: guess.add_leakage(prior, channel),
        "maximal_leakage": lambda: math.log(guess.mult_capacity(channel)),
        "local_dp": lambda: qif.measure.d_privacy.smallest_epsilon(channel, alike),
    }


def by_dit(channel: Floats, prior: Floats) -> dict[str, Callable[[], float]]:
    import dit
    from dit.divergences import maximum_correlation
    from dit.other import maximal_leakage
    from dit.shannon import mutual_information

    joint = dit.Distribution(dict(np.ndenumerate(prior[:, None] * channel)))
    return {
        "mutual_information": lambda: mutual_information(joint, [0], [1]) * math.log(2.0),
        "maximal_correlation": lambda: maximum_correlation(joint, [[0], [1]]),
        "maximal_leakage": lambda: maximal_leakage(joint, [0], [1]) * math.log(2.0),
    }


def compare(channel: Floats, prior: Floats, times: int) -> None:
    """Values and seconds of everybody, turn by turn; dit at 30 inputs."""
    for name, works, size in (("qif", by_qif, len(channel)), ("dit", by_dit, min(len(channel), 30))):
        if find_spec(name) is None:
            print(f"{name} is not installed")
            continue
        rows, law = (np.ascontiguousarray(part) for part in (channel[:size, :size], prior[:size]))
        rows, law = rows / rows.sum(axis=1, keepdims=True), law / law.sum()
        for measure, rival in works(rows, law).items():
            function = getattr(m, measure)
            ours = partial(function, rows) if measure in NO_PRIOR else partial(function, rows, law)
            slow = seconds(rival, 1) > 5.0
            first, second = (min(seconds(work, 1) for _ in range(1 if slow else times)) for work in (ours, rival))
            same = "not compared" if slow else math.isclose(float(ours()), float(rival()), rel_tol=1e-7)
            line = f"{name} {size:5d} {measure:<22} ours {first:9.5f} s, {name} {second:9.5f} s"
            print(f"{line}, ratio {first / second:7.3f}, equal {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--rivals", action="store_true")
    options = parser.parse_args()
    draw = np.random.default_rng(0)
    channel, prior = draw.dirichlet(np.ones(options.size), options.size), draw.dirichlet(np.ones(options.size))
    if options.rivals:
        compare(channel, prior, options.times)
        return
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
