"""Theorem G1: priors with weights, and posteriors that are hints, bound a design from below; G2: so do ratios of privacy; G3:
what constraints leave is given away with multipliers; G4: limits about a secret by tangents.

Hypotheses, each a line that refuses: the mechanism is a law, in its class, and within its budget exactly (`check`); multipliers
of inequalities are not negative (`Given._multiplier`); a cone's multiplier is in its dual (`Given._cone`); a posterior has a place
wherever a letter has mass (`gains`); constraints are met exactly (`need_met`); private rows are so at the smaller end of
e^epsilon (`Private._prove`).
"""

from __future__ import annotations

from ...core.model import Model
from .design import Design, Free
from .privacy import Private
from .tables import schema

__all__ = ["design", "schema"]


def design(model: Model) -> Design | Private:
    """Subject of a design model."""
    if "privacy" in model.design:
        return Private(model)
    return Design(model) if model.held else Free(model)
