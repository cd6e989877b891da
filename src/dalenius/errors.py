"""The one error family: everything the package raises on purpose derives from `DaleniusError`."""

from __future__ import annotations

__all__ = ["DaleniusError", "GapNotReachedError", "InputError"]


class DaleniusError(Exception):
    """Base of every error that dalenius raises on purpose."""


class InputError(DaleniusError, ValueError):
    """What the user handed in cannot be used; the message says what was expected, what came, and what to do."""


class GapNotReachedError(DaleniusError):
    """`Result.require` was asked for a narrower interval than the one that was proved."""
