"""The alternating driver that all three problems share, and the schemes that cut them into blocks."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
