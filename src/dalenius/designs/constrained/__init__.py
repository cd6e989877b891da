"""Designs with constraints of their own: exact regions, several adversaries, multipliers of everything."""

from dalenius.designs.constrained.exchange import ConstrainedExchange
from dalenius.designs.constrained.goals import OWN, Place
from dalenius.designs.constrained.master import constrained_master
from dalenius.designs.constrained.proposer import ConstrainedProposer
from dalenius.designs.terms import Terms

__all__ = ["OWN", "ConstrainedExchange", "ConstrainedProposer", "Place", "Terms", "constrained_master"]
