"""Certificates as data: typed lines, the codec that alone knows how they are written, outward numbers, and files."""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
