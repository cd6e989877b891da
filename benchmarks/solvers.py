"""Who solves which block how fast: our own methods, Clarabel, SCS, and MOSEK where it is licensed; `make benchmarks`, or --quick.

The blocks of the exchange and of the alternating schemes, each solved cold (the model is built anew) and again with other data, then
whole problems with `dalenius.solve(..., solver=)`. Gaps are relative and evaluated in closed form, outside of any solver. Machines
differ: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import dalenius as dl
from dalenius.alternating import CycleWarning
from dalenius.programs import (
    ConditionalUpdate,
    MarginalUpdate,
    MinDistortionProgram,
    MinLeakageProgram,
    PosteriorUpdate,
    Program,
    RowUpdate,
)
from dalenius.programs.solvers import order_of

Floats = NDArray[np.float64]
Maker = Callable[[int, np.random.Generator], Program]
ASKED = {"row": 1e-3}  # relative gaps; 1e-6 of the others
MOST = {"row": 6}  # a row's tree has a box in every direction of the outputs: random rows of 10 do not close in seconds
LETTERS, PRIORS = 3, 3


def channel(size: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Rows, log(N/|X|) and a prior's masses (letters, classes)."""
    counts = rng.uniform(1.0, 10.0, size=(LETTERS, size))
    masses = counts * rng.uniform(0.2, 1.0, size=counts.shape)
    return rng.dirichlet(np.ones(size), size=size), np.log(counts / counts.sum()), masses / masses.sum()


def marginal(size: int, rng: np.random.Generator) -> Program:
    h = rng.uniform(0.0, 1.5, size=size)
    return MarginalUpdate(rng.dirichlet(np.ones(size), size=size), h, 0.9 * float(np.log(np.exp(h).sum())))


def posterior(size: int, rng: np.random.Generator) -> Program:
    rows, log_counts, _ = channel(size, rng)
    return PosteriorUpdate(rows, log_counts, rng.dirichlet(np.ones(LETTERS), size=size).T, -0.3)


def conditional(size: int, rng: np.random.Generator) -> Program:
    rows, log_counts, p = channel(size, rng)
    return ConditionalUpdate(rows, log_counts, p.sum(axis=1), p / p.sum(axis=1, keepdims=True), -0.3)


def row(size: int, rng: np.random.Generator) -> Program:
    rows, log_counts, p = channel(size, rng)
    return RowUpdate(rows, log_counts, 0, p.sum(axis=1), p / p.sum(axis=1, keepdims=True), -0.3)


def update(size: int, rng: np.random.Generator) -> tuple[list[Floats], Floats]:
    """Priors (letters, inputs), and the cost of a random distortion."""
    priors = [rng.dirichlet(np.full(LETTERS * size, 0.1)).reshape(LETTERS, size) for _ in range(PRIORS)]
    return priors, rng.dirichlet(np.ones(size))[:, None] * rng.random((size, size))


def min_leakage(size: int, rng: np.random.Generator) -> Program:
    priors, cost = update(size, rng)
    low, high = float(cost.min(axis=1).sum()), float(cost.sum(axis=0).min())
    return MinLeakageProgram(priors, cost, 0.8 * low + 0.2 * high)


def min_distortion(size: int, rng: np.random.Generator) -> Program:
    priors, cost = update(size, rng)
    return MinDistortionProgram(priors, cost, 0.1)


BLOCKS: dict[str, Maker] = {
    "marginal": marginal,
    "posterior": posterior,
    "conditional": conditional,
    "row": row,
    "min_leakage": min_leakage,
    "min_distortion": min_distortion,
}


def solvers() -> Iterator[str]:
    """Those of `dalenius.solve` that are there."""
    for name in ("own", "clarabel", "scs", "mosek"):
        try:
            order_of(name)
        except dl.errors.InputError as error:
            print(f"without {name}: {error}")
        else:
            yield name


def blocks(names: list[str], options: argparse.Namespace) -> None:
    print(f"{'block':16}{'size':>5}{'solver':>10}{'median s':>10}{'most s':>9}{'closed':>8}{'worst gap':>11}")
    for block, maker in BLOCKS.items():
        asked = ASKED.get(block, 1e-6)
        for size in sorted({min(size, MOST.get(block, size)) for size in options.sizes}):
            for solver in names:
                seconds, gaps = [], []
                for seed in range(options.draws):
                    program = maker(size, np.random.default_rng(seed))
                    started = time.process_time()
                    answer = program.solve(solver=solver, gap=asked, time_limit=options.limit)
                    seconds.append(time.process_time() - started)
                    gaps.append(answer.gap / max(abs(answer.lower), abs(answer.upper), 1e-9))
                closed = f"{sum(gap <= asked + 1e-9 for gap in gaps)}/{len(gaps)}"
                cells = f"{np.median(seconds):10.4f}{max(seconds):9.3f}{closed:>8}{max(gaps):11.1e}"
                print(f"{block:16}{size:5}{solver:>10}{cells}", flush=True)


COUNT = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "adversary": dl.EntropyAtLeast("0.5 max")}
WHOLE: dict[str, tuple[dl.problems.Problem, str | None]] = {
    "least leakage": (dl.MinLeakage(distortion=dl.Absolute(), max_distortion="0.5", **COUNT), None),
    "least distortion": (dl.MinDistortion(distortion=dl.Absolute(), max_leakage="0.2 nats", **COUNT), None),
    "alternating audit": (dl.WorstCaseLeakage(mechanism=dl.geometric(1.0, range=3), **COUNT), "alternating"),
    "alternating design": (dl.MinLeakage(distortion=dl.Absolute(), max_distortion="0.5", **COUNT), "alternating"),
}


def whole(names: list[str], options: argparse.Namespace) -> None:
    print(f"\n{'problem':20}{'solver':>10}{'seconds':>9}  interval; who solved what")
    for name, (problem, method) in WHOLE.items():
        for solver in ["auto", *names]:
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CycleWarning)
                result = dl.solve(problem, method=method, solver=solver, gap=1e-3, time_limit=options.limit)
            uses = "; ".join(map(str, result.solvers))
            print(f"{name:20}{solver:>10}{time.process_time() - started:9.2f}  {result}; {uses}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, a few instances: half a minute")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds a solve may take")
    options = parser.parse_args()
    options.sizes, options.draws = ((4, 6), 2) if options.quick else ((4, 10, 20), 5)
    names = list(solvers())
    blocks(names, options)
    whole(names, options)


if __name__ == "__main__":
    main()
