"""Searches: limits, the clock and whom it tells, Ctrl-C, branch and bound, and the race of several trees."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
