"""What a design minimises besides its own leakage or distortion: terms, and how they are combined."""

from dalenius.model.objectives.base import Term
from dalenius.model.objectives.combined import (
    OBJECTIVES,
    TERMS,
    Objective,
    WeightedMaximum,
    WeightedSum,
    read_objective,
)
from dalenius.model.objectives.distortion import DistortionTerm
from dalenius.model.objectives.leakage import LeakageTerm

__all__ = [
    "OBJECTIVES",
    "TERMS",
    "DistortionTerm",
    "LeakageTerm",
    "Objective",
    "Term",
    "WeightedMaximum",
    "WeightedSum",
    "read_objective",
]
