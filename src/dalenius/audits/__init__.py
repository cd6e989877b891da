"""Problem 1: how much a release can teach about one record; searched from below, bounded from above."""

from dalenius.audits.ascent import Candidate, feasible, local_maxima, search
from dalenius.audits.audit import Audit
from dalenius.audits.choice import audit_of, audit_within, need_within
from dalenius.audits.curve import WholeCurve
from dalenius.audits.entropy_at_least import CurveAudit, EntropyAudit
from dalenius.audits.law_classes import ClassAudit
from dalenius.audits.listed import PriorSetAudit
from dalenius.audits.record_audit import RecordAudit, checkpoint_of, letters_bound
from dalenius.audits.secrets import SecretAudit, secret_audit_of
from dalenius.audits.selections import ProductAudit

__all__ = [
    "Audit",
    "Candidate",
    "ClassAudit",
    "CurveAudit",
    "EntropyAudit",
    "PriorSetAudit",
    "ProductAudit",
    "RecordAudit",
    "SecretAudit",
    "WholeCurve",
    "audit_of",
    "audit_within",
    "checkpoint_of",
    "feasible",
    "letters_bound",
    "local_maxima",
    "need_within",
    "search",
    "secret_audit_of",
]
