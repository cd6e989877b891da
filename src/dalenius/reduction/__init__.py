"""Lossless reductions: from a problem to the smallest one with the same answer, and back.

Each reduction is a frozen object with `apply`, from what is given to what is left of it, and `lift`, the way back. Applying what was
lifted gives what there was; lifting spreads mass evenly, so that leakage and the largest entropy stay as they are.
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
