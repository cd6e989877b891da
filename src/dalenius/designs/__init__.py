"""Problems 2 and 3: designs by exchange, and by linear programs where there is no adversary; each way is a proposer."""

from dalenius.designs.claims import InfeasibleProposer
from dalenius.designs.constrained import ExchangeProposer
from dalenius.designs.extreme import ExtremeProposer
from dalenius.designs.linear import LinearProposer
from dalenius.designs.ratios import RatioProposer, has_only_ratios
from dalenius.designs.terms import Terms

__all__ = [
    "ExchangeProposer",
    "ExtremeProposer",
    "InfeasibleProposer",
    "LinearProposer",
    "RatioProposer",
    "Terms",
    "has_only_ratios",
]
