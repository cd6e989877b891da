"""Problem 1: how much a release can teach about one record; searched from below, bounded from above."""

from dalenius.audit.capacity import capacities
from dalenius.audit.choice import audit_of
from dalenius.audit.clock import Clock, Progress
from dalenius.audit.finding import Audit, Finding
from dalenius.audit.maximal_leakage import Auditor
from dalenius.audit.prior_set import PriorSetAudit
from dalenius.audit.product_priors import ProductAudit
from dalenius.audit.search import feasible, local_maxima

__all__ = [
    "Audit",
    "Auditor",
    "Clock",
    "Finding",
    "PriorSetAudit",
    "ProductAudit",
    "Progress",
    "audit_of",
    "capacities",
    "feasible",
    "local_maxima",
]
