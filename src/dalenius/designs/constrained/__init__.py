"""Designs with constraints of their own: exact regions, several adversaries, multipliers of everything."""

from dalenius.designs.constrained.exchange import ConstrainedExchange
from dalenius.designs.constrained.master import constrained_master
from dalenius.designs.constrained.proposer import ConstrainedProposer

__all__ = ["ConstrainedExchange", "ConstrainedProposer", "constrained_master"]
