"""Designs: the best mechanism of a class within a budget, under privacy, or under constraints alone."""

from __future__ import annotations

from ...core.model import Model
from .design import Design, Free
from .privacy import Private


def design(model: Model) -> Design | Private:
    """What a design model asks for."""
    if "privacy" in model.design:
        return Private(model)
    return Design(model) if model.held else Free(model)
