"""Learned sanitizers, audited: never proved, and held against a converse that is.

`converse` and `TwoGaussians` need nothing more than the package; what is learned (`sanitize`) needs the extra `torch`.
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
