"""The most information: mechanisms made of the extreme rays of private columns, and the dual of the program that weighs them."""

from dalenius.designs.extreme.proposer import ExtremeProposer

__all__ = ["ExtremeProposer"]
