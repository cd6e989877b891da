"""The questions, as frozen data: records, queries, mechanisms, adversaries, distortions, laws, and the problems they make up."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
