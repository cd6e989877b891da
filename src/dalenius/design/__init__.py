"""Designs: the exchange that solves Problems 2 and 3, and the alternating loop that all three problems share, with its blocks."""

from dalenius.design.alternate import AlternatingResult, Cycle, CycleWarning, Settings, Step, Sweep, alternate
from dalenius.design.exchange import Exchange
from dalenius.design.leakage_scheme import LeakageScheme
from dalenius.design.mechanism_scheme import Duel, MechanismScheme, alternating

__all__ = [
    "AlternatingResult",
    "Cycle",
    "CycleWarning",
    "Duel",
    "Exchange",
    "LeakageScheme",
    "MechanismScheme",
    "Settings",
    "Step",
    "Sweep",
    "alternate",
    "alternating",
]
