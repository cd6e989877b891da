"""The answers: an interval, what it measures and what proves it, why the work stopped, and what is claimed."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
