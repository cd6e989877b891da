"""Measures of what the outputs of a finite channel reveal about its input, all with the same words.

`channel` is a row-stochastic matrix (inputs, outputs), `prior` the law of its inputs, `factor` is e^epsilon; informations are in nats.
Arrays of doubles give doubles. `dalenius.measure` evaluates the same formulas in exact numbers, and its intervals are proved.
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
