"""The alternating loop that all three problems share, and its blocks."""

from dalenius.design.alternate import AlternatingResult, Cycle, CycleWarning, Settings, Step, Sweep, alternate
from dalenius.design.leakage_scheme import LeakageScheme

__all__ = ["AlternatingResult", "Cycle", "CycleWarning", "LeakageScheme", "Settings", "Step", "Sweep", "alternate"]
