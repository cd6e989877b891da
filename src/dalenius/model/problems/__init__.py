"""The problems: an audit of a mechanism that is there, and the designs; each resolved to what an audit or a design needs."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
