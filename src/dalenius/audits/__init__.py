"""Problem 1: how much a release can teach about one record; searched from below, bounded from above."""

from dalenius.audits.ascent import feasible, local_maxima
from dalenius.audits.audit import Audit
from dalenius.audits.choice import audit_of, audit_within, need_within
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.prior_set import PriorSetAudit
from dalenius.audits.product_priors import ProductAudit

__all__ = [
    "Audit",
    "EntropyAudit",
    "PriorSetAudit",
    "ProductAudit",
    "audit_of",
    "audit_within",
    "feasible",
    "local_maxima",
    "need_within",
]
