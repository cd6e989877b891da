"""Black boxes: what samples of a release say about its leakage, with a confidence. Statistical, never a proof."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
