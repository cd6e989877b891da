"""How to cite the package: what CITATION.cff says, for pages that have no file beside them."""

from __future__ import annotations

from dalenius.version import __version__

__all__ = ["AUTHORS", "PAPER", "TITLE", "citation"]

AUTHORS = "The dalenius developers"
TITLE = "dalenius: certified information leakage of privacy mechanisms"
PAPER = (
    "Computing Maximal Per-Record Leakage and Leakage-Distortion Functions for Privacy Mechanisms under "
    "Entropy-Constrained Adversaries"
)


def citation() -> str:
    """The package and its release, in one line."""
    return f"{AUTHORS}. {TITLE}, version {__version__}."
