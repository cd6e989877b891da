"""Proofs that grow with their search: the checker works out the leaves that have closed, and finds them again in the proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dalenius._prove import draft
from dalenius.audits.bounds.dual_tree import DualBound
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.proof_lines import draft_lines
from dalenius.audits.record_audit import RecordAudit, Rung
from dalenius.evidence.upper import RecordLine
from dalenius.model import WorstCaseLeakage
from dalenius.search import Run

DUE = 1.0  # seconds of checking that may be left to the end


@dataclass(frozen=True)
class Drafts:
    """Turns of the checker during a search.

    Parameters
    ----------
    problem : WorstCaseLeakage
    search : Run
        Whose checks keep what they know: not those by several processes.
    checking : callable
        Seconds that checking leaves takes, predicted.
    """

    problem: WorstCaseLeakage
    search: Run
    checking: Callable[[Rung], float]

    def look(self, record: RecordAudit, bound: DualBound) -> None:
        """Have what has closed in a growing dual bound worked out, if that is due."""
        closed = sum(len(tree.untold) for tree in bound.distinct if isinstance(tree, RowTree))
        due = closed and self.checking(Rung(closed, bound.grouped, record.work)) >= DUE
        if due and self.search.known is not None and self.search.jobs == 1:
            draft(self.problem, self.search, (RecordLine(record.record), *draft_lines(record.channel, bound)))
