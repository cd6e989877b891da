"""Who finds the multipliers of an audit's row problems: numpy at first, and what numba has compiled once loading that will have paid.

Both give the same multipliers up to rounding. The change comes after a certain amount of work, so that an audit goes the same way
whenever it is repeated; without numba (the optional extra `fast`) it never comes.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.information.arrays import Floats

__all__ = ["Multipliers", "RowSolver"]

LOADING, COMPILING = 0.5, 6.0  # seconds that it takes to load numba and what it has compiled, and to compile it
KEPT = "compiled._all_boxes*.nbi"  # what numba calls that
logger = logging.getLogger("dalenius")


class Multipliers(Protocol):
    """What `row_multipliers` does."""

    def __call__(
        self,
        rows: Floats,
        log_masses: Floats,
        base: Floats,
        low: Floats,
        high: Floats,
        beta: float,
        enough: Floats | None = None,
        /,
    ) -> Floats: ...


@dataclass
class RowSolver:
    """`row_multipliers` for one audit.

    Attributes
    ----------
    worked : float
        About the seconds that numpy has worked.
    solve : callable
        Who is at work.
    """

    worked: float = 0.0
    solve: Multipliers = row_multipliers

    def __getstate__(self) -> dict[str, object]:
        """In another process: what is sent to one is worth what loading takes."""
        return {"worked": COMPILING, "solve": row_multipliers}

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
            if self.worked > LOADING and (_kept() or self.worked > COMPILING):
                self.solve, self.worked = _compiled(), -math.inf
        return self.solve(rows, log_masses, base, low, high, beta, enough)


def _seconds(classes: int, outputs: int) -> float:
    """About what numpy takes for a box."""
    return 7e-5 + classes * outputs * (5e-7 + 1e-8 * outputs)


def _kept() -> bool:
    """Whether it was compiled before."""
    return any((Path(__file__).parent / "__pycache__").glob(KEPT))


def _compiled() -> Multipliers:
    """The compiled one, tried on a small problem; numpy's where that fails, whatever the reason: numba is picky about versions."""
    try:
        from dalenius.audits.bounds import compiled

        box = np.zeros((1, 2)), np.ones((1, 2))
        compiled.row_multipliers(np.full((2, 2), 0.5), np.log([0.5, 0.5]), np.zeros((1, 2)), *box, 1.0)
    except ImportError:
        return row_multipliers
    except Exception as error:  # noqa: BLE001
        logger.info("numba is not used: %s", error)
        return row_multipliers
    return compiled.row_multipliers
