"""What the programs cost: growing sizes, rate-distortion against plain cvxpy, two forms of one model; `make benchmarks`, or --quick.

Every gap is relative and evaluated in closed form, outside of any solver. Machines differ: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from dalenius.atoms import expected_distortion, leakage
from dalenius.programs import (
    BlockSolution,
    MarginalUpdate,
    MinDistortionProgram,
    MinLeakageProgram,
    NodeRelaxation,
    PosteriorUpdate,
    Program,
)

Floats = NDArray[np.float64]
Instance = tuple[Program, Callable[[], None]]  # and what sets other data
GAP = 1e-8
LETTERS = 2  # of the programs on (letter, class)


def marginal(size: int, rng: np.random.Generator) -> Instance:
    """`size` letters and outputs."""
    rows, h = rng.dirichlet(np.ones(size), size=size), rng.uniform(0.0, 1.5, size=size)
    b = 0.9 * float(np.log(np.exp(h).sum()))
    program = MarginalUpdate(rows, h, b)
    return program, lambda: program.set(rng.dirichlet(np.ones(size), size=size), h, b)


def posterior(size: int, rng: np.random.Generator) -> Instance:
    """Two letters, `size` classes and outputs."""
    rows, log_counts = channel(size, rng)

    def phi() -> Floats:
        return rng.dirichlet(np.ones(LETTERS), size=size).T

    program = PosteriorUpdate(rows, log_counts, phi(), -0.3)
    return program, lambda: program.set(phi(), -0.3)


def node(size: int, rng: np.random.Generator) -> Instance:
    """The same channel, in a box of posteriors."""
    rows, log_counts = channel(size, rng)
    u = np.exp(log_counts) @ rows
    centre = u / u.sum(axis=0)

    def box(width: float) -> tuple[Floats, Floats]:
        return np.maximum(centre - width, 0.0), np.minimum(centre + width, 1.0)

    program = NodeRelaxation(rows, log_counts, -0.3, posterior=box(0.2))
    return program, lambda: program.set(-0.3, posterior=box(0.15))


def min_leakage(size: int, rng: np.random.Generator) -> Instance:
    """Rate-distortion with `size` inputs and outputs."""
    law, distortion = rng.dirichlet(np.ones(size)), rng.random((size, size))
    cost = law[:, None] * distortion
    program = MinLeakageProgram([np.diag(law)], cost, budget(cost, 0.5))
    return program, lambda: program.set(budget(cost, 0.4))


def min_distortion(size: int, rng: np.random.Generator) -> Instance:
    law, distortion = rng.dirichlet(np.ones(size)), rng.random((size, size))
    program = MinDistortionProgram([np.diag(law)], law[:, None] * distortion, 0.25 * np.log(size))
    return program, lambda: program.set(0.2 * np.log(size))


MAKERS = {
    "marginal": marginal,
    "posterior": posterior,
    "node": node,
    "min_leakage": min_leakage,
    "min_distortion": min_distortion,
}


def channel(size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rows, and log(N/|X|) of two letters."""
    counts = rng.uniform(1.0, 10.0, size=(LETTERS, size))
    return rng.dirichlet(np.ones(size), size=size), np.log(counts / counts.sum())


def budget(cost: Floats, share: float) -> float:
    """Between the least distortion of any mechanism and that of a constant one."""
    low, high = float(cost.min(axis=1).sum()), float(cost.sum(axis=0).min())
    return low + share * (high - low)


def built(program: Program) -> str:
    """Variables, exponential cones and nonzeros of the conic problem."""
    data = program.problem.get_problem_data(cp.CLARABEL)[0]
    return f"{data['A'].shape[1]:8}{data['dims'].exp:8}{data['A'].nnz:9}"


def relative(answer: BlockSolution) -> float:
    return answer.gap / max(abs(answer.lower), abs(answer.upper), 1e-9)


def sizes(options: argparse.Namespace) -> None:
    print(
        f"{'program':16}{'size':>5}{'columns':>8}{'cones':>8}{'nonzeros':>9}{'first s':>9}{'again s':>9}{'ratio':>7}{'gap':>9}"
    )
    for name, maker in MAKERS.items():
        for size in options.sizes:
            program, change = maker(size, np.random.default_rng(size))
            dimensions, found = built(maker(size, np.random.default_rng(size))[0]), []
            for _ in range(2):
                started = time.perf_counter()
                answer = program.solve(gap=GAP, time_limit=options.limit)
                found.append((time.perf_counter() - started, relative(answer)))
                change()
            (first, gap), (again, gap_again) = found
            print(
                f"{name:16}{size:5}{dimensions}{first:9.3f}{again:9.3f}{again / first:7.2f}{max(gap, gap_again):9.1e}",
                flush=True,
            )


def rate_distortion(size: int, seed: int) -> tuple[Floats, Floats, float]:
    """A source, a cost and a budget; Hamming distortion for even seeds, random for odd ones."""
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.ones(size))
    cost = law[:, None] * (rng.random((size, size)) if seed % 2 else 1.0 - np.eye(size))
    return law, cost, budget(cost, rng.uniform(0.2, 0.8))


