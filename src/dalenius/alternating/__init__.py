"""The alternating driver that all three problems share, and the schemes that cut them into blocks."""

from dalenius.alternating.driver import AlternatingResult, Cycle, CycleWarning, Settings, Step, Sweep, alternate
from dalenius.alternating.leakage_scheme import LeakageScheme
from dalenius.alternating.mechanism_scheme import AlternatingProposer, MechanismAndPrior, MechanismScheme, alternating

__all__ = [
    "AlternatingProposer",
    "AlternatingResult",
    "Cycle",
    "CycleWarning",
    "LeakageScheme",
    "MechanismAndPrior",
    "MechanismScheme",
    "Settings",
    "Step",
    "Sweep",
    "alternate",
    "alternating",
]
