"""Shannon capacity of random square channels: `dalenius.information.capacity` against cvxpy + Clarabel, both at their defaults.

Every gap is recomputed from the input law p in one place, outside of any solver: max_x D(R_x || pR) - I(p), in nats. Machines differ:
compare ratios, not seconds. With --solve also `dl.solve` on one record whose letters are the inputs, proof included.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import dalenius as dl
from dalenius.information.capacity import capacity

Floats = NDArray[np.float64]
Method = Callable[[Floats], Floats]  # rows -> an input law


def ours(rows: Floats) -> Floats:
    return capacity(rows).input_law


def clarabel(form: str) -> Method:
    """Maximise sum_x p(x) c(x) + H(pR) over laws p, the entropy written in one of cvxpy's two ways."""

    def solve(rows: Floats) -> Floats:
        import cvxpy as cp  # not a dependency of the package

        p = cp.Variable(len(rows), nonneg=True)
        r = rows.T @ p
        entropy = cp.sum(cp.entr(r)) if form == "entr" else -cp.sum(cp.kl_div(r, np.ones(rows.shape[1])))
        negentropy = np.sum(rows * np.log(np.where(rows > 0.0, rows, 1.0)), axis=1)
        cp.Problem(cp.Maximize(negentropy @ p + entropy), [cp.sum(p) == 1]).solve(solver=cp.CLARABEL)
        return p.value

    return solve


def true_gap(rows: Floats, law: Floats) -> float:
    """What the law and its output law leave between the two bounds."""
    law = np.maximum(law, 0.0) / np.maximum(law, 0.0).sum()
    output = law @ rows
    divergences = np.sum(np.where(rows > 0.0, rows * np.log(np.where(rows > 0.0, rows, 1.0) / output), 0.0), axis=1)
    return float(divergences.max() - law @ divergences)


def timed(method: Method, rows: Floats, times: int) -> tuple[float, float]:
    """Median seconds over a few runs, and the gap."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        law = method(rows)
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds)), true_gap(rows, law)


def solved(rows: Floats) -> str:
    """Seconds and interval of an audit of one record with these rows, without an entropy bound."""
    rows = rows.round(9)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(9)
    problem = dl.WorstCaseLeakage(
        records=dl.Records(1, alphabet=len(rows)),
        query=dl.Identity(),
        mechanism=dl.Channel(rows),
        adversary=dl.EntropyAtLeast(0),
    )
    started = time.perf_counter()
    result = dl.solve(problem, gap=1e-9, time_limit=60.0)
    return f"{time.perf_counter() - started:8.2f} s, upper - lower {result.upper - result.lower:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[50, 200, 500])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--times", type=int, default=3, help="runs of each method, of which the median counts")
    parser.add_argument("--solve", action="store_true", help="also the whole audit with its proof")
    options = parser.parse_args()
    methods = {"ours": ours, "entr": clarabel("entr"), "kl_div": clarabel("kl_div")}
    ours(np.eye(2))  # imports and caches are not what is measured
    for form in ("entr", "kl_div"):
        methods[form](np.eye(2))
    print("".join(f"{name + ' s':>11}{'gap':>9}" for name in methods).rjust(72), f"{'s / best other s':>18}")
    for size in options.sizes:
        for seed in range(options.seeds):
            rows = np.random.default_rng(seed).dirichlet(np.ones(size), size=size)
            runs = {name: timed(method, rows, options.times) for name, method in methods.items()}
            ratio = runs["ours"][0] / min(runs["entr"][0], runs["kl_div"][0])
            cells = "".join(f"{seconds:11.4f}{gap:9.1e}" for seconds, gap in runs.values())
            print(f"{size:4} seed {seed}".ljust(12) + cells + f"{ratio:19.3f}", flush=True)
            if options.solve:
                print(f"{'':12}dl.solve {solved(rows)}", flush=True)


if __name__ == "__main__":
    main()
