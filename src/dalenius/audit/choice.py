"""Which audit fits which adversary."""

from __future__ import annotations

import numpy as np

from dalenius.audit.clock import Clock
from dalenius.audit.finding import Audit
from dalenius.audit.maximal_leakage import Auditor
from dalenius.audit.prior_set import PriorSetAudit
from dalenius.audit.product_priors import ProductAudit
from dalenius.problems import MaximalLeakage, PriorSet, ProductPriors

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
