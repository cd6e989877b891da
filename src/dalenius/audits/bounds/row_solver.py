"""Who finds the multipliers of an audit's row problems: numpy at first, and what numba has compiled once loading that will have paid.

Both give the same multipliers up to rounding. The change comes after a certain amount of work, so that an audit goes the same way
whenever it is repeated; without numba (the optional extra `fast`) it never comes.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.search.alarm import ended_with

LOADING, COMPILING = 0.5, 6.0  # seconds that it takes to load numba and what it has compiled, and to compile it
AT_ONCE = 0.1  # seconds of work between two looks at the clock
KEPT = "compiled._all_boxes*.nbi"  # what numba calls that
logger = logging.getLogger("dalenius")


# What `row_multipliers` does, of its arguments in their order.
Multipliers: TypeAlias = Callable[[Floats, Floats, Floats, Floats, Floats, float, Floats | None], Floats]


@dataclass
class RowSolver:
    """`row_multipliers` for one audit.

    Attributes
    ----------
    worked : float
        About the seconds that numpy has worked.
    solve : callable
        Who is at work.
    clock : Deadline or None
        Boxes that it leaves no time for have no multipliers, which are as valid as any.
    """

    worked: float = 0.0
    solve: Multipliers = row_multipliers
    clock: Deadline | None = None

    def __getstate__(self) -> dict[str, object]:
        """In another process: what is sent to one is worth what loading takes."""
        return {"worked": COMPILING, "solve": row_multipliers, "clock": None}

    def __call__(
        self,
        rows: Floats,
        log_masses: Floats,
        base: Floats,
        low: Floats,
        high: Floats,
        beta: float,
        enough: Floats | None = None,
    ) -> Floats:
        if self.solve is row_multipliers:
            self.worked += len(base) * _seconds(*rows.shape)
            if self.worked > LOADING:
                self._change()
        nu = np.zeros_like(base)
        some = max(1, int(AT_ONCE / _seconds(*rows.shape)))
        for first in range(0, len(base), some):
            if first and self.clock is not None and self.clock.expired:
                break
            part = slice(first, first + some)
            masses = log_masses if log_masses.ndim == 1 else log_masses[part]
            wanted = None if enough is None else enough[part]
            nu[part] = self.solve(rows, masses, base[part], low[part], high[part], beta, wanted)
        return nu

    def _change(self) -> None:
        """Compiled multipliers from now on, if what that takes will have paid, and there is time for it."""
        needed = LOADING if _kept() else COMPILING
        if self.worked > needed and (self.clock is None or self.clock.remaining > needed):
            self.solve, self.worked = _compiled(self.clock), -math.inf


def _seconds(classes: int, outputs: int) -> float:
    """About what numpy takes for a box."""
    return 7e-5 + classes * outputs * (5e-7 + 1e-8 * outputs)


def _kept() -> bool:
    """Whether it was compiled before."""
    return any((Path(__file__).parent / "__pycache__").glob(KEPT))


def _compiled(clock: Deadline | None) -> Multipliers:
    """The compiled one, tried on a small problem; numpy's where that fails, whatever the reason: numba is picky about versions, and
    it may take longer than there is.
    """
    try:
        with ended_with(clock) if clock is not None else nullcontext():
            from dalenius.audits.bounds import compiled

            box = np.zeros((1, 2)), np.ones((1, 2))
            compiled.row_multipliers(np.full((2, 2), 0.5), np.log([0.5, 0.5]), np.zeros((1, 2)), *box, 1.0)
    except ImportError:
        return row_multipliers
    except Exception as error:  # noqa: BLE001
        logger.info("numba is not used: %s", error)
        return row_multipliers
    return compiled.row_multipliers
