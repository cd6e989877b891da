"""Problem 1: how much a release can teach about one record; searched from below, bounded from above."""

from dalenius.audit.clock import Clock, Progress
from dalenius.audit.maximal_leakage import Auditor, RecordAudit
from dalenius.audit.proofs import witness_line

__all__ = ["Auditor", "Clock", "Progress", "RecordAudit", "witness_line"]
