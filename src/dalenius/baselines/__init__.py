"""The source paper's Algorithms 1 to 11, and general-purpose rivals, to be compared with: feasible points, no bounds, no proofs."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
