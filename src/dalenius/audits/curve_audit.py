"""An audit at one entropy bound that proposes claims about the whole curve, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from dalenius._prove import Proved
from dalenius.audits.audit import LowerEnd
from dalenius.audits.curve import WholeCurve
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.evidence import Upper
from dalenius.results import Result

__all__ = ["CurveAudit"]

DENSE = 0.3  # share of the time left that witnesses at other entropy bounds may take
CLAIMS = 3  # margins that are tried with claims about the whole curve


@dataclass
class CurveAudit:
    """A proposer: the audit's ends with what the same proofs, and more witnesses, say of other entropy bounds.

    Parameters
    ----------
    audit : EntropyAudit
        Not yet run.
    curve : WholeCurve
        The audit's own.
    """

    audit: EntropyAudit
    curve: WholeCurve

    def run(self) -> None:
        """The audit; then witnesses for other entropy bounds on the record that is told most about."""
        self.audit.run()
        best = max(self.audit.records, key=lambda record: record.candidate.leakage, default=None)
        if best is not None:
            self.curve.search(best.channel, best.candidate, self.audit.clock.part(DENSE))

    def lowers(self) -> Iterator[LowerEnd]:
        """The audit's, those that were searched for with the witnesses."""
        for end in self.audit.lowers():
            yield replace(end, below=self.curve.steps(end.margin)) if end.candidate == 0 else end

    def uppers(self) -> Iterator[Upper]:
        """Some of the audit's first with its proofs' lines, then all without."""
        for end in islice(self.audit.uppers(), CLAIMS if self.audit.exposed is not None else 0):
            most = self.audit.upper if end.margin else 0.0
            proofs = [(min(record.upper, most), record.proof) for record in self.audit.records]
            above = self.curve.lines(proofs, end.margin * end.unit)
            if above and end.candidate == 0:
                yield replace(end, above=above)
            if not end.margin:  # exactly 0, or not at all
                yield end
        yield from self.audit.uppers()

    def result(self, proved: Proved[LowerEnd, Upper]) -> Result:
        """The audit's."""
        return self.audit.result(proved)
