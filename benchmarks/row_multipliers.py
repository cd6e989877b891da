"""Multipliers of row boxes in numpy and compiled: microseconds a box, and what the bounds differ by.

    python benchmarks/row_multipliers.py

Boxes between two random points of a random channel of as many classes as outputs; CPU seconds.
"""

from __future__ import annotations

import time

import numpy as np

from dalenius.audits.bounds.compiled import row_multipliers as compiled
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.rows import RowRelaxation
from dalenius.information.secants import secant, tighten

SIZES = (3, 5, 11, 21, 41, 96)
BOXES, SECONDS, BETA = 128, 1.0, 0.2


def main() -> None:
    started = time.process_time()
    compiled(np.full((2, 2), 0.5), np.log([0.5, 0.5]), *np.zeros((3, 1, 2)), 1.0)
    print(f"loading or compiling: {time.process_time() - started:.2f} s")
    print(f"{'outputs':>8} {'numpy':>9} {'compiled':>9} {'times':>6}  difference of the bounds, mean and most")
    for size in SIZES:
        rng = np.random.default_rng(size)
        rows, log_masses = rng.dirichlet(np.full(size, 0.5), size=size), np.log(rng.dirichlet(np.ones(size)))
        law = rng.dirichlet(np.full(size, 3.0))
        ends = rng.dirichlet(np.ones(size), size=(BOXES, 2)) @ rows
        low, high = tighten(ends.min(axis=1), ends.max(axis=1), axis=1)
        slope = secant(low, high)[1]
        relaxation, found = RowRelaxation(rows, log_masses, law, BETA), []
        for find in (row_multipliers, compiled):
            rounds, started = 0, time.process_time()
            while rounds == 0 or time.process_time() - started < SECONDS:
                nu = find(rows, log_masses, slope - np.log(law), low, high, BETA)
                rounds += 1
            seconds = (time.process_time() - started) / rounds / BOXES
            found.append((1e6 * seconds, relaxation._bound(slope + nu, low, high)[0]))
        (plain, before), (fast, after) = found
        apart = np.abs(before - after)
        print(f"{size:8} {plain:9.1f} {fast:9.1f} {plain / fast:6.2f}  {apart.mean():.1e}, {apart.max():.1e}")


if __name__ == "__main__":
    main()
