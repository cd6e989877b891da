"""A solver that knows nothing of the package's programs: the clarabel package alone, fed with a standard form."""

import clarabel
import numpy as np
from scipy.sparse import csc_matrix

from dalenius.programs import StandardForm

CONES = {
    "zero": clarabel.ZeroConeT,
    "nonnegative": clarabel.NonnegativeConeT,
    "second-order": clarabel.SecondOrderConeT,
}


def settings() -> clarabel.DefaultSettings:
    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = 1e-10
    return chosen


def solved(form: StandardForm) -> tuple[np.ndarray, np.ndarray, float]:
    """x, z and the value, from the clarabel package alone; our sign of A is the opposite of its own."""
    cones = []
    for part in form.rows:
        if part.cone == "exponential":
            cones += [clarabel.ExponentialConeT()] * (part.size // 3)
        else:
            cones.append(CONES[part.cone](part.size))
    size = form.c.size
    cost = -form.c if form.maximises else form.c
    found = clarabel.DefaultSolver(
        csc_matrix((size, size)), cost, csc_matrix(-form.A), form.b, cones, settings()
    ).solve()
    x = np.array(found.x)
    return x, np.array(found.z), form.value(x)
