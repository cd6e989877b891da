"""The alternating driver that all three problems share, and the schemes that cut them into blocks."""

from dalenius.alternating.alternating_audit import AlternatingAudit
from dalenius.alternating.driver import AlternatingResult, Block, CycleWarning, Scheme, Settings, Step, alternate
from dalenius.alternating.leakage_scheme import LeakageBlock, LeakageScheme
from dalenius.alternating.mechanism_scheme import AlternatingProposer, MechanismAndPrior, MechanismScheme, alternating
from dalenius.alternation import Cycle, Sweep

__all__ = [
    "AlternatingAudit",
    "AlternatingProposer",
    "AlternatingResult",
    "Block",
    "Cycle",
    "CycleWarning",
    "LeakageBlock",
    "LeakageScheme",
    "MechanismAndPrior",
    "MechanismScheme",
    "Scheme",
    "Settings",
    "Step",
    "Sweep",
    "alternate",
    "alternating",
]
