"""Proofs that grow with their search: the checker works out what has closed, and from time to time proves all that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dalenius._prove import draft
from dalenius.audits.bounds.dual_tree import DualBound
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.proof_lines import draft_lines
from dalenius.audits.record_audit import RecordAudit, Rung
from dalenius.audits.tree_room import TreeRoom
from dalenius.evidence.upper import RecordLine
from dalenius.model import WorstCaseLeakage
from dalenius.search import Run

DUE = 1.0  # seconds of checking that may be left to the end
SOON = 0.25  # seconds of an audit before anything is proved
RARELY = 6.0  # times what the last proof took goes by before the next
AHEAD = 2.0  # times what a proof should take by which it is ahead of the one at the end, at least
NARROWER = 0.7  # times as wide as what was proved last: an interval that is worth a proof


@dataclass
class Drafts:
    """Turns of the checker during a search, whose checks keep what they know.

    Parameters
    ----------
    problem : WorstCaseLeakage
    search : Run
    room : TreeRoom
        Predicts what checking takes.
    """

    problem: WorstCaseLeakage
    search: Run
    room: TreeRoom
    _width: float = float("inf")  # of what was proved last
    _next: float = SOON
    _apart: float = 0.0  # seconds that lie between that proof and the next, the one at the end included

    @property
    def able(self) -> bool:
        """True if there are any."""
        return self.search.known is not None

    def look(self, record: RecordAudit, bound: DualBound) -> None:
        """Have what has closed in a growing dual bound worked out, if that is due."""
        closed = sum(len(tree.untold) for tree in bound.distinct if isinstance(tree, RowTree))
        if closed and self.room.checking(Rung(closed, bound.grouped, record.work)) >= DUE:
            self.work_out(record, bound)

    def work_out(self, record: RecordAudit, bound: DualBound) -> None:
        """Have what has closed in a growing dual bound worked out: from then on its trees prove their targets, and no less."""
        if self.able and any(tree.untold for tree in bound.distinct if isinstance(tree, RowTree)):
            draft(self.problem, self.search, (RecordLine(record.record), *draft_lines(record.channel, bound)))

    def prove(self, width: float, keep: Callable[[], None], stand: Callable[[], bool]) -> None:
        """Have an interval of this width proved, if that is due, once it is kept; not where nobody is handed one on the way."""
        clock, began = self.search.clock, self.search.clock.seconds
        late = clock.remaining <= max(self._apart, AHEAD * self.room.checking_now) or clock.expired
        soon = began < self._next or late or not self.search.anytime
        if soon or not self.able or width > NARROWER * self._width:
            return
        keep()
        kept, leaves = clock.seconds, self.room.checking_now
        self._width = width if stand() else self._width
        besides = max(clock.seconds - kept - leaves, 0.0)
        clock.reserve(besides - clock.reserved)  # which is measured, where it was predicted before
        self._apart = max(RARELY * (clock.seconds - began), SOON)
        self._next = clock.seconds + self._apart
