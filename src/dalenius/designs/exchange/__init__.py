"""Problems 2 and 3 to certified global optimality: priors join a convex master program until an audit closes the interval."""

from dalenius.designs.exchange.audits import KnownPriors
from dalenius.designs.exchange.loop import Exchange
from dalenius.designs.exchange.mechanisms import Mechanisms
from dalenius.designs.exchange.proposer import ExchangeProposer

__all__ = ["Exchange", "ExchangeProposer", "KnownPriors", "Mechanisms"]