def plain(law: Floats, cost: Floats, most: float) -> tuple[str, Floats | None, float]:
    """Rate-distortion as one writes it in cvxpy, with Clarabel's defaults: status, mechanism and the multiplier of the budget."""
    q, r = cp.Variable(cost.shape, nonneg=True), cp.Variable(cost.shape[1], nonneg=True)
    p = law[:, None]
    told = cp.sum(cp.rel_entr(cp.multiply(p, q), p @ cp.reshape(r, (1, r.size), order="C")))
    spent = cp.sum(cp.multiply(cost, q)) <= most
    problem = cp.Problem(cp.Minimize(told), [cp.sum(q, axis=1) == 1, r == law @ q, spent])
    said = status(problem)
    return said, q.value, 0.0 if spent.dual_value is None else float(spent.dual_value)


def judged(program: MinLeakageProgram, mechanism: Floats | None, nu: float, lower: float) -> tuple[float, float]:
    """Relative to what the mechanism reveals once it is feasible: its distance from a certified lower end, and from the bound that its
    own posteriors prove with the best multiplier near nu."""
    point = None if mechanism is None else program.repair({"q": mechanism})
    if point is None:
        return np.inf, np.inf
    value, ratios = program.value(point), program.leakages.log_ratios(program.mechanism(point))
    proof = program.searched({"weights": np.ones(1), "nu": np.array(nu), "log_ratio": ratios})
    return (value - lower) / value, (value - program.bound(proof)) / value


def duel(options: argparse.Namespace) -> None:
    size, count = options.duel
    print(f"\n{'rate-distortion':22}{'plain s':>9}{'error':>9}{'gap':>9}{'ours s':>9}{'gap':>9}  plain says")
    runs: list[tuple[float, ...]] = []
    for seed in range(count):
        law, cost, most = rate_distortion(size, seed)
        started = time.perf_counter()
        said, mechanism, nu = plain(law, cost, most)
        middle = time.perf_counter()
        program = MinLeakageProgram([np.diag(law)], cost, most)
        answer = program.solve(gap=GAP, time_limit=options.limit)
        ended = time.perf_counter()
        error, gap = judged(program, mechanism, nu, answer.lower)
        runs.append((middle - started, error, gap, ended - middle, relative(answer)))
        name = f"{size} {'random' if seed % 2 else 'Hamming'} seed {seed}"
        cells = "{:9.2f}{:9.1e}{:9.1e}{:9.2f}{:9.1e}".format(*runs[-1])
        print(f"{name:22}{cells}  {said}", flush=True)
    plain_s, errors, gaps, ours_s, ours = np.array(runs).T
    far, wide, left = (int(np.sum(x > GAP + 1e-10)) for x in (errors, gaps, ours))
    print(
        f"of {count}: plain is farther than {GAP:.0e} from the optimum in {far}, cannot prove {GAP:.0e} in {wide}; ours in {left}"
    )
    print(
        f"seconds, median and most: plain {np.median(plain_s):.2f} {max(plain_s):.2f}, ours {np.median(ours_s):.2f} {max(ours_s):.2f}"
    )


def forms(options: argparse.Namespace) -> None:
    """`leakage` with the output law as a function of the mechanism, and as a variable of its own."""
    print(f"\n{'output law':12}{'size':>5}{'joint s':>9}{'own s':>9}{'joint / own':>13}  they say")
    for size in options.forms:
        law, cost, most = rate_distortion(size, 1)
        seconds, said = [], []
        for own in (False, True):
            q, r = cp.Variable(cost.shape, nonneg=True), cp.Variable(size, nonneg=True)
            told = leakage(q, np.diag(law), output_law=r if own else None)
            spent = expected_distortion(q, law, cost / law[:, None]) <= most
            problem = cp.Problem(cp.Minimize(told), [cp.sum(q, axis=1) == 1, spent] + ([cp.sum(r) == 1] if own else []))
            started = time.perf_counter()
            said.append(status(problem))
            seconds.append(time.perf_counter() - started)
        cells = f"{seconds[0]:9.2f}{seconds[1]:9.2f}{seconds[0] / seconds[1]:13.1f}"
        print(f"{'':12}{size:5}{cells}  {said[0]}, {said[1]}", flush=True)


def status(problem: cp.Problem) -> str:
    """What Clarabel says at its defaults."""
    try:
        problem.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return "solver error"
    return str(problem.status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, a few instances: half a minute")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a program may take")
    options = parser.parse_args()
    options.sizes = (4, 10, 20) if options.quick else (4, 10, 20, 50, 100)
    options.duel = (30, 4) if options.quick else (100, 20)
    options.forms = (20,) if options.quick else (20, 50, 100)
    warnings.filterwarnings("ignore", message=".*inaccurate.*")
    sizes(options)
    duel(options)
    forms(options)


if __name__ == "__main__":
    main()
