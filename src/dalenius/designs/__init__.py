"""Problems 2 and 3: designs by exchange, and by linear programs where there is no adversary; each way is a proposer."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
