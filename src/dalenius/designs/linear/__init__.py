"""The least distortion of private mechanisms: a linear program, solved in doubles, then again at its vertex in rationals."""

from dalenius.designs.linear.proposer import LinearDesign

__all__ = ["LinearDesign"]
