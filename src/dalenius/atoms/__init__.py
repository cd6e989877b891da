"""Information measures and privacy limits as DCP atoms of cvxpy, for models of one's own; docs/atoms.md has the table.

Each is affine, convex or concave, and says why. All in nats. Data are numbers, or cvxpy parameters where the model is to be
solved again with other numbers. What a solver says about such a model is evidence of nothing: `dalenius.programs.certify` proves an
interval.
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
