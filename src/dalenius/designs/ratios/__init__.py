"""The least distortion under limits of ratios alone, of many inputs: a sparse linear program, and repairs column by column."""

from dalenius.designs.ratios.program import has_only_ratios
from dalenius.designs.ratios.proposer import RatioDesign

__all__ = ["RatioDesign", "has_only_ratios"]
