"""Which audit fits which adversary."""

from __future__ import annotations

import numpy as np

from dalenius.audits.entropy_at_least import Auditor
from dalenius.audits.finding import Audit
from dalenius.audits.prior_set import PriorSetAudit
from dalenius.audits.product_priors import ProductAudit
from dalenius.model import MaximalLeakage, PriorSet, ProductPriors
from dalenius.reduction import dataset_pairs, record_channels, record_selections
from dalenius.search.clock import Clock

__all__ = ["audit_of"]


def audit_of(problem: MaximalLeakage, gap: float, clock: Clock, rng: np.random.Generator) -> Audit:
    """The audit that fits the adversary."""
    match problem.adversary:
        case ProductPriors():
            return ProductAudit(record_selections(problem), problem.channel, gap, clock)
        case PriorSet(weights=priors):
            leaking = [i for i, letters in enumerate(problem.records.alphabets) if letters > 1]
            pairs = [dataset_pairs(problem, i) for i in leaking]
            return PriorSetAudit(pairs, priors, problem.channel, gap, clock)
    return Auditor(record_channels(problem), gap, clock, rng)
