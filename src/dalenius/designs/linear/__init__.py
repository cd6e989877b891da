"""The least distortion of private mechanisms: a linear program, solved in doubles, then again at its vertex in rationals."""

from dalenius.designs.linear.design import LinearDesign
from dalenius.designs.linear.proposer import LinearProposer

__all__ = ["LinearDesign", "LinearProposer"]
