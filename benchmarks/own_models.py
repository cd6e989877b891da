"""What certifying a model of one's own takes, and how narrow the interval becomes (docs/own-models.md has the table).

Least mutual information between inputs and outputs, with a distortion budget, a cap of the distortion of each input, and ratios of at
most e^2 between the rows of neighbouring inputs; the output law is a variable.

    python benchmarks/own_models.py [--sizes 8 20 40]
"""

from __future__ import annotations

import argparse
import time

import cvxpy as cp
import numpy as np

from dalenius.programs import certify, conic_form


def model(size: int) -> cp.Problem:
    """So many inputs and outputs."""
    law = np.random.default_rng(0).dirichlet(np.full(size, 3.0))
    rows, output = cp.Variable((size, size), nonneg=True, name="Q"), cp.Variable(size, name="output")
    distortion = abs(np.subtract.outer(np.arange(size), np.arange(size))) / size
    joint = cp.multiply(law[:, None], rows)
    product = cp.multiply(law[:, None], np.ones((size, 1)) @ cp.reshape(output, (1, size), order="C"))
    constraints = [output == law @ rows, cp.sum(rows, axis=1) == 1, cp.sum(cp.multiply(joint, distortion)) <= 0.12]
    constraints += [cp.sum(cp.multiply(rows, distortion), axis=1) <= 0.2]
    constraints += [rows[1:] <= np.exp(2.0) * rows[:-1], rows[:-1] <= np.exp(2.0) * rows[1:]]
    return cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(joint, product))), constraints)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 20, 40])
    print(
        f"{'inputs x outputs':>16} {'columns':>8} {'solver s':>9} {'all s':>7} {'lower .. upper':>32} {'gap':>9} {'file kB':>8}"
    )
    for size in parser.parse_args().sizes:
        problem = model(size)
        columns = conic_form(problem).c.size
        started = time.process_time()
        found = certify(problem, solver="CLARABEL")
        seconds = time.process_time() - started
        solving = sum(made.seconds for made in found.attempts)
        interval = " .. ".join(found.ends)
        print(
            f"{size:>8} x {size:<5} {columns:>8} {solving:>9.2f} {seconds:>7.2f} {interval:>32} {found.gap:>9.1e} "
            f"{len(found.proof) / 1000:>8.0f}"
        )


if __name__ == "__main__":
    main()
