"""The alternating driver that all three problems share, and the schemes that cut them into blocks."""

from dalenius.alternating.driver import AlternatingResult, Cycle, CycleWarning, Settings, Step, Sweep, alternate
from dalenius.alternating.leakage_scheme import LeakageScheme
from dalenius.alternating.mechanism_scheme import Duel, MechanismScheme, alternating

__all__ = [
    "AlternatingResult",
    "Cycle",
    "CycleWarning",
    "Duel",
    "LeakageScheme",
    "MechanismScheme",
    "Settings",
    "Step",
    "Sweep",
    "alternate",
    "alternating",
]
