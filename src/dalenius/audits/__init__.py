"""Problem 1: how much a release can teach about one record; searched from below, bounded from above."""

from dalenius.audits.ascent import Candidate, feasible, local_maxima, search
from dalenius.audits.audit import Audit
from dalenius.audits.choice import audit_of, audit_within, need_within
from dalenius.audits.curve import WholeCurve
from dalenius.audits.entropy_at_least import CurveAudit, EntropyAudit
from dalenius.audits.record_audit import RecordAudit, checkpoint_of, letters_bound

__all__ = [
    "Audit",
    "Candidate",
    "CurveAudit",
    "EntropyAudit",
    "RecordAudit",
    "WholeCurve",
    "audit_of",
    "audit_within",
    "checkpoint_of",
    "feasible",
    "letters_bound",
    "local_maxima",
    "need_within",
    "search",
]
