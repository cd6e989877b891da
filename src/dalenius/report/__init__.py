"""Pictures and tables of results, and the page that reports them."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
