"""Every subproblem as a DCP model with exponential cones, its answer an interval in closed form. The only room with cvxpy."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
