"""Two of the three questions about an answer: why the work stopped, and what is claimed. The third, is it true, is for a checker."""

from __future__ import annotations

from enum import Enum

__all__ = ["Scope", "Termination"]


class Termination(Enum):
    """Why the work stopped. It says nothing about truth: that is what the certificate is for."""

    GAP_REACHED = "gap_reached"
    TIME_LIMIT = "time_limit"
    SIZE_LIMIT = "size_limit"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"
    INFEASIBLE = "infeasible"

    @property
    def advice(self) -> str:
        """What a caller can do."""
        return {
            Termination.GAP_REACHED: "the interval is as narrow as was asked for",
            Termination.TIME_LIMIT: "valid, but wider than asked; a longer time limit may narrow it",
            Termination.SIZE_LIMIT: "valid, but wider than asked; a larger node or memory limit may narrow it",
            Termination.INTERRUPTED: "valid; the work was stopped by the user",
            Termination.STALLED: "valid, but no bound of this version narrows it further on this instance",
            Termination.INFEASIBLE: "no mechanism of the class meets the budget; that is proved",
        }[self]


class Scope(Enum):
    """What is claimed: bounds on the optimum over *all* adversaries, of a block, or a feasible point only."""

    GLOBAL = "global"
    BLOCKWISE = "blockwise"
    FEASIBLE = "feasible"
