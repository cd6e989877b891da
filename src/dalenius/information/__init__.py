"""Entropy and mutual information of arrays of probabilities, in nats; 0 log 0 = 0 is handled here and nowhere else."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
