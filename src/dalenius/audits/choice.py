"""Which audit fits which adversary."""

from __future__ import annotations

import numpy as np

from dalenius.audits.entropy_at_least import Auditor
from dalenius.audits.finding import Audit
from dalenius.audits.prior_set import PriorSetAudit
from dalenius.audits.product_priors import ProductAudit
from dalenius.model import MaximalLeakage, PriorSet, ProductPriors
from dalenius.search.clock import Clock

__all__ = ["audit_of"]


def audit_of(problem: MaximalLeakage, gap: float, clock: Clock, rng: np.random.Generator) -> Audit:
    """The audit that fits the adversary."""
    match problem.adversary:
        case ProductPriors():
            return ProductAudit(problem.selections(), problem.channel, gap, clock)
        case PriorSet(weights=priors):
            inputs = problem.inputs_of_datasets()
            return PriorSetAudit(problem.records.alphabets, priors, inputs, problem.channel, gap, clock)
    return Auditor(problem.record_channels(), gap, clock, rng)
