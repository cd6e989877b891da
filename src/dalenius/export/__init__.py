"""Every program as a conic instance for other people's solvers, in several formats, and the way back (docs/export.md)."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
