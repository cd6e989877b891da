from dalenius.designs.claims import InfeasibleProposer as InfeasibleProposer
from dalenius.designs.exchange import ExchangeProposer as ExchangeProposer
from dalenius.designs.extreme import ExtremeProposer as ExtremeProposer
from dalenius.designs.funnel import FunnelProposer as FunnelProposer
from dalenius.designs.linear import LinearDesign as LinearDesign
from dalenius.designs.ratios import has_only_ratios as has_only_ratios
from dalenius.designs.terms import Terms as Terms
