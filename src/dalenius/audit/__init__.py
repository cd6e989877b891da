"""Problem 1: how much a release can teach about one record; searched from below, bounded from above."""

from dalenius.audit.clock import Clock, Progress
from dalenius.audit.maximal_leakage import Auditor, RecordAudit

__all__ = ["Auditor", "Clock", "Progress", "RecordAudit"]
