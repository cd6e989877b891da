"""Problems 2 and 3 to certified global optimality: priors join a convex master program until an audit closes the interval."""

from dalenius.designs.exchange.exchange import Exchange, constrained_master
from dalenius.designs.exchange.goals import OWN, Place
from dalenius.designs.exchange.proposer import ExchangeProposer
from dalenius.designs.terms import Terms

__all__ = ["OWN", "Exchange", "ExchangeProposer", "Place", "Terms", "constrained_master"]
