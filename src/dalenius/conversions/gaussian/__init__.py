"""Gaussian noise on bounded inputs: privacy profiles, capacities with a proof of optimality, and finite sets of inputs, in balls;
and the best noise on a lattice."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
