"""Which audit fits which adversary."""

from __future__ import annotations

from dalenius.audits.audit import Audit
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.prior_set import PriorSetAudit
from dalenius.audits.product_priors import ProductAudit
from dalenius.model import EntropyAtLeast, MaximalLeakage, PriorSet, ProductPriors
from dalenius.search import Run

__all__ = ["AUDITS", "audit_of"]

AUDITS: dict[str, type[Audit]] = {
    EntropyAtLeast.kind: EntropyAudit,
    ProductPriors.kind: ProductAudit,
    PriorSet.kind: PriorSetAudit,
}


def audit_of(problem: MaximalLeakage, search: Run) -> Audit:
    """The audit that fits the adversary, not yet run."""
    return AUDITS[problem.adversary.kind](problem, search)
