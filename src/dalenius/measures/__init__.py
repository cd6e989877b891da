"""Measures of a mechanism, as intervals that hold: `dalenius.measure`. Their formulas are in `dalenius.information.measures`."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
