"""What the proposers of designs share: the unit of claims about distortions, the line that proves 0, why the work stopped."""

from __future__ import annotations

import math
from typing import TypeVar

from dalenius._prove import Proved
from dalenius.evidence import Lower, Upper
from dalenius.evidence.lines import DualLine
from dalenius.model import DesignProblem, MinLeakage
from dalenius.outcome import Termination
from dalenius.results import relative_gap

__all__ = ["NOTHING", "distortion_unit", "termination_of"]

L = TypeVar("L", bound=Lower)
U = TypeVar("U", bound=Upper)
NOTHING = (DualLine(None),)  # proves that the optimum is at least 0


def distortion_unit(problem: DesignProblem) -> float:
    """A power of 2 of the size of the largest distortion, which claims about distortions are rounded in; 1 for leakage."""
    largest = float(problem.cost.max())
    return 1.0 if isinstance(problem, MinLeakage) or not largest else math.ldexp(1.0, math.frexp(largest)[1])


def termination_of(proved: Proved[L, U], gap: float, otherwise: Termination) -> Termination:
    """Why the work stopped."""
    if relative_gap(proved.lower, proved.upper) <= gap:
        return Termination.GAP_REACHED
    if proved.doubted:
        return Termination.PROOF_REFUSED
    return otherwise if proved.limit is None or otherwise is Termination.INTERRUPTED else proved.limit
