"""Problems 2 and 3: designs by exchange, and by linear programs where there is no adversary; each way is a proposer."""

from dalenius.designs.claims import InfeasibleProposer
from dalenius.designs.exchange import ExchangeProposer
from dalenius.designs.extreme import ExtremeProposer
from dalenius.designs.linear import LinearDesign
from dalenius.designs.ratios import RatioDesign, has_only_ratios
from dalenius.designs.terms import Terms

__all__ = [
    "ExchangeProposer",
    "ExtremeProposer",
    "InfeasibleProposer",
    "LinearDesign",
    "RatioDesign",
    "Terms",
    "has_only_ratios",
]
